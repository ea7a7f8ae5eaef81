// Package workflows tests files that other programs read: workflows, the action and the examples, which run on
// GitHub's machines for this repository and for users of podverdict, and the schemas by which editors mark mistakes.
// It contains only tests.
package workflows

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// A make target that a workflow calls must exist.
func TestWorkflowsCallTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	files, _ := filepath.Glob("../../.github/workflows/*.yml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range regexp.MustCompile(`\bmake ([a-z-]+)(?: [A-Z]|$)`).FindAllStringSubmatch(string(text), -1) {
			called++
			if !strings.Contains(string(makefile), "\n"+target[1]+":") {
				t.Errorf("%s: there is no target %s", file, target[1])
			}
		}
	}
	if called == 0 {
		t.Error("no target is called")
	}
}

// The nightly workflow tests the same Kubernetes releases as the Makefile.
func TestNightlyReleases(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var nightly struct {
		Jobs map[string]struct {
			Strategy struct{ Matrix struct{ Kubernetes []string } }
		}
	}
	read(t, "../../.github/workflows/nightly.yml", &nightly)
	want := strings.Fields(string(regexp.MustCompile(`(?m)^RELEASES :=(.*)$`).FindSubmatch(makefile)[1]))
	if got := nightly.Jobs["matrix"].Strategy.Matrix.Kubernetes; len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the workflow has %q, the Makefile %q", got, want)
	}
}

// Examples that users copy refer to existing files, hooks and inputs.
func TestExamples(t *testing.T) {
	var hooks []struct{ ID string }
	read(t, "../../.pre-commit-hooks.yaml", &hooks)
	var config struct {
		Repos []struct{ Hooks []struct{ ID string } }
	}
	read(t, "../../examples/ci/pre-commit.yaml", &config)
	ids := map[string]bool{}
	for _, hook := range hooks {
		ids[hook.ID] = true
	}
	for _, hook := range config.Repos[0].Hooks {
		if !ids[hook.ID] {
			t.Errorf("there is no hook %s", hook.ID)
		}
	}
	var action, workflow map[string]any
	read(t, "../../action.yml", &action)
	read(t, "../../examples/ci/github.yaml", &workflow)
	steps := workflow["jobs"].(map[string]any)["check"].(map[string]any)["steps"].([]any)
	for input := range steps[len(steps)-1].(map[string]any)["with"].(map[string]any) {
		if _, ok := action["inputs"].(map[string]any)[input]; !ok {
			t.Errorf("the action has no input %s", input)
		}
	}
	var application, chart map[string]any
	read(t, "../../examples/gitops/argocd.yaml", &application)
	source := application["spec"].(map[string]any)["source"].(map[string]any)
	read(t, "../../"+source["path"].(string)+"/Chart.yaml", &chart)
	if source["targetRevision"] != "v"+chart["version"].(string) {
		t.Errorf("Argo CD gets %v of chart %v", source["targetRevision"], chart["version"])
	}
}

// GitHub omits forms that it cannot parse from the page for a new issue, without a warning.
func TestForms(t *testing.T) {
	files, err := filepath.Glob("../../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%q: %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "config.yml" {
			continue
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label string }
			}
		}
		read(t, file, &form)
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: %+v", file, form)
		}
		for _, field := range form.Body {
			if field.ID == "" || field.Attributes.Label == "" || field.Type != "textarea" && field.Type != "input" {
				t.Errorf("%s: %+v", file, field)
			}
		}
	}
}

// Dependabot updates every Go module and every npm package.
func TestDependencyUpdates(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	read(t, "../../.github/dependabot.yml", &config)
	got := map[string][]string{}
	for _, update := range config.Updates {
		got[update.Ecosystem] = append(got[update.Ecosystem], slices.Sorted(slices.Values(update.Directories))...)
	}
	delete(got, "github-actions")
	want := map[string][]string{}
	listed, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "*go.mod", "*package.json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(listed)) {
		if ecosystem := map[string]string{"go.mod": "gomod", "package.json": "npm"}[path.Base(file)]; ecosystem != "" && !strings.Contains(file, "testdata") {
			want[ecosystem] = append(want[ecosystem], path.Join("/", path.Dir(file)))
		}
	}
	for _, folders := range want {
		slices.Sort(folders)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf(".github/dependabot.yml (-folders +updates):\n%s", diff)
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
