package main

import (
	"context"
	"os"
	"path/filepath"
)

// writePlayground writes the page that runs podverdict in a browser, for podverdict playground. It is built before: that takes Node.js.
// Files that brotli has compressed are for web servers, and would double the archive.
func (r *release) writePlayground(context.Context) error {
	if r.playground == "" {
		return nil
	}
	entries, err := os.ReadDir(r.playground) // in the order of their names
	if err != nil {
		return err
	}
	var members []member
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".br" {
			members = append(members, member{entry.Name(), filepath.Join(r.playground, entry.Name()), 0o644})
		}
	}
	return r.writeArchive(r.file("podverdict-playground_%s.zip", r.version), members)
}
