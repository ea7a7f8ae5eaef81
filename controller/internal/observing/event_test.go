package observing

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

func TestVerdictEvent(t *testing.T) {
	pod := fixtures.FailedPod("train-0", 42)
	got := verdictEvent(&observedPod{pod: pod,
		verdict: runtime.MatchedExitCode(pod, 3, batchv1.PodFailurePolicyActionFailJob, &pod.Status.ContainerStatuses[0]),
	}, nil)
	want := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "podverdict.uid-of-train-0"},
		Type:       "Warning", Reason: "PodFailureVerdict", Action: "FailJob", ReportingController: v1alpha1.JobController,
		Note:      "FailJob by rule 3: container main exited with 42",
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "train-0", UID: "uid-of-train-0"},
		Related:   &corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: "default", Name: "train", UID: "uid-of-train"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the event differs (-want +got):\n%s", diff)
	}
}

func TestVerdictEventSays(t *testing.T) {
	pod := fixtures.FailedPod("train-0", 42)
	condition := func(action batchv1.PodFailurePolicyAction) runtime.Verdict {
		return runtime.MatchedCondition(pod, 0, action, &corev1.PodCondition{Type: corev1.DisruptionTarget})
	}
	rules := []runtime.RuleExplanation{{Rule: 0, Because: "it is so"}, {Rule: 1, Because: "it is not"}}
	for _, test := range []struct {
		name    string
		verdict runtime.Verdict
		rules   []runtime.RuleExplanation
		kind    string
		note    string
	}{
		{"FailIndex", condition(batchv1.PodFailurePolicyActionFailIndex), nil, "Warning", "FailIndex by rule 0: condition DisruptionTarget"},
		{"Ignore", condition(batchv1.PodFailurePolicyActionIgnore), nil, "Normal", "Ignore by rule 0: condition DisruptionTarget"},
		{"Count", condition(batchv1.PodFailurePolicyActionCount), nil, "Normal", "Count by rule 0: condition DisruptionTarget"},
		{"no match", runtime.Unmatched(pod), rules, "Normal", "Count: no rule matches: rule 0: it is so; rule 1: it is not"},
		{"no rules", runtime.Unmatched(pod), nil, "Normal", "Count: no rule matches"},
		{"error", runtime.Failure(pod, errors.New("too costly")), nil, "Warning", "Count: error: too costly"},
	} {
		t.Run(test.name, func(t *testing.T) {
			event := verdictEvent(&observedPod{pod: pod, verdict: test.verdict}, test.rules)
			if event.Type != test.kind || event.Note != test.note || event.Action != string(test.verdict.Action) {
				t.Errorf("the event is %s %s: %s", event.Type, event.Action, event.Note)
			}
		})
	}
}

func TestLastSign(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.Unix(int64(second), 0) }
	ended := func(second int) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(second)}}}
	}
	for _, test := range []struct {
		name   string
		status corev1.PodStatus
		want   int
	}{
		{"creation", corev1.PodStatus{}, 10},
		{"a container that runs", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{}}}, 10},
		{"the last container", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended(30), ended(20)}}, 30},
		{"an init container", corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{ended(40)}}, 40},
		{"a condition", corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{ended(30)}, Conditions: []corev1.PodCondition{{LastTransitionTime: at(50)}, {}},
		}, 50},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(10)}, Status: test.status}
			if got := lastSign(pod); got.Unix() != int64(test.want) {
				t.Errorf("it is %d, want %d", got.Unix(), test.want)
			}
		})
	}
}

// TestNotesOfBoth checks that a long note about the Job's own rules does not cut off the note about custom policies, and vice versa.
func TestNotesOfBoth(t *testing.T) {
	long := strings.Repeat("a", 2*recorder.MaxNote)
	for _, test := range []struct{ note, besides, want string }{
		{"own", "", "own"},
		{"own", "besides", "own; besides"},
		{long, "besides", strings.Repeat("a", recorder.MaxNote-9-3) + "...; besides"},
		{"own", long, "own; " + strings.Repeat("a", recorder.MaxNote-5-3) + "..."},
		{long, long, strings.Repeat("a", 511-3) + "...; " + strings.Repeat("a", 511-3) + "..."},
	} {
		if got := joinNotes(test.note, test.besides); got != test.want || len(got) > recorder.MaxNote {
			t.Errorf("%d bytes: %q\nwant %q", len(got), got, test.want)
		}
	}
}

