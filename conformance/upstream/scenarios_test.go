package upstream

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScenariosHaveSources: the files that scenarios name are in Kubernetes, and write what is quoted from them.
func TestScenariosHaveSources(t *testing.T) {
	const module = "k8s.io/kubernetes"
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	var known map[string][]struct {
		Module, File string
		Words        []string
	}
	data, err := os.ReadFile("../../internal/kube/scenarios/testdata/sources.json")
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, sources := range known {
		for _, source := range sources {
			if source.Module != module {
				continue // a container runtime, which this module does not link
			}
			if files[source.File] == "" {
				data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), filepath.FromSlash(source.File)))
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				files[source.File] = string(data)
			}
			for _, words := range source.Words {
				if !strings.Contains(files[source.File], words) {
					t.Errorf("%s: %q is not in %s", name, words, source.File)
				}
			}
		}
	}
	if len(files) < 20 {
		t.Errorf("%d files", len(files))
	}
}
