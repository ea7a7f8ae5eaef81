package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"go.yaml.in/yaml/v3"
)

// writeChart packs the chart, with its own version and, where a registry has it, with the image of this release. Registries get the same
// file as an artifact, as helm push makes it.
func (r *release) writeChart(ctx context.Context) error {
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
	var archive bytes.Buffer
	if err := writeTar(&archive, members, r.time); err != nil {
		return err
	}
	if err := write(r.file("podverdict-%s.tgz", r.version), archive.Bytes()); err != nil {
		return err
	}
	pushed, err := r.chartArtifact(archive.Bytes())
	if err != nil {
		return err
	}
	_, err = r.store(ctx, "charts/podverdict", r.version, pushed)
	return err
}

// chartArtifact returns what a registry stores for the chart: the fields of Chart.yaml are its configuration.
func (r *release) chartArtifact(archive []byte) (v1.Image, error) {
	text, err := os.ReadFile(filepath.Join(r.work, "Chart.yaml"))
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := yaml.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	configuration, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return newArtifact(v1.Manifest{
		Config: v1.Descriptor{MediaType: "application/vnd.cncf.helm.config.v1+json"},
		Annotations: map[string]string{
			"org.opencontainers.image.title": cli, "org.opencontainers.image.version": r.version, "org.opencontainers.image.source": home,
			"org.opencontainers.image.created": r.time.UTC().Format(time.RFC3339), "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}, configuration, static.NewLayer(archive, "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
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
