package upstream

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPage tests that the commands in docs/upstream.md refer to tests in this repository, and that the functions that it
// names are in Kubernetes and in JobSet.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/upstream.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    go (?:-C (\S+) )?test (?:-tags cluster )?(\S+) -run '(\w+)(?:/(\S+?))?\$?'$`).FindAllStringSubmatch(string(data), -1)
	for _, c := range commands {
		folder := filepath.Join("..", "..", c[1], c[2])
		if !hasFunction(t, filepath.Join(folder, "*_test.go"), c[3]) {
			t.Errorf("%s: no such test", c[0])
		}
		name := strings.TrimPrefix(c[4], "kube-controller-manager/") + ".txtar"
		vectors := map[string]string{
			"TestVectors": "../vectors", "TestConstraintVectors": "../vectors/constraints", "TestLives": "../cluster/life/scenarios",
		}[c[3]]
		if _, err := os.Stat(filepath.Join(vectors, name)); vectors != "" && err != nil {
			t.Errorf("%s: %v", c[0], err)
		}
	}
	places := regexp.MustCompile("(JobSet's )?`(pkg/\\S+\\.go)`:((?:\\s+`\\w+`,?)+)").FindAllStringSubmatch(string(data), -1)
	for _, p := range places {
		module, from := "k8s.io/kubernetes", "."
		if p[1] != "" {
			module, from = "sigs.k8s.io/jobset", "../.."
		}
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(p[3], -1) {
			if !hasFunction(t, filepath.Join(folderOf(t, module, from), p[2]), name) {
				t.Errorf("%s: no function %s in %s", p[2], name, module)
			}
		}
	}
	if all := strings.Count(string(data), "\n    go "); len(commands) != all || len(places) != strings.Count(string(data), ".go`") {
		t.Errorf("%d of %d commands understood, and %d of %d files", len(commands), all, len(places), strings.Count(string(data), ".go`"))
	}
}

// hasFunction reports whether any file matching a pattern has a function or method with a name.
func hasFunction(t *testing.T, pattern, name string) bool {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^func (\([^)]+\) )?` + name + `\(`).Match(data) {
			return true
		}
	}
	return false
}

// folderOf returns the folder of a module that the module in another folder requires.
func folderOf(t *testing.T, module, from string) string {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "-C", from, "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(folder))
}
