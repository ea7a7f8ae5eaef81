package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

const (
	plainJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: example}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/main:1}]}}}
`
	// tidyJob satisfies all guardrails.
	tidyJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: example}
spec:
  activeDeadlineSeconds: 3600
  ttlSecondsAfterFinished: 86400
  podFailurePolicy:
    rules:
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}
    - {action: FailJob, onExitCodes: {containerName: main, operator: In, values: [42]}}
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/main:1}]}}
`
)

// document completes an example: a part of a Job, a condition, or whole documents.
func document(t *testing.T, r catalogue.Rule, example string) string {
	t.Helper()
	base := plainJob
	if r.Group == catalogue.Guardrails {
		base = tidyJob
	}
	switch {
	case strings.HasPrefix(example, "apiVersion:"):
		return example
	case strings.HasPrefix(example, "when: "):
		return fmt.Sprintf("apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicy\nmetadata: {name: example}\nspec:\n  rules:\n  - name: example\n    action: Count\n    when: >-\n      %s\n",
			strings.TrimPrefix(example, "when: "))
	}
	var job, part map[string]any
	for text, into := range map[string]*map[string]any{base: &job, example: &part} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
	}
	complete, err := yaml.Marshal(overlaid(job, part))
	if err != nil {
		t.Fatal(err)
	}
	return string(complete)
}

// overlaid merges one value over another: members of objects are replaced one by one, and null removes a member.
func overlaid(base, over any) any {
	under, isObject := base.(map[string]any)
	members, overObject := over.(map[string]any)
	if !isObject || !overObject {
		return over
	}
	for name, value := range members {
		if value == nil {
			delete(under, name)
			continue
		}
		under[name] = overlaid(under[name], value)
	}
	return under
}

func readText(t *testing.T, text string) (*manifest.Set, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return manifest.Read(t.Context(), manifest.Options{Filenames: []string{file}})
}

// foundIn returns the ids of the findings in an example.
func foundIn(t *testing.T, validator func() (*rego.Validator, error), r catalogue.Rule, example string) []string {
	t.Helper()
	set, err := readText(t, document(t, r, example))
	subjects := unreadable(err)
	in := inspector{validator: validator, kubernetes: compiler.DefaultVersion}
	if r.Old != "" {
		old, err := readText(t, document(t, r, r.Old))
		if err != nil {
			t.Fatal(err)
		}
		in.replaced.objects = map[cli.Identity]*manifest.Job{cli.IdentityOf(old.Jobs[0]): &old.Jobs[0]}
	}
	found, err := in.inspect(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range append(subjects, found...) {
		for _, f := range s.Findings {
			ids = append(ids, f.Check)
		}
	}
	return ids
}

// TestExamples runs the examples of the catalogue: bad examples break the rule, and good ones satisfy it and all constraints.
func TestExamples(t *testing.T) {
	enabled := map[string]any{"G-REPLACEMENT-INDEXED": map[string]any{"enabled": true}}
	plain := sync.OnceValues(func() (*rego.Validator, error) {
		return rego.New(t.Context(), rego.Options{Guardrails: true, Warnings: true})
	})
	other := sync.OnceValues(func() (*rego.Validator, error) {
		return rego.New(t.Context(), rego.Options{Guardrails: true, Warnings: true, Settings: enabled})
	})
	for _, r := range catalogue.All() {
		if r.Bad == "" {
			continue
		}
		validator := plain
		if slices.ContainsFunc(r.Parameters, func(p catalogue.Parameter) bool { return p.Name == "enabled" }) {
			validator = other
		}
		if found := foundIn(t, validator, r, r.Bad); !slices.Contains(found, r.ID) {
			t.Errorf("%s: the bad example breaks %v", r.ID, found)
		}
		for _, id := range foundIn(t, validator, r, r.Good) {
			rule, _ := catalogue.Find(id)
			if id == r.ID || rule.Group == catalogue.Constraints {
				t.Errorf("%s: the good example breaks %s", r.ID, id)
			}
		}
	}
}

// TestAlsoFound finds constraints and guardrails without the bundle, with the same results on the examples.
func TestAlsoFound(t *testing.T) {
	for _, id := range alsoFound {
		r, _ := catalogue.Find(id)
		if found := foundIn(t, nil, r, r.Bad); !slices.Contains(found, id) {
			t.Errorf("%s: the bad example breaks %v", id, found)
		}
		if found := foundIn(t, nil, r, r.Good); slices.Contains(found, id) {
			t.Errorf("%s: the good example breaks it", id)
		}
	}
}
