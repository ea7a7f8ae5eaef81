package snapshot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// start is the time at which the first Pod failed; the others fail at intervals of a minute.
var start = time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)

// failed returns the nth Pod of the Job, which failed with an exit code.
func failed(n int, code int32) *corev1.Pod {
	created, finished := metav1.NewTime(start.Add(time.Duration(n-1)*time.Minute)), metav1.NewTime(start.Add(time.Duration(n)*time.Minute-time.Second))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", n), Namespace: "batch", CreationTimestamp: created}}
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: finished}},
	}}
	return pod
}

func newJob() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "batch"}}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "main"}}}
	job.Spec.ManagedBy = ptr.To(v1alpha1.JobController)
	jobdefaults.Set(job)
	return job
}

// rulesOf returns the rules of one custom policy for a Job.
func rulesOf(t *testing.T, job *batchv1.Job, rules ...v1alpha1.Rule) snapshot.Rules {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]*runtime.Policy{}
	var bindings []*v1alpha1.PodFailurePolicyBinding
	if len(rules) > 0 {
		policy := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Spec: v1alpha1.PodFailurePolicySpec{Rules: rules}}
		policy.SetDefaults()
		if policies["policy"], err = runtime.NewCustomPolicy(environment, policy); err != nil {
			t.Fatal(err)
		}
		bound := &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "binding"}}
		bound.Spec = v1alpha1.PodFailurePolicyBindingSpec{PolicyName: "policy", Mode: v1alpha1.ModeEnforce}
		bound.SetDefaults()
		bindings = append(bindings, bound)
	}
	set, err := binding.NewSet(policies, bindings)
	if err != nil {
		t.Fatal(err)
	}
	book := snapshot.NewRulebook(environment, func(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
		return set.For(ctx, job, nil), nil
	})
	found, err := book.For(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDecisions(t *testing.T) {
	twice := v1alpha1.Rule{Name: "twice", When: "true", Action: "Ignore", Budget: &v1alpha1.Budget{Limit: 2, Then: "FailJob"}}
	third := v1alpha1.Rule{Name: "third", When: "attempts.size() == 2 && attempts[0].rule == 'other'", Action: "FailJob"}
	other := v1alpha1.Rule{Name: "other", When: "pod.failedContainers().exists(c, c.exitCode == 3)", Action: "Ignore"}
	recorded := &runtime.Verdict{Terminal: true, Action: "FailIndex", Matched: true, Policy: "earlier", RuleName: "rule"}
	pods := func(n int) (all []snapshot.Pod) {
		for i := range n {
			all = append(all, snapshot.Pod{Object: failed(i+1, 3)})
		}
		return all
	}
	for name, c := range map[string]struct {
		rules   []v1alpha1.Rule
		job     *batchv1.Job
		missing snapshot.Missing
		pods    []snapshot.Pod
		want    string // for each Pod its attempt, its action, and the number of unknown earlier attempts
	}{
		"no rules":                            {nil, newJob(), snapshot.Missing{}, pods(2), "1:Count 2:Count"},
		"a budget":                            {[]v1alpha1.Rule{twice}, newJob(), snapshot.Missing{}, pods(4), "1:Ignore 2:Ignore 3:FailJob 4:FailJob"},
		"a budget, not all Pods read":         {[]v1alpha1.Rule{twice}, newJob(), snapshot.Missing{Pods: true}, pods(3), "1:Ignore 2:Ignore 3:Ignore"},
		"a budget, order unknown":             {[]v1alpha1.Rule{twice}, nil, snapshot.Missing{Order: true}, pods(3), "1:Ignore 2:Ignore 3:Ignore"},
		"a budget, by finish time":            {[]v1alpha1.Rule{twice}, newJob(), snapshot.Missing{}, []snapshot.Pod{{Object: failed(3, 3)}, {Object: failed(1, 3)}, {Object: failed(2, 3)}}, "3:FailJob 1:Ignore 2:Ignore"},
		"a recorded verdict stays":            {[]v1alpha1.Rule{twice}, newJob(), snapshot.Missing{}, append(pods(2), snapshot.Pod{Object: failed(3, 3), Recorded: recorded}), "1:Ignore 2:Ignore 3:FailIndex"},
		"scenarios are each the first":        {[]v1alpha1.Rule{twice, third}, newJob(), snapshot.Missing{}, []snapshot.Pod{{Object: failed(2, 3), First: true}, {Object: failed(3, 3), First: true}}, "1:Ignore 1:Ignore"},
		"earlier attempts name their rules":   {[]v1alpha1.Rule{third, other}, newJob(), snapshot.Missing{}, pods(3), "1:Ignore 2:Ignore 3:FailJob"},
		"earlier attempts, order unknown":     {[]v1alpha1.Rule{third, other}, nil, snapshot.Missing{Order: true}, pods(3), "1:Ignore 2:Ignore 3:Ignore"},
		"numbers given by the source":         {[]v1alpha1.Rule{third, other}, newJob(), snapshot.Missing{}, []snapshot.Pod{{Object: failed(1, 3), Attempt: 7}}, "7:Ignore"},
		"nobody decides":                      {nil, nil, snapshot.Missing{Order: true, Decider: true}, pods(1), "1:"},
		"earlier attempts that are not there": {[]v1alpha1.Rule{third, other}, newJob(), snapshot.Missing{}, []snapshot.Pod{{Object: after(2, failed(1, 3))}}, "3:Ignore(2)"},
	} {
		job := newJob()
		if c.job == nil {
			job = &batchv1.Job{}
		}
		rules := rulesOf(t, job, c.rules...)
		if c.job == nil {
			rules.Effect = rules.Selection.Effect(rules.Own, true, "")
		}
		s := snapshot.New(c.job, rules, start, c.missing, c.pods...)
		var got []string
		for i, d := range s.Decisions(t.Context()) {
			word := fmt.Sprintf("%d:%s", s.Pods[i].Attempt, d.Verdict.Action)
			if d.EarlierUnknown > 0 {
				word += fmt.Sprintf("(%d)", d.EarlierUnknown)
			}
			got = append(got, word)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// after annotates a Pod with the number of earlier failures of its index.
func after(failures int, pod *corev1.Pod) *corev1.Pod {
	pod.Annotations = map[string]string{batchv1.JobIndexFailureCountAnnotation: fmt.Sprint(failures)}
	return pod
}

// TestBesideSeesEarlierAttempts checks that rules without effect also see earlier attempts, even in the first call on a Snapshot.
func TestBesideSeesEarlierAttempts(t *testing.T) {
	job := newJob()
	job.Spec.ManagedBy = nil
	third := v1alpha1.Rule{Name: "third", When: "attempts.size() == 2", Action: "FailJob"}
	s := snapshot.New(job, rulesOf(t, job, third), start, snapshot.Missing{}, snapshot.Pod{Object: failed(3, 3)}, snapshot.Pod{Object: failed(1, 3)}, snapshot.Pod{Object: failed(2, 3)})
	if would := s.Beside(t.Context(), 0).Would; len(would) != 1 || would[0].Verdict.RuleName != "third" {
		t.Errorf("got %+v, want FailJob by rule third", would)
	}
}

// TestOutlook checks that the outlook of a Job counts all of its Pods, or only the given ones.
func TestOutlook(t *testing.T) {
	job := newJob()
	job.Spec.BackoffLimit = ptr.To[int32](1)
	s := snapshot.New(job, rulesOf(t, job), start.Add(time.Hour), snapshot.Missing{}, snapshot.Pod{Object: failed(1, 3)}, snapshot.Pod{Object: failed(2, 3)})
	for _, c := range []struct {
		only []int
		want string
	}{{nil, "2 used, Fails"}, {[]int{1}, "1 used, Creates"}} {
		outlook := s.Outlook(t.Context(), c.only...)
		if got := fmt.Sprintf("%d used, %s", outlook.Failures.Used, outlook.Next.Does); got != c.want {
			t.Errorf("outlook of %v: %s, want %s", c.only, got, c.want)
		}
	}
}

// TestNextAttempts checks that a rule with a retry gives the next attempt more memory, and that no attempt follows a Pod that fails the
// Job.
func TestNextAttempts(t *testing.T) {
	job := newJob()
	retry := v1alpha1.Rule{Name: "retry", When: "pod.failedContainers().exists(c, c.exitCode == 3)", Action: "Count", Retry: &v1alpha1.Retry{AvoidNode: v1alpha1.AvoidPreferred}}
	fatal := v1alpha1.Rule{Name: "fatal", When: "true", Action: "FailJob"}
	first, second := failed(1, 3), failed(2, 4)
	first.Spec.NodeName = "worker-1"
	s := snapshot.New(job, rulesOf(t, job, retry, fatal), start, snapshot.Missing{}, snapshot.Pod{Object: first}, snapshot.Pod{Object: second})
	next := s.NextAttempts(t.Context())
	if len(next) != 2 || next[0].Last || len(next[0].Retries["policy/retry"].Nodes) != 1 || !next[1].Last || next[1].Decided.RuleName != "fatal" {
		t.Errorf("got %+v", next)
	}
	if got := snapshot.New(job, rulesOf(t, job), start, snapshot.Missing{}, snapshot.Pod{Object: failed(1, 3)}).NextAttempts(t.Context()); got != nil {
		t.Errorf("without policies: %+v, want none", got)
	}
}
