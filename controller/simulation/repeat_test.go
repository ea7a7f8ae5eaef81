package simulation

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/podverdict/podverdict/runtime"
)

const large = "completions: 600\nparallelism: 40\ncompletionMode: Indexed\nbackoffLimitPerIndex: 2\nmaxFailedIndexes: 600" + policy

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	text := func(seed uint64) string {
		o := newOptions(t, large, "")
		o.Script, o.Seed = Random(0.3), seed
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := text(1)
	if text(1) != first {
		t.Error("the same seed gives another result")
	}
	if text(2) == first {
		t.Error("another seed gives the same result")
	}
}

// TestForgottenPodsMeanNothing tests that pods without effect on the controller may be removed: the Job's life does not
// change.
func TestForgottenPodsMeanNothing(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		rate       float64
	}{
		{"per index", large, 0.2},
		{"for all", "completions: 600\nparallelism: 40\nbackoffLimit: 1000" + policy, 0.2},
		{"one by one", "completions: 400\nparallelism: 3\ncompletionMode: Indexed\nbackoffLimit: 1000" + policy, 0.2},
		{"long back-offs", "completions: 60\nparallelism: 20\nbackoffLimit: 10000" + policy, 0.95},
	} {
		if testing.Short() && test.name != "one by one" {
			continue // a second or more each
		}
		t.Run(test.name, func(t *testing.T) {
			var results []*Result
			for _, keepAll := range []bool{false, true} {
				o := newOptions(t, test.spec, "")
				o.Script, o.Until = Random(test.rate), 1000*time.Hour
				s, err := newSimulator(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				s.keepAll = keepAll
				r, err := s.run()
				if err != nil {
					t.Fatal(err)
				}
				if !keepAll && len(s.lives) > 400 {
					t.Errorf("%d pods are left", len(s.lives))
				}
				results = append(results, r)
			}
			ignored := cmpopts.IgnoreUnexported(runtime.Verdict{})
			if diff := cmp.Diff(results[1], results[0], ignored); diff != "" {
				t.Errorf("(-all +some):\n%.3000s", diff)
			}
		})
	}
}

// TestRandomLives tests that the invariants always hold, and that the Job ends or waits for an event.
func TestRandomLives(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		o := newOptions(t, randomSpec(random), randomEvents(random))
		o.Script.Pods, o.Script.Nodes, o.Seed, o.Until = Random(random.Float64()).Pods, 3, seed, 3*time.Hour
		if lived(t, o).Outcome == Unfinished && o.Job.Spec.ActiveDeadlineSeconds != nil && !lastSuspended(o) {
			t.Errorf("seed %d: the Job %+v does not end", seed, o.Job.Spec)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %+v %+v", seed, o.Job.Spec, o.Script)
		}
	}
}

func lastSuspended(o Options) bool {
	events := o.Script.Events
	return len(events) > 0 && events[len(events)-1].Suspend != nil && *events[len(events)-1].Suspend
}

func randomSpec(random *rand.Rand) string {
	specs := []string{
		"completions: 9\nparallelism: 4\nactiveDeadlineSeconds: 5000",
		"completions: 9\nparallelism: 4\nactiveDeadlineSeconds: 5000\nbackoffLimit: 20" + policy,
		"completions: 9\nparallelism: 9\nactiveDeadlineSeconds: 5000\ncompletionMode: Indexed\nbackoffLimitPerIndex: 1\nmaxFailedIndexes: 4" + policy,
		"completions: 9\nparallelism: 3\nactiveDeadlineSeconds: 5000\ncompletionMode: Indexed\nsuccessPolicy: {rules: [{succeededCount: 5}]}",
		"parallelism: 5\nactiveDeadlineSeconds: 5000\npodReplacementPolicy: Failed",
		"completions: 6\nparallelism: 6\nactiveDeadlineSeconds: 5000\ncompletionMode: Indexed\nbackoffLimit: 30" + policy,
		"completions: 6\nparallelism: 6\nactiveDeadlineSeconds: 5000\ncompletionMode: Indexed\nbackoffLimitPerIndex: 3\npodReplacementPolicy: TerminatingOrFailed",
		"completions: 3\nparallelism: 2\nactiveDeadlineSeconds: 5000\ntemplate: {spec: {restartPolicy: OnFailure, containers: [{name: main}]}}",
	}
	return specs[random.IntN(len(specs))]
}

func randomEvents(random *rand.Rand) string {
	events := []string{
		"", "events: [{at: 1m-10m, delete: 0-3}, {at: 5m, evict: 2+}]", "events: [{at: 10s-5m, drain: node-1}]",
		"events: [{at: 1s-2m, suspend: true}, {at: 10m, suspend: false}]", "events: [{at: 2m, suspend: true}]",
		"events: [{at: 1m, parallelism: 1}, {at: 3m, parallelism: 3}]",
		"events: [{at: 30s, delete: 0+}, {at: 31s, suspend: true}, {at: 40s, suspend: false}, {at: 41s, evict: 0+}]",
	}
	return events[random.IntN(len(events))]
}

func BenchmarkADayOfTenThousandIndexes(b *testing.B) {
	o := newOptions(b, "completions: 10000\nparallelism: 200\ncompletionMode: Indexed\nbackoffLimitPerIndex: 3\nmaxFailedIndexes: 10000"+policy,
		"pods: [{probability: 0.05, run: 5m-30m, exitCode: 1}, {probability: 0.05, run: 5m-30m, condition: DisruptionTarget}, {run: 10m-30m}]")
	for b.Loop() {
		r, err := Run(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		if r.Outcome == Unfinished || r.Status.Succeeded < 9000 {
			b.Fatal(told(r))
		}
		b.ReportMetric(float64(r.Summary.Plans), "plans")
		b.ReportMetric(float64(r.Seconds)/3600, "hours")
	}
}

// TestPlansAndProgress tests that a Plan is made after an event and once more after its creations; everything else waits.
// Progress reports all pods.
func TestPlansAndProgress(t *testing.T) {
	options := newOptions(t, "completions: 300\nparallelism: 30\ncompletionMode: Indexed\nbackoffLimitPerIndex: 9",
		"pods: [{probability: 0.1, run: 10s-2m, exitCode: 1}, {run: 30s-5m}]")
	seen := 0
	options.Progress = func(pods int) { seen += pods }
	r, err := Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if seen != r.Summary.Pods {
		t.Errorf("told of %d pods of %d", seen, r.Summary.Pods)
	}
	if r.Summary.Plans > r.Summary.Writes+10 {
		t.Errorf("%d plans for %d writes", r.Summary.Plans, r.Summary.Writes)
	}
}
