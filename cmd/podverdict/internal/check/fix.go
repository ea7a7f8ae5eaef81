package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// repaired is a file with its repairs.
type repaired struct {
	file         string
	before, text string
	done         int // number of repairs made
	left         []leftFinding
}

// repair computes the repairs of all files that have repairable findings. It does not write files.
func (g *gate) repair(ctx context.Context, found found) ([]repaired, error) {
	if g.suggest && !g.inspector.choice.asks(catalogue.Guardrails) {
		g.console.Note("suggestions are for findings of guardrails, which are off: add --only guardrails, or turn some on in " + manifest.SettingsFile)
	}
	var all []repaired
	for _, file := range g.repairable(found.subjects) {
		text, err := os.ReadFile(file)
		if err != nil || !utf8.Valid(text) {
			g.console.Note(file + ": not repaired: it is no file of plain text")
			continue
		}
		r, err := g.repairText(ctx, string(text))
		if err != nil {
			return nil, cli.ErrorIn(file, err)
		}
		r.file = file
		all = append(all, r)
	}
	return all, nil
}

// repairable returns the files with repairable findings, in input order.
func (g *gate) repairable(subjects []findings.Subject) []string {
	var files []string
	seen := map[string]bool{}
	for _, s := range subjects {
		for _, f := range s.Findings {
			canRepair := repairs[f.Check] != nil || g.suggest && suggestions[f.Check] != nil
			if canRepair && !seen[s.File] {
				seen[s.File] = true
				files = append(files, s.File)
			}
		}
	}
	return files
}

// printRepairs writes the repairs as a diff. It returns ErrFindings if the diff is not empty.
func (g *gate) printRepairs(all []repaired) error {
	files := 0
	for _, r := range all {
		text := r.diff()
		fmt.Fprint(g.console.Stdout, text)
		if text != "" {
			files++
		}
	}
	g.noteRepairs(all, "can be made")
	if files > 0 {
		return cli.ErrFindings
	}
	return nil
}

// diff returns the changes in the format of patch and git apply, or "" if nothing changes. An absolute path loses its leading slash, as
// in git: patch -p1 -d / applies the diff.
func (r repaired) diff() string {
	name := strings.TrimPrefix(filepath.ToSlash(r.file), "/")
	return string(diff.Diff("a/"+name, []byte(r.before), "b/"+name, []byte(r.text)))
}

// writeRepairs writes the repaired files. It joins the errors of files that cannot be written.
func (g *gate) writeRepairs(all []repaired) error {
	var made []repaired
	var errs []error
	for _, r := range all {
		if r.done > 0 {
			if err := cli.WriteFile(r.file, []byte(r.text)); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		made = append(made, r)
	}
	g.noteRepairs(made, "made")
	return errors.Join(errs...)
}

// noteRepairs prints the number of repairs, and why some repairable findings remain.
func (g *gate) noteRepairs(all []repaired, what string) {
	n, files := 0, 0
	for _, r := range all {
		for _, l := range r.left {
			g.console.Note(fmt.Sprintf("%s:%d:%d: %s is not repaired: %v", r.file, l.At.Line, l.At.Column, l.Check, l.reason))
		}
		if n += r.done; r.done > 0 {
			files++
		}
	}
	g.console.Note(fmt.Sprintf("%s %s in %s", print.Plural(n, "repair"), what, print.Plural(files, "file")))
}
