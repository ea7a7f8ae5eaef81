package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

// TestSuggestedSavingsAreExact computes the savings printed by suggest from the verdicts of eval --policy.
func TestSuggestedSavingsAreExact(t *testing.T) {
	skipWithRace(t)
	for _, test := range []struct {
		name string
		seed uint64
		pods int
		args []string
		of   func(*batchv1.Job) bool
	}{
		{"Jobs without rules", 3, 2000, nil, func(j *batchv1.Job) bool {
			return j.Spec.PodFailurePolicy == nil && j.Spec.BackoffLimitPerIndex == nil
		}},
		{"indexes that have rules", 4, 12000, []string{"--owner", "search/job/crawl-*"}, func(j *batchv1.Job) bool {
			return strings.HasPrefix(j.Name, "crawl-")
		}},
		{"a custom policy", 5, 2000, []string{"--custom"}, func(*batchv1.Job) bool { return true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.pods > 2000 {
				t.Skip("takes 10 s")
			}
			fleet := dataset.Generate(test.seed, dataset.Options{Pods: test.pods, Plant: []string{"code", "disruption"}})
			input, policy := filepath.Join(t.TempDir(), "fleet.ndjson"), filepath.Join(t.TempDir(), "policy.yaml")
			file, err := os.Create(input)
			if err != nil {
				t.Fatal(err)
			}
			if err := dataset.Write(file, fleet.Records); err != nil {
				t.Fatal(err)
			}
			file.Close()
			args := append([]string{"suggest", input}, test.args...)
			var made evidence.Suggestion
			decode(t, podverdict(t, append(args, "-o", "json")...), &made)
			text := podverdict(t, args...)
			if err := os.WriteFile(policy, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if len(made.Rules) != 2 {
				t.Errorf("not two rules:\n%s", text)
			}
			before, after := actionsOf(t, input, policy, made.Policy != nil)
			want := effectOf(fleet.Records, test.of, before, after)
			cpu, _ := strconv.ParseInt(made.Effect.Reserved["cpu"].String(), 10, 64)
			got := plainEffect{made.Effect.Jobs, made.Effect.Indexes, made.Effect.Lost, made.Effect.Ignored, made.Effect.Saved, cpu}
			if got != want || want.lost != 0 || want.saved == 0 {
				t.Errorf("suggest says %+v, and eval %+v", got, want)
			}
		})
	}
}

// actionsOf returns the actions by Pod name, without and with a suggested policy. A custom policy is evaluated in audit mode.
func actionsOf(t *testing.T, input, policy string, custom bool) (before, after map[string]string) {
	t.Helper()
	type verdict struct{ Action string }
	var verdicts struct {
		Items []struct {
			Pod     struct{ Name string }
			Verdict verdict
			Audit   *verdict
			Before  *struct{ Verdict verdict }
		}
	}
	args := []string{"eval", input, "--policy", policy, "-o", "json"}
	if custom {
		podverdict(t, "check", policy)
		args = []string{"eval", input, policy, "-o", "json"}
	}
	decode(t, podverdict(t, args...), &verdicts)
	before, after = map[string]string{}, map[string]string{}
	for _, i := range verdicts.Items {
		before[i.Pod.Name], after[i.Pod.Name] = i.Verdict.Action, i.Verdict.Action
		if i.Audit != nil {
			after[i.Pod.Name] = i.Audit.Action
		}
		if i.Before != nil {
			before[i.Pod.Name] = i.Before.Verdict.Action
		}
	}
	return before, after
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// podverdict runs the program and returns its output.
func podverdict(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"podverdict"}, args...), strings.NewReader(""), &stdout, &stderr); code != cli.ExitFine {
		t.Fatalf("%v: exit code %d\n%s", args, code, stderr.String())
	}
	return stdout.Bytes()
}

type plainEffect struct {
	jobs, indexes, lost, ignored, saved, cpu int64
}

// effectOf defines an Effect: the changes that verdicts, given by Pod name, would have made to some Jobs.
func effectOf(records []gathering.Record, of func(*batchv1.Job) bool, before, after map[string]string) plainEffect {
	jobs, pods := map[string]*batchv1.Job{}, map[string][]*corev1.Pod{}
	for _, r := range records {
		if r.Job != nil {
			jobs[r.Job.Name] = r.Job
		} else if name := r.Pod.Labels[batchv1.JobNameLabel]; r.Pod.Status.Phase == corev1.PodFailed || r.Pod.Status.Phase == corev1.PodSucceeded {
			pods[name] = append(pods[name], r.Pod)
		}
	}
	end := func(p *corev1.Pod) time.Time { return p.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time }
	var e plainEffect
	for name, job := range jobs {
		if !of(job) {
			continue
		}
		slices.SortFunc(pods[name], func(a, b *corev1.Pod) int { return cmp.Or(end(a).Compare(end(b)), cmp.Compare(a.Name, b.Name)) })
		ends := map[string]time.Time{} // the Job's end under "job", and the ends of its indexes
		index := func(p *corev1.Pod) string { return p.Annotations[batchv1.JobCompletionIndexAnnotation] }
		succeeded := map[string]bool{}
		for _, p := range pods[name] {
			if p.Status.Phase == corev1.PodSucceeded {
				succeeded[index(p)] = true
			}
		}
		completed := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobComplete })
		for _, p := range pods[name] {
			started := func(by string) bool { return !ends[by].IsZero() && !p.Status.StartTime.Time.Before(ends[by]) }
			if started("job") || started("index "+index(p)) {
				e.saved++
				request := p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
				e.cpu += request.MilliValue() * end(p).Sub(p.Status.StartTime.Time).Milliseconds()
				continue
			}
			action := after[p.Name]
			switch {
			case action == before[p.Name] || !ends["job"].IsZero():
			case action == "FailJob":
				ends["job"] = end(p)
				e.jobs++
				if completed {
					e.lost++
				}
			case action == "FailIndex" && ends["index "+index(p)].IsZero():
				ends["index "+index(p)] = end(p)
				e.indexes++
				if succeeded[index(p)] {
					e.lost++
				}
			case action == "Ignore":
				e.ignored++
			}
		}
	}
	return e
}
