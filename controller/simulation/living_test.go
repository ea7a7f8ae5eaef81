package simulation

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// newLivingOptions returns the options of newOptions with the rules of a policy named start, bound before those of the
// Job. The binding sets Delete, and the given fields.
func newLivingOptions(t testing.TB, spec, script, rules, bound string) Options {
	t.Helper()
	o := newOptions(t, spec, script)
	policy := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "start"}}
	if err := yaml.UnmarshalStrict([]byte("rules: "+rules), &policy.Spec); err != nil {
		t.Fatal(err)
	}
	policy.SetDefaults()
	b := &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "start"}}
	b.Spec.PolicyName, b.Spec.LivingPods = "start", slices.Clone(v1alpha1.LivingPhases)
	if err := yaml.UnmarshalStrict([]byte(bound), &b.Spec); err != nil {
		t.Fatal(err)
	}
	b.SetDefaults()
	environment, err := language()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := runtime.NewCustomPolicy(environment, policy)
	if err != nil {
		t.Fatal(err)
	}
	set, err := binding.NewSet(map[string]*runtime.Policy{"start": compiled}, []*v1alpha1.PodFailurePolicyBinding{b})
	if err != nil {
		t.Fatal(err)
	}
	o.Selection = set.For(t.Context(), o.Job, nil)
	o.Program = o.Selection.Effect(o.Program, true, v1alpha1.JobController).Acting
	return o
}

// onWaiting returns rules on pods that wait for an image, or for a node, for more than ten minutes.
func onWaiting(more string) string {
	return "[{name: image, phase: Pending, reason: ImageUnavailable, " + more + ", when: \"'ImagePullBackOff' in pod.waitingReasons() && " +
		"pod.pendingFor(now) > duration('10m')\"}, {name: room, phase: Pending, " + more +
		", when: \"pod.unschedulable() && pod.pendingFor(now) > duration('10m')\"}]"
}

const (
	noImage = "pods: [{pending: forever, waiting: ImagePullBackOff}]"
	noNode  = "pods: [{pending: forever, unschedulable: true}]"
)

