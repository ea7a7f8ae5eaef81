package vectors

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/policies"
)

// rulesOf returns the rules of a folder of the bundle, by id.
func rulesOf(t *testing.T, folder string) map[string]policies.Rule {
	t.Helper()
	all, err := policies.Rules()
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]policies.Rule{}
	for _, r := range all {
		if r.Folder == folder {
			rules[r.ID] = r
		}
	}
	if len(rules) < 25 {
		t.Fatalf("%s has %d rules", folder, len(rules))
	}
	return rules
}

func loaded(t testing.TB, load func() ([]JobVector, error)) []JobVector {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (v JobVector) finds(id string) bool {
	return slices.ContainsFunc(v.Want, func(f Finding) bool { return f.ID == id })
}

func covered(vectors []JobVector, by func(JobVector) bool) bool {
	return slices.ContainsFunc(vectors, by)
}

// TestConstraintVectorsCoverTheConstraints checks that every constraint is broken in one vector and
// nearly broken in another, and constraints on updates in vectors of updates.
func TestConstraintVectorsCoverTheConstraints(t *testing.T) {
	vectors := loaded(t, Constraints)
	for id := range rulesOf(t, "job") {
		onUpdate := strings.HasPrefix(id, "U")
		// The API server's defaults fix what F15 would report.
		if id != "F15" && !covered(vectors, func(v JobVector) bool { return v.finds(id) }) {
			t.Errorf("no vector breaks %s", id)
		}
		if !covered(vectors, func(v JobVector) bool {
			return slices.Contains(v.Silent, id) && onUpdate == (v.OldObject != nil) && v.Object["kind"] == "Job"
		}) {
			t.Errorf("no vector nearly breaks %s", id)
		}
	}
}

// TestGuardrailVectorsCoverTheGuardrails checks that every guardrail has a finding in one vector,
// nearly has one in another, and is disabled where it would have one in a third, and that every
// parameter is set in some vector.
func TestGuardrailVectorsCoverTheGuardrails(t *testing.T) {
	vectors := loaded(t, Guardrails)
	for id, rule := range rulesOf(t, "guardrails") {
		for what, by := range map[string]func(JobVector) bool{
			"breaks":        func(v JobVector) bool { return v.finds(id) },
			"nearly breaks": func(v JobVector) bool { return slices.Contains(v.Silent, id) && v.setting(id, "enabled") != false },
			"turns off":     func(v JobVector) bool { return slices.Contains(v.Silent, id) && v.setting(id, "enabled") == false },
		} {
			if !covered(vectors, by) {
				t.Errorf("no vector %s %s", what, id)
			}
		}
		for name := range rule.Parameters {
			if !covered(vectors, func(v JobVector) bool {
				return v.setting(id, name) != nil && (v.finds(id) || slices.Contains(v.Silent, id))
			}) {
				t.Errorf("no vector sets %s of %s", name, id)
			}
		}
	}
}

func (v JobVector) setting(id, name string) any {
	settings, _ := v.Settings[id].(map[string]any)
	return settings[name]
}

const (
	goodConstraint = `A sentence.
#kep: batch/v1
#silent: P1, U7
-- oldJob.patch --
spec.completions: 3
-- job.patch --
spec.backoffLimit: -1
metadata.labels["team"]: "a" * 3
-- errors.yaml --
- id: P4
  field: spec.backoffLimit
  type: FieldValueInvalid
  detail: must be greater than or equal to 0
  msg: 'spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0'
-- warnings.yaml --
- id: P8
  field: spec
  detail: careful
  msg: 'spec: careful'
`
	goodGuardrail = `A sentence.
#kep: KEP-592
#kind: CronJob
-- settings.yaml --
G-TTL: {max: 3}
-- job.patch --
spec.jobTemplate.spec.ttlSecondsAfterFinished: 4
-- findings.yaml --
- id: G-TTL
  field: spec.jobTemplate.spec.ttlSecondsAfterFinished
  msg: 'spec.jobTemplate.spec.ttlSecondsAfterFinished: Guardrail G-TTL: 4: no'
  severity: warning
`
)

// jobFolder returns a folder with one vector, and the base files of this package.
func jobFolder(t testing.TB, f family, file, text string) fstest.MapFS {
	t.Helper()
	folder := fstest.MapFS{string(f) + "/" + file: {Data: []byte(text)}}
	for _, base := range []string{"job.yaml", "cronjob.yaml"} {
		name := string(f) + "/" + base
		data, err := fs.ReadFile(embedded, name)
		if err != nil {
			t.Fatal(err)
		}
		if folder[name] == nil {
			folder[name] = &fstest.MapFile{Data: data}
		}
	}
	return folder
}

func TestLoadJobs(t *testing.T) {
	got, err := constraints.load(jobFolder(t, constraints, "t/v.txtar", goodConstraint))
	if err != nil {
		t.Fatal(err)
	}
	v := got[0]
	if v.Name != "constraints/t/v" || v.Sentence != "A sentence." || v.KEP != "batch/v1" || v.Panics || len(got) != 1 {
		t.Errorf("%+v", v)
	}
	spec := map[string]any{"template": v.Object["spec"].(map[string]any)["template"], "completions": int64(3), "backoffLimit": int64(-1)}
	if diff := cmp.Diff(spec, v.Object["spec"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"namespace": "default", "name": "j", "labels": map[string]any{"team": "aaa"}}, v.Object["metadata"]); diff != "" {
		t.Error(diff)
	}
	if _, changed := v.OldObject["spec"].(map[string]any)["backoffLimit"]; changed {
		t.Error("the change is one of the old object too")
	}
	want := []Finding{
		{"P4", "spec.backoffLimit", "FieldValueInvalid", "must be greater than or equal to 0", "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0", "error"},
		{"P8", "spec", TypeWarning, "careful", "spec: careful", "warning"},
	}
	if diff := cmp.Diff(want, v.Want); diff != "" {
		t.Error(diff)
	}
	got, err = guardrails.load(jobFolder(t, guardrails, "t/v.txtar", goodGuardrail))
	if err != nil {
		t.Fatal(err)
	}
	if v := got[0]; v.Object["kind"] != "CronJob" || v.OldObject != nil || v.setting("G-TTL", "max") != int64(3) || v.Want[0].Severity != "warning" {
		t.Errorf("%+v", v)
	}
}

// TestLoadJobsRefuses changes one thing at a time in a valid vector.
func TestLoadJobsRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no kep", "#kep: batch/v1\n", "", `:1: header "#kep" is missing`},
		{"unknown header", "#silent", "#quiet", `:3: unknown header "#quiet"`},
		{"header of verdicts", "#silent: P1, U7", "#features: In", `:3: unknown header "#features"`},
		{"id twice", "P1, U7", "P1, P1", `:1: silent P1 appears twice`},
		{"silent and found", "P1, U7", "P1, P4", `:1: P4 is silent and found`},
		{"unknown kind", "#silent: P1, U7", "#kind: Pod", `:3: header "#kind" cannot be "Pod"`},
		{"unknown state of upstream", "#silent: P1, U7", "#upstream: agrees", `:3: header "#upstream" cannot be "agrees"`},
		{"unknown section", "-- warnings.yaml --", "-- findings.yaml --", `:15: unknown section "findings.yaml"; known are oldJob.patch, job.patch, errors.yaml, warnings.yaml`},
		{"no errors", "-- errors.yaml --", "-- warnings.yaml --", `:15: section warnings.yaml appears twice`},
		{"unknown field of the job", "spec.backoffLimit: -1", "spec.backofLimit: -1", `:7: unknown field "spec.backofLimit"`},
		{"unknown field of the old job", "spec.completions: 3", "spec.completion: 3", `:5: unknown field "spec.completion"`},
		{"wrong type", "spec.backoffLimit: -1", "spec.backoffLimit: many", `:7: json: cannot unmarshal string into Go struct field JobSpec.spec.backoffLimit of type int32`},
		{"no change", "spec.backoffLimit: -1", "spec.completions: 3", `:7: changes nothing`},
		{"removes nothing", "spec.backoffLimit: -1", "spec.backoffLimit: null", `:7: removes what is not there`},
		{"repeats a text in part", `"a" * 3`, `"a" * x`, `:8: yaml: did not find expected alphabetic`},
		{"repeats no list", `metadata.labels["team"]: "a" * 3`, `spec.x: [1]: ["a"] * 3`, `:8: `},
		{"unknown member", "  detail: careful", "  details: careful", `:18: unknown field "[0].details"`},
	} {
		text := strings.Replace(goodConstraint, tt.old, tt.new, 1)
		checkRefusal(t, constraints, tt.name, goodConstraint, text, tt.want)
	}
}

func TestLoadGuardrailsRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no findings", "-- findings.yaml --", "-- errors.yaml --", `:8: unknown section "errors.yaml"; known are settings.yaml, job.patch, findings.yaml`},
		{"update", "-- settings.yaml --\nG-TTL: {max: 3}", "-- oldJob.patch --", `:4: unknown section "oldJob.patch"`},
		{"empty settings", "G-TTL: {max: 3}\n", "", `:4: section settings.yaml is empty`},
		{"settings are no object", "G-TTL: {max: 3}", "- 3", `:5: json: cannot unmarshal`},
		{"field of another kind", "spec.jobTemplate.spec.ttlSecondsAfterFinished: 4", "spec.ttlSecondsAfterFinished: 4", `:7: unknown field "spec.ttlSecondsAfterFinished"`},
	} {
		text := strings.Replace(goodGuardrail, tt.old, tt.new, 1)
		checkRefusal(t, guardrails, tt.name, goodGuardrail, text, tt.want)
	}
	head, _, _ := strings.Cut(goodGuardrail, "-- findings")
	checkRefusal(t, guardrails, "no section of findings", goodGuardrail, head, `: section findings.yaml is missing; what breaks no guardrail has []`)
	checkRefusal(t, guardrails, "proves nothing", goodGuardrail, head+"-- findings.yaml --\n[]\n", `:1: finds nothing and has no header "#silent", so that it proves nothing`)
	head, _, _ = strings.Cut(goodConstraint, "-- errors")
	checkRefusal(t, constraints, "no section of errors", goodConstraint, head, `: section errors.yaml is missing; what is accepted has []`)
	_, finding, _ := strings.Cut(goodGuardrail, "-- findings.yaml --\n")
	checkRefusal(t, guardrails, "finding twice", goodGuardrail, goodGuardrail+finding, `:8: finding 1: spec.jobTemplate.spec.ttlSecondsAfterFinished: Guardrail G-TTL: 4: no appears twice`)
}