func TestCustomVerdictsAreTold(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	object := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{
		{
			Name: "oom", When: "pod.metadata.name == 'a'", Action: "Ignore", Reason: "OutOfMemory", MessageExpression: "'on ' + pod.spec.nodeName",
			Budget: &v1alpha1.Budget{Limit: 3, Then: "FailJob"},
		},
		{Name: "wrong", When: "true", Action: "Count", MessageExpression: "pod.metadata.labels['none']"},
	}}}
	object.SetDefaults()
	gpu, err := runtime.NewCustomPolicy(environment, object)
	if err != nil {
		t.Fatal(err)
	}
	program := runtime.Join([]*runtime.Policy{gpu}, nil, nil)
	verdict := func(name string) runtime.Verdict {
		pod := fixtures.FailedPod(name, 1)
		pod.Spec.NodeName = "node-1"
		return program.Judge(t.Context(), runtime.Input{Pod: pod})
	}
	oom := verdict("a")
	for _, test := range []struct {
		v    runtime.Verdict
		want string
	}{
		{oom, "Ignore by rule oom of gpu: OutOfMemory: on node-1"},
		{oom.UsedUp(), "FailJob by rule oom of gpu after its budget of 3 per Job: OutOfMemory: on node-1"},
		{verdict("b"), "Count by rule wrong of gpu (its message: spec.rules[1].messageExpression: no such key: labels)"},
	} {
		if got := verdictNote(test.v, nil); got != test.want {
			t.Errorf("the note is %q\nwant %q", got, test.want)
		}
	}
}

// TestRuleErrorOfAManagedJob checks that an error in a rule is reported even if no rule matched.
func TestRuleErrorOfAManagedJob(t *testing.T) {
	o, pod := newTestLoop(t, false, fixtures.OwnJob(fixtures.FailJobOn(42))), fixtures.FailedPod("a", 1)
	o.Judged(pod, runtime.Failure(pod, errors.New("no such key: reason")), nil)
	o.settleAll(t)
	o.expectNotes(t, "a Warning: Count: error: no such key: reason")
}

// TestVerdictEventSaysWhatARetryWouldGet checks that the event describes the retry, using only cached fields.
func TestVerdictEventSaysWhatARetryWouldGet(t *testing.T) {
	memory := &v1alpha1.RetryMemory{Factor: "1.5", Max: "16Gi"}
	for _, test := range []struct {
		retry  *v1alpha1.Retry
		reason string
		want   string
	}{
		{nil, "OOMKilled", ""},
		{&v1alpha1.Retry{Memory: memory}, "OOMKilled", "; the next attempt would get 1.5 times the memory for main, at most 16Gi"},
		{&v1alpha1.Retry{Memory: memory}, "Error", ""},
		{&v1alpha1.Retry{Memory: memory, AvoidNode: "Required"}, "OOMKilled", "; the next attempt would get 1.5 times the memory for main, at most 16Gi, and avoid node-3 (required)"},
		{&v1alpha1.Retry{Memory: memory, AvoidNode: "Preferred"}, "Error", "; the next attempt would avoid node-3 (preferred)"},
	} {
		pod := fixtures.FailedPod("train-0", 137)
		pod.Spec.NodeName, pod.Status.ContainerStatuses[0].State.Terminated.Reason = "node-3", test.reason
		verdict := runtime.MatchedExitCode(pod, 0, batchv1.PodFailurePolicyActionCount, &pod.Status.ContainerStatuses[0])
		verdict.Policy, verdict.RuleName, verdict.Retry = "training", "oom", test.retry
		event := verdictEvent(&observedPod{pod: pod, verdict: runtime.Unmatched(pod), would: []binding.Would{{Verdict: verdict, NotCarriedOut: "nobody"}}}, nil)
		const before = "Count: no rule matches; would: Count by rule oom of training; nobody carries it out: nobody"
		if want := before + test.want; event.Note != want {
			t.Errorf("the event says %s\nwant           %s", event.Note, want)
		}
	}
}
