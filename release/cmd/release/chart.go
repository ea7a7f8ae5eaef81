package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// writeChart packs the chart, with its own version and, where a registry has it, with the image of this release.
func (r *release) writeChart(context.Context) error {
	source := filepath.Join(r.source, "charts", "podverdict")
	ignored, err := os.ReadFile(filepath.Join(source, ".helmignore"))
	if err != nil {
		return err
	}
	members, err := chartMembers(source, "", strings.Fields(string(withoutComments(ignored))))
	if err != nil {
		return err
	}
	for n, m := range members {
		changed, err := r.chartFile(m.name, m.path)
		if err != nil {
			return err
		}
		members[n] = member{"podverdict/" + m.name, changed, 0o644}
	}
	return create(r.file("podverdict-%s.tgz", r.version), func(out io.Writer) error { return writeTar(out, members, r.time) })
}

// chartMembers returns the files of a folder of the chart, in the order that Helm wants: Chart.yaml is the first.
func chartMembers(source, folder string, ignored []string) (members []member, err error) {
	entries, err := os.ReadDir(filepath.Join(source, filepath.FromSlash(folder)))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if slices.ContainsFunc(ignored, func(pattern string) bool { return ignores(pattern, name) }) {
			continue
		}
		file := filepath.Join(source, filepath.FromSlash(name))
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			members = append(members, member{name, file, 0o644})
			continue
		}
		below, err := chartMembers(source, name, ignored)
		if err != nil {
			return nil, err
		}
		members = append(members, below...)
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(path.Dir(a.name), path.Dir(b.name)) })
	return members, nil
}

// ignores reports whether a line of .helmignore is about a file or folder.
func ignores(pattern, name string) bool {
	matched, _ := path.Match(strings.TrimSuffix(pattern, "/"), name) // Helm refuses a pattern that is not well formed
	return matched
}

func withoutComments(text []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("#")) {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}

// chartFile returns where the content of a file is: Chart.yaml and values.yaml are changed.
func (r *release) chartFile(name, file string) (string, error) {
	changes := map[string][]string{
		"Chart.yaml": {"version", r.version, "appVersion", r.version},
	}[name]
	if name == "values.yaml" && r.push {
		changes = []string{"image", fmt.Sprintf("%s/%s@%s", r.images, controller, r.digest)}
	}
	if len(changes) == 0 {
		return file, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for n := 0; n < len(changes); n += 2 {
		text, err = setLine(text, changes[n], changes[n+1])
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	changed := filepath.Join(r.work, name)
	return changed, write(changed, text)
}

// setLine replaces the value of a field at the top level of YAML.
func setLine(text []byte, field, value string) ([]byte, error) {
	lines := strings.SplitAfter(string(text), "\n")
	for n, line := range lines {
		if strings.HasPrefix(line, field+":") {
			lines[n] = fmt.Sprintf("%s: %q\n", field, value)
			return []byte(strings.Join(lines, "")), nil
		}
	}
	return nil, fmt.Errorf("there is no field %s", field)
}