func checkRefusal(t *testing.T, f family, name, good, text, want string) {
	t.Helper()
	if text == good {
		t.Errorf("%s: changes nothing", name)
	}
	_, err := f.load(jobFolder(t, f, "t/v.txtar", text))
	if err == nil || !strings.HasPrefix(err.Error(), string(f)+"/t/v.txtar:") || !strings.Contains(err.Error(), want) {
		t.Errorf("%s:\ngot  %v\nwant %s", name, err, want)
	}
}

func TestLoadJobsRefusesFolders(t *testing.T) {
	good := jobFolder(t, constraints, "t/v.txtar", goodConstraint)
	with := func(file, text string) fstest.MapFS {
		folder := maps.Clone(good)
		folder["constraints/"+file] = &fstest.MapFile{Data: []byte(text)}
		return folder
	}
	without := maps.Clone(good)
	delete(without, "constraints/t/v.txtar")
	baseless := maps.Clone(good)
	delete(baseless, "constraints/cronjob.yaml")
	for name, tt := range map[string]struct {
		folder fs.FS
		want   string
	}{
		"empty":         {without, "no files constraints/<topic>/<reason>.txtar"},
		"no base":       {baseless, "constraints/cronjob.yaml: open constraints/cronjob.yaml: file does not exist"},
		"wrong base":    {with("job.yaml", "kind: Job\nspecs: {}\n"), `constraints/job.yaml:2: unknown field "specs"`},
		"same sentence": {with("t/w.txtar", strings.Replace(goodConstraint, "completions: 3", "completions: 4", 1)), "constraints/t/w.txtar:1: the sentence is that of constraints/t/v.txtar"},
		"same question": {with("t/w.txtar", strings.Replace(goodConstraint, "A sentence", "Another sentence", 1)), "constraints/t/w.txtar: asks the same question as constraints/t/v.txtar"},
	} {
		if _, err := constraints.load(tt.folder); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, tt.want)
		}
	}
}

// TestLoadLeavesOutJobs checks that Load skips the folders of JobVectors, but only in their proper
// place.
func TestLoadLeavesOutJobs(t *testing.T) {
	folder := tree(t, "t/v.txtar", goodVector).(fstest.MapFS)
	folder["constraints/t/v.txtar"] = &fstest.MapFile{Data: []byte("no vector")}
	if got, err := Load(folder); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	folder["t/constraints/v.txtar"] = &fstest.MapFile{Data: []byte("no vector")}
	if _, err := Load(folder); err == nil || !strings.Contains(err.Error(), "t/constraints/v.txtar: unused file") {
		t.Error(err)
	}
}

func TestUpdate(t *testing.T) {
	s := Submission{
		OldObject: map[string]any{"a": int64(1), "b": map[string]any{"c": "x", "d": "y"}, "e": []any{"1"}, "g": "gone"},
		Object:    map[string]any{"a": int64(1), "b": map[string]any{"c": "z"}, "e": []any{"1", "2"}, "f": map[string]any{"new": true}},
	}
	stored := map[string]any{"a": int64(2), "b": map[string]any{"c": "x", "d": "y", "default": "0"}, "e": []any{"1+"}, "g": "gone", "uid": "u"}
	want := map[string]any{"a": int64(2), "b": map[string]any{"c": "z", "default": "0"}, "e": []any{"1", "2"}, "f": map[string]any{"new": true}, "uid": "u"}
	if diff := cmp.Diff(want, s.Update(stored)); diff != "" {
		t.Error(diff)
	}
	if stored["g"] != "gone" || stored["b"].(map[string]any)["d"] != "y" {
		t.Error("the stored object has changed")
	}
}