func TestRulesOnPending(t *testing.T) {
	const indexed = "completions: 3\nparallelism: 3\ncompletionMode: Indexed\nbackoffLimitPerIndex: 5"
	const oneContainer = "template: {spec: {restartPolicy: Never, containers: [{name: main}]}}\n"
	failJob := onWaiting("action: FailJob")
	for _, test := range []struct{ name, job, script, rules, bound, want string }{
		{
			"no image: the kubelet ends the pod", oneContainer + "completions: 1", noImage, failJob, "",
			"Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"no node: the garbage collector does", "completions: 1", noNode, failJob, "",
			"Failed PodFailurePolicy after 10m30s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"another container runs, and is told to stop", "completions: 1",
			"pods: [{pending: forever, waiting: ImagePullBackOff, stop: 12s}]", failJob, "",
			"Failed PodFailurePolicy after 10m22s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"what does not run need not stop", oneContainer + "completions: 1",
			"pods: [{pending: forever, waiting: ImagePullBackOff, stop: 12s}]", failJob, "",
			"Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"it starts in time", "completions: 1", "pods: [{pending: 10m10s, waiting: ImagePullBackOff}]", failJob, "",
			"Complete CompletionsReached after 10m40s: succeeded 1, failed 0",
		},
		{
			"it starts when it is looked at first", "completions: 1", "pods: [{pending: 10s, unschedulable: true}]",
			"[{name: any, phase: Pending, when: 'true', action: FailJob}]", "",
			"Complete CompletionsReached after 40s: succeeded 1, failed 0",
		},
		{
			"and a second late", "completions: 1", "pods: [{pending: 10m11s, waiting: ImagePullBackOff}]", failJob, "",
			"Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"it waits for something else", "completions: 1", "pods: [{pending: 1h, waiting: CreateContainerError}]", failJob, "",
			"Complete CompletionsReached after 1h0m30s: succeeded 1, failed 0",
		},
		{
			"the second attempt starts", "completions: 1\nbackoffLimit: 0", "pods: [{attempt: 1, pending: forever, unschedulable: true}]",
			onWaiting("action: Ignore, retryDelay: 1m"), "",
			"Complete CompletionsReached after 11m41s: succeeded 1, failed 0, verdicts [Ignore:1]",
		},
		{
			"a budget", "completions: 1", noNode, onWaiting("action: Ignore, retryDelay: 0s, budget: {limit: 2, then: FailJob}"), "",
			"Failed PodFailurePolicy after 31m30s: succeeded 0, failed 1, verdicts [FailJob:1 Ignore:2]",
		},
		{
			"the number of the attempt", "completions: 1", noNode, "[{name: second, phase: Pending, when: attempt == 2, action: FailJob}, " +
				"{name: first, phase: Pending, when: 'true', action: Count}]", "",
			"Failed PodFailurePolicy after 1m: succeeded 0, failed 2, verdicts [Count:1 FailJob:1]",
		},
		{
			"an index", indexed, "pods: [{index: 1, pending: forever, unschedulable: true}]", onWaiting("action: FailIndex"), "",
			"Failed FailedIndexes after 10m30s: succeeded 2, failed 1, completed 0,2, failed indexes 1, verdicts [FailIndex:1]",
		},
		{
			"no node is left", "completions: 1", "events: [{at: 0s, drain: node-0}]", failJob, "",
			"Failed PodFailurePolicy after 10m30s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"an init container that runs", "completions: 1\ntemplate: {spec: {restartPolicy: Never, initContainers: [{name: prepare}], containers: [{name: main}]}}",
			"pods: [{run: 1h, exitCodes: {prepare: 1}}]", "[{name: late, phase: Pending, when: pod.pendingFor(now) > duration('1m'), action: FailJob}]", "",
			"Failed PodFailurePolicy after 1m11s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"a suspended Job waits for nothing", "completions: 1", noNode + "\nevents: [{at: 5m, suspend: true}, {at: 1h, suspend: false}]", failJob, "",
			"Failed PodFailurePolicy after 1h10m30s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{"an audit", "completions: 1", noImage, failJob, "mode: Audit", "Unfinished  after 24h: succeeded 0, failed 0"},
		{"pods are left alone", "completions: 1", noImage, failJob, "livingPods: []", "Unfinished  after 24h: succeeded 0, failed 0"},
		{
			"nobody can tell", "completions: 1", noImage,
			"[{name: broken, phase: Pending, when: \"pod.status.containerStatuses[5].name == ''\", action: FailJob}]", "",
			"Unfinished  after 24h: succeeded 0, failed 0",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := lived(t, newLivingOptions(t, test.job, test.script, test.rules, test.bound))
			if got := told(r); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestEndedPodsOfNativeJobs tests that in Jobs run by Kubernetes, custom rules end pods, and the Job's own rules decide
// the consequences. They can name the condition.
func TestEndedPodsOfNativeJobs(t *testing.T) {
	const own = "\npodFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: podverdict.io/FailingToStart}]}]}"
	const byCode = "\npodFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [137]}}]}"
	for _, test := range []struct{ name, job, script, want string }{
		{"the condition", "completions: 1" + own, noImage, "Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]"},
		{"without a node", "completions: 1" + own, noNode, "Failed PodFailurePolicy after 10m30s: succeeded 0, failed 1, verdicts [FailJob:1]"},
		{
			"the exit code that the kubelet gives", "completions: 1" + byCode, noImage,
			"Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]",
		},
		{
			"no rules: counted when it is deleted", "completions: 1\nbackoffLimit: 1", noNode,
			"Failed BackoffLimitExceeded after 20m30s: succeeded 0, failed 2, verdicts [Count:2]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newLivingOptions(t, test.job, test.script, onWaiting("action: Ignore"), "")
			o.Program = newOptions(t, test.job, test.script).Program
			if got := told(lived(t, o)); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestRuleErrorsAreToldOnce tests that rules that cannot be evaluated are reported once per pod.
func TestRuleErrorsAreToldOnce(t *testing.T) {
	r := lived(t, newLivingOptions(t, "completions: 2\nparallelism: 2", noImage,
		"[{name: broken, phase: Pending, when: \"pod.status.containerStatuses[5].name == ''\", action: FailJob}]", ""))
	var errs []string
	for _, e := range r.Events {
		if e.Reason == reasonRuleError {
			errs = append(errs, e.Message)
		}
	}
	const said = "PodFailurePolicy start: spec.rules[0].when: index out of bounds: 5"
	if diff := cmp.Diff([]string{said, said}, errs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNobodyLooksForNothing tests that pods are not evaluated if no rule could end them, and that an evaluation without
// effect makes no Plan.
func TestNobodyLooksForNothing(t *testing.T) {
	for name, test := range map[string]struct {
		o     Options
		steps int
	}{
		"no rules":        {newOptions(t, "completions: 1", noImage), 0},
		"rules on failed": {newLivingOptions(t, "completions: 1", noImage, "[{name: a, when: 'true', action: Count}]", ""), 0},
		"only reported":   {newLivingOptions(t, "completions: 1", noImage, onWaiting("action: Count"), "livingPods: []"), 8640},
		"looked at":       {newLivingOptions(t, "completions: 1", noImage, "[{name: never, phase: Pending, when: 'false', action: Count}]", ""), 8640},
	} {
		s, err := newSimulator(t.Context(), test.o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		if s.sequence-len(s.items) != test.steps || r.Summary.Plans > 5 {
			t.Errorf("%s: %d steps, want %d, and %d plans", name, s.sequence-len(s.items), test.steps, r.Summary.Plans)
		}
	}
}

// impatient is a context that is done after a number of calls of Err.
type impatient struct {
	context.Context

	left int
}

func (c *impatient) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestInterruptedWhilePodsWait(t *testing.T) {
	o := newLivingOptions(t, "completions: 1", noImage, "[{name: never, phase: Pending, when: 'false', action: Count}]", "")
	o.Until = 1000 * time.Hour
	if _, err := Run(&impatient{t.Context(), 1000}, o); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v", err)
	}
}

// TestRandomLivesWithRules tests that the invariants hold, whatever keeps pods from starting, and whatever rules apply.
func TestRandomLivesWithRules(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	waits := newScript(t, `pods:
- {probability: 0.2, pending: 10s-20m, waiting: ImagePullBackOff, stop: 1s-1m, run: 1m}
- {probability: 0.2, pending: forever, unschedulable: true}
- {probability: 0.1, pending: 0s-1m, waiting: ContainerCreating, exitCode: 1}`).Pods
	actions := []string{"action: Ignore, retryDelay: 30s", "action: Count", "action: FailIndex", "action: Ignore, budget: {limit: 2, then: FailJob}"}
	bindings := []string{"", "position: After", "mode: Audit"}
	seeds := uint64(100)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		spec := randomSpec(random)
		o := newLivingOptions(t, spec, randomEvents(random), onWaiting(actions[random.IntN(len(actions))]), bindings[random.IntN(len(bindings))])
		if random.IntN(3) == 0 {
			o.Program = newOptions(t, spec, "").Program // run by Kubernetes
		}
		o.Script.Pods, o.Script.Nodes, o.Seed, o.Until = append(slices.Clone(waits), Random(random.Float64()).Pods...), 3, seed, 3*time.Hour
		if lived(t, o).Outcome == Unfinished && !lastSuspended(o) {
			t.Errorf("seed %d: the Job %+v does not end", seed, o.Job.Spec)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %+v %+v", seed, o.Job.Spec, o.Script)
		}
	}
}
