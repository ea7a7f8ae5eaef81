package kind

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestResolveSaysWhatIsWrongAndWhere(t *testing.T) {
	cronJob, taskSet := mustKind(t, CronJob), readCRD(t, "taskset.yaml")
	for _, test := range []struct {
		kind       Kind
		path, want string
	}{
		{cronJob, "spec.jobTemplat.spec", "field path, column 6: spec of CronJob (batch/v1) has no field \"jobTemplat\", did you mean \"jobTemplate\"?\n | spec.jobTemplat.spec\n | .....^"},
		{cronJob, "spce.jobTemplate.spec", "field path, column 1: CronJob (batch/v1) has no field \"spce\", did you mean \"spec\"?\n | spce.jobTemplate.spec\n | ^"},
		{cronJob, "spec.jobTemplate.xyzzyxyzzy", "field path, column 18: spec.jobTemplate of CronJob (batch/v1) has no field \"xyzzyxyzzy\", it has metadata, spec\n | spec.jobTemplate.xyzzyxyzzy\n | .................^"},
		{cronJob, "spec.schedule.spec", "field path, column 15: spec.schedule of CronJob (batch/v1) has no field \"spec\": it is of type string\n | spec.schedule.spec\n | ..............^"},
		{cronJob, "spec.jobTemplate[*].spec", "field path, column 17: spec.jobTemplate is no list but of type object: leave [*] out\n | spec.jobTemplate[*].spec\n | ................^"},
		{cronJob, "spec.jobTemplate", "field path, column 6: spec.jobTemplate of CronJob (batch/v1) is no Job spec: it has no template.spec.containers\n | spec.jobTemplate\n | .....^"},
		{cronJob, "spec.jobTemplate.spec.template.spec", "field path, column 32: spec.jobTemplate.spec.template.spec of CronJob (batch/v1) is no Job spec: it has no template.spec.containers\n | spec.jobTemplate.spec.template.spec\n | ...............................^"},
		{taskSet, "spec.tasks.template.spec", "field path, column 11: spec.tasks is a list: write spec.tasks[*] for each element\n | spec.tasks.template.spec\n | ..........^"},
		{taskSet, "spec.tasks", "field path, column 11: spec.tasks is a list: write spec.tasks[*] for each element\n | spec.tasks\n | ..........^"},
		{taskSet, "spec.tasks[*].templates.spec", "field path, column 15: spec.tasks[*] of TaskSet (example.com/v1) has no field \"templates\", did you mean \"template\"?\n | spec.tasks[*].templates.spec\n | ..............^"},
		{taskSet, "spec.port[*].spec", "field path, column 10: spec.port is no list but of type int-or-string: leave [*] out\n | spec.port[*].spec\n | .........^"},
		{taskSet, "spec.port", "field path, column 6: spec.port of TaskSet (example.com/v1) is no Job spec: it has no template.spec.containers\n | spec.port\n | .....^"},
		{taskSet, "spec.podSet", "field path, column 6: spec.podSet of TaskSet (example.com/v1) is no Job spec: it has no template.spec.containers\n | spec.podSet\n | .....^"},
		{taskSet, "spec.workload", "field path, column 6: spec.workload of TaskSet (example.com/v1) is no Job spec: it has no backoffLimit or completions or parallelism or podFailurePolicy\n | spec.workload\n | .....^"},
	} {
		p, err := ParsePath(test.path)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		if _, err = test.kind.Resolve(p); err == nil {
			t.Errorf("%s is accepted", test.path)
			continue
		}
		if diff := cmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
	}
}

func TestResolve(t *testing.T) {
	taskSet := readCRD(t, "taskset.yaml")
	for _, test := range []struct {
		kind Kind
		path string
		want Embedded
	}{
		{mustKind(t, Job), "spec", Embedded{}},
		{mustKind(t, CronJob), "spec.jobTemplate.spec", Embedded{}},
		{taskSet, "spec.main.spec", Embedded{}},
		{taskSet, "spec.cleanup.spec", Embedded{Optional: true}},
		{taskSet, "spec.on-exit", Embedded{Optional: true}},
		{taskSet, "spec.namespace", Embedded{Optional: true}},
		{taskSet, "spec.later", Embedded{Optional: true}},
		{taskSet, "spec.anything.at.all", Embedded{Optional: true}},
		{taskSet, "spec.whatever.there[*].is", Embedded{List: true, Optional: true}},
		{taskSet, "spec.items[*].template.spec", Embedded{List: true}},
		{taskSet, "spec.tasks[*].template.spec", Embedded{List: true, Optional: true}},
		{taskSet, "spec.jobs[*]", Embedded{List: true, Optional: true}},
		{taskSet, "spec.byName.first", Embedded{Optional: true}},
	} {
		if diff := cmp.Diff(test.want, embedded(t, test.kind, test.path), cmpopts.IgnoreUnexported(Embedded{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
	}
}

func TestObjectHasTheJobWhereItIsLookedFor(t *testing.T) {
	job := map[string]any{"backoffLimit": int64(3)}
	for path, want := range map[string]map[string]any{
		"spec.on-exit":                {"spec": map[string]any{"on-exit": job}},
		"spec.tasks[*].template.spec": {"spec": map[string]any{"tasks": []any{map[string]any{"template": map[string]any{"spec": job}}}}},
		"spec.jobs[*]":                {"spec": map[string]any{"jobs": []any{job}}},
		"spec.whatever.there[*].is":   {"spec": map[string]any{"whatever": map[string]any{"there": []any{map[string]any{"is": job}}}}},
	} {
		if diff := cmp.Diff(want, embedded(t, readCRD(t, "taskset.yaml"), path).Object(job)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func embedded(t *testing.T, k Kind, path string) Embedded {
	t.Helper()
	p, err := ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := k.Resolve(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
