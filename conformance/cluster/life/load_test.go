package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/version"
)

// TestFilesAreAsWritten tests that the files of the lives load, and are formatted as by Rewrite, so that recording them
// again shows only real changes.
func TestFilesAreAsWritten(t *testing.T) {
	all, err := Load(os.DirFS(scenarios))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 60 {
		t.Errorf("%d lives", len(all))
	}
	for _, life := range all {
		name := filepath.Join(scenarios, filepath.FromSlash(life.Name)+".txtar")
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Rewrite(file, life, life.Want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(file)); diff != "" {
			t.Errorf("%s: go test ./conformance/cluster/life -update would write it otherwise (-want +got):\n%s", life.Name, diff)
		}
	}
}

const good = `A Job whose pod succeeds is complete.
#kep: KEP-3998
-- job.yaml --
spec: {completionMode: Indexed, completions: 1}
-- steps.yaml --
- exit: {pods: [0], code: 0}
- settle: {name: end}
-- end.yaml --
status: {succeeded: 1}
pods: {0: Succeeded}
`

func TestLoad(t *testing.T) {
	lives, err := Load(fstest.MapFS{"topic/reason.txtar": {Data: []byte(good)}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Life{{
		Name: "topic/reason", Sentence: "A Job whose pod succeeds is complete.", KEP: "KEP-3998",
		Steps: []Step{{Exit: &Exit{Pods: []Pod{{}}, Code: new(int32)}}, {Settle: &Settle{Name: "end"}}},
		Want:  map[string]Facts{"end": {Status: &Status{Succeeded: 1}, Pods: map[string]string{"0": "Succeeded"}}},
	}}
	if diff := cmp.Diff(want, lives, cmpopts.IgnoreFields(Life{}, "Job"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	job := lives[0].Job
	if job.Name != "j" || len(job.Spec.Template.Spec.Containers) != 1 || job.Spec.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("the Job is not filled in: %v", job)
	}
}

func TestLoadRefuses(t *testing.T) {
	change := func(old, changed string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the good life", old)
		}
		return strings.Replace(good, old, changed, 1)
	}
	// Package document rejects unknown fields, and is tested in conformance/vectors.
	for name, test := range map[string]struct{ file, want string }{
		"no source":            {change("#kep: KEP-3998\n", ""), `topic/reason.txtar:1: one of the headers "#kep", "#semantics" and "#upstream" is required`},
		"semantics":            {change("#kep: KEP-3998", "#semantics: A.1"), `topic/reason.txtar:2: header "#semantics" cannot be "A.1"`},
		"semantics twice":      {change("#kep: KEP-3998", "#semantics: B.31, B.31"), `topic/reason.txtar:2: header "#semantics" cannot be "B.31"`},
		"no job":               {change("-- job.yaml --\nspec: {completionMode: Indexed, completions: 1}\n", ""), "topic/reason.txtar: section job.yaml is missing"},
		"managed":              {change("completions: 1", "managedBy: a/b"), "topic/reason.txtar:3: spec.managedBy is for who plays the life"},
		"no steps":             {change("- exit: {pods: [0], code: 0}\n- settle: {name: end}\n", ""), "topic/reason.txtar:5: section steps.yaml is missing or empty"},
		"two actions":          {change("code: 0}", "code: 0}\n  await: Failed"), "topic/reason.txtar:5: step 1: a step is exactly one of"},
		"no pods":              {change("[0]", "[]"), "topic/reason.txtar:5: step 1: pods is empty"},
		"no pod":               {change("[0]", "[a]"), "topic/reason.txtar:6: a is no pod: want a number, or index/attempt as in 2/1"},
		"negative pod":         {change("[0]", "[-1]"), "topic/reason.txtar:6: -1 is no pod"},
		"checkpoint twice":     {change("- settle", "- settle: {name: end}\n- settle"), "topic/reason.txtar:5: step 3: checkpoint end appears twice"},
		"no settle":            {change("- settle: {name: end}", "- await: Failed"), "topic/reason.txtar:5: the last step must be settle"},
		"no checkpoint":        {change("-- end.yaml --\nstatus: {succeeded: 1}\npods: {0: Succeeded}\n", ""), "topic/reason.txtar: section end.yaml is missing"},
		"unknown section":      {change("-- end.yaml --", "-- ende.yaml --\n-- end.yaml --"), "topic/reason.txtar:8: unknown section \"ende.yaml\""},
		"difference of nobody": {good + "-- end.differs.yaml --\nstatus: {}\n", `topic/reason.txtar:1: header "#differs" and sections <checkpoint>.differs.yaml come together`},
		"difference of nothing": {
			change("#kep: KEP-3998", "#kep: a\n#differs: a/b: because"),
			`topic/reason.txtar:1: header "#differs" and sections <checkpoint>.differs.yaml come together`,
		},
		"no difference": {
			change("#kep: KEP-3998", "#kep: a\n#differs: a/b: because") + "-- end.differs.yaml --\nstatus: {succeeded: 1}\npods: {0: Succeeded}\n",
			"topic/reason.txtar:12: differs in nothing",
		},
		"older release without checkpoints": {
			change("#kep: KEP-3998", "#kep: a\n#before: 1.36: because"),
			`topic/reason.txtar:1: header "#before" and sections <checkpoint>.before.yaml come together`,
		},
		"no release":                  {change("#kep: KEP-3998", "#before: a/b: because"), `topic/reason.txtar:2: header "#before" cannot be "a/b: because"`},
		"difference without a reason": {change("#kep: KEP-3998", "#differs: a/b"), `topic/reason.txtar:2: header "#differs" cannot be "a/b"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(fstest.MapFS{"topic/reason.txtar": {Data: []byte(test.file)}})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// TestOlderReleases tests that the section before applies only to kube-controller-manager before the release with the
// fix.
func TestOlderReleases(t *testing.T) {
	old := strings.Replace(good, "#kep", "#before: 1.36: It counts twice.\n#kep", 1) + "-- end.before.yaml --\nstatus: {succeeded: 2}\n"
	all, err := Load(fstest.MapFS{"topic/reason.txtar": {Data: []byte(old)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		stage Stage
		want  int32
	}{
		"before":           {Stage{Kubernetes: version.MustParseGeneric("v1.35.4")}, 2},
		"since":            {Stage{Kubernetes: version.MustParseGeneric("v1.36.0")}, 1},
		"newest":           {Stage{}, 1},
		"other controller": {Stage{Kubernetes: version.MustParseGeneric("v1.35.4"), ManagedBy: "a/b"}, 1},
	} {
		if got := test.stage.want(all[0])["end"].Status.Succeeded; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// TestDrafts tests that Drafts reads lives with and without recorded checkpoints.
func TestDrafts(t *testing.T) {
	draft, _, _ := strings.Cut(good, "-- end.yaml --")
	for name, test := range map[string]struct {
		file string
		want int
	}{
		"new":      {draft, 0},
		"renamed":  {strings.Replace(good, "-- end.yaml --", "-- ende.yaml --", 1), 0},
		"recorded": {good, 1},
	} {
		t.Run(name, func(t *testing.T) {
			lives, err := Drafts(fstest.MapFS{"topic/reason.txtar": {Data: []byte(test.file)}})
			if err != nil || len(lives) != 1 || len(lives[0].Want) != test.want {
				t.Errorf("lives %v, error %v", lives, err)
			}
		})
	}
}
