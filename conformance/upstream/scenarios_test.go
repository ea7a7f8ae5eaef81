package upstream

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/internal/scenarios"
)

// TestScenariosHaveSources: the files that scenarios name are in Kubernetes, and write what is quoted from them.
func TestScenariosHaveSources(t *testing.T) {
	const module = "k8s.io/kubernetes"
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for i := range scenarios.All {
		s := &scenarios.All[i]
		for _, source := range s.Sources {
			if source.Module != module {
				continue // a container runtime, which this module does not link
			}
			if files[source.File] == "" {
				data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), filepath.FromSlash(source.File)))
				if err != nil {
					t.Errorf("%s: %v", s.Name, err)
					continue
				}
				files[source.File] = string(data)
			}
			for _, words := range source.Words {
				if !strings.Contains(files[source.File], words) {
					t.Errorf("%s: %q is not in %s", s.Name, words, source.File)
				}
			}
		}
	}
	if len(files) < 20 {
		t.Errorf("%d files", len(files))
	}
}
