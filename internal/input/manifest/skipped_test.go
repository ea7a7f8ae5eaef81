package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForeign checks that documents without supported objects are distinguished from unreadable Jobs.
func TestForeign(t *testing.T) {
	const doubled = "spec: {a: 1, a: 2}\n"
	for name, c := range map[string]struct {
		text         string
		named        bool // named on the command line, not found in a directory
		wrong        bool // whether an error is reported
		files, twice int
	}{
		"a doubled key in another kind":          {text: "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\n" + doubled, twice: 1},
		"the same, named":                        {text: "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\n" + doubled, named: true, twice: 1},
		"a Job of another group":                 {text: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n" + doubled, twice: 1},
		"a doubled key in a Job":                 {text: "apiVersion: batch/v1\nkind: Job\n" + doubled, wrong: true},
		"in quotes":                              {text: "{\"kind\": \"Job\", \"apiVersion\": \"batch/v1\",\n", wrong: true},
		"in a List":                              {text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: CronJob\n  " + doubled, wrong: true},
		"a kind that is misspelt":                {text: "apiVersion: batch/v1\nkind: Jobb\n" + doubled, wrong: true},
		"a Job without apiVersion":               {text: "kind: Job\n" + doubled, wrong: true},
		"a kind alone":                           {text: "kind: Job\nspec: {}\n", files: 1},
		"API discovery":                          {text: `[{"kind": "APIResourceList", "resources": [{"name": "jobs", "kind": "Job"}]}]`, files: 1},
		"a JobSet":                               {text: "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n" + doubled, wrong: true},
		"a TrainJob":                             {text: "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n" + doubled, wrong: true},
		"another kind of the group":              {text: "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\n" + doubled, twice: 1},
		"a field of a Pod":                       {text: "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {container: []}\n"},
		"values that are no YAML":                {text: "a: [\n", files: 1},
		"values that are no YAML, named":         {text: "a: [\n", named: true, wrong: true},
		"values with a Job among them, no type":  {text: "jobs:\n- {apiVersion: batch/v1, kind: Job}\n", files: 1},
		"a Namespace whose labels are no labels": {text: "apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: 3}\n", twice: 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "file.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			o := Options{Filenames: []string{dir}, NoPods: true}
			if c.named {
				o.Filenames = []string{file}
			}
			set, err := Read(t.Context(), o)
			if c.wrong != (err != nil) || len(set.Skipped.Files) != c.files || len(set.Skipped.Broken) != c.twice {
				t.Errorf("error %v, skipped %+v", err, set.Skipped)
			}
			if o.Strict = true; c.named {
				return
			}
			if _, err := Read(t.Context(), o); err == nil {
				t.Error("--strict takes it")
			}
		})
	}
}

// TestSeparate checks that folders with objects of the same name are separated.
func TestSeparate(t *testing.T) {
	const policy = "apiVersion: podverdict.io/v1alpha1\nkind: PodFailurePolicy\nmetadata: {name: training}\nspec: {rules: []}\n"
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {containers: [{name: main}]}}}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // files of each part
	}{
		"one of each":            {map[string]string{"a/p.yaml": policy, "b/j.yaml": job, "j.yaml": job}, []string{"a/p.yaml b/j.yaml j.yaml"}},
		"two Jobs of one name":   {map[string]string{"a/j.yaml": job, "b/j.yaml": job}, []string{"a/j.yaml b/j.yaml"}},
		"two clusters":           {map[string]string{"dev/p/x.yaml": policy, "dev/j.yaml": job, "prod/p/x.yaml": policy, "prod/j.yaml": job, "j.yaml": job}, []string{"dev/j.yaml dev/p/x.yaml j.yaml", "prod/j.yaml prod/p/x.yaml"}},
		"a folder below another": {map[string]string{"a/old/p.yaml": policy, "a/p.yaml": policy, "a/j.yaml": job}, []string{"a/j.yaml a/p.yaml", "a/old/p.yaml"}},
		"one folder":             {map[string]string{"a/p.yaml": policy, "a/q.yaml": policy}, []string{"a/p.yaml a/q.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for file, text := range c.files {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			set, err := Read(t.Context(), Options{Filenames: []string{"."}, Recursive: true})
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, part := range set.Separate() {
				var files []string
				for _, j := range part.Jobs {
					files = append(files, j.Origin.Document.File)
				}
				for _, p := range part.Policies {
					files = append(files, p.Origin.Document.File)
				}
				slices.Sort(files)
				have = append(have, strings.Join(files, " "))
			}
			if diff := cmp.Diff(c.want, have); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
