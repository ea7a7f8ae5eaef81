package plan

import (
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// epoch is the start time of the tests.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns a time some seconds after the epoch.
func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

// jobBuilder builds a Job step by step. Each step returns a copy.
type jobBuilder struct{ j *batchv1.Job }

func (b jobBuilder) job() *batchv1.Job { return b.j.DeepCopy() }

func (b jobBuilder) with(change func(*batchv1.Job)) jobBuilder {
	changed := b.job()
	change(changed)
	return jobBuilder{changed}
}

// newJob returns a Job with the API's defaults.
func newJob(completions *int32, parallelism int32) jobBuilder {
	return jobBuilder{&batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "job-uid", ResourceVersion: "1", CreationTimestamp: at(0)},
		Spec: batchv1.JobSpec{
			Completions:          completions,
			Parallelism:          &parallelism,
			BackoffLimit:         new(int32(6)),
			CompletionMode:       new(batchv1.NonIndexedCompletion),
			Suspend:              new(false),
			PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "train"}},
				Spec: corev1.PodSpec{
					RestartPolicy:  corev1.RestartPolicyNever,
					InitContainers: []corev1.Container{{Name: "prepare"}},
					Containers:     []corev1.Container{{Name: "main"}},
				},
			},
		},
	}}
}

func nonIndexed(completions, parallelism int32) jobBuilder { return newJob(&completions, parallelism) }

func workQueue(parallelism int32) jobBuilder { return newJob(nil, parallelism) }

func indexed(completions, parallelism int32) jobBuilder {
	return newJob(&completions, parallelism).with(func(j *batchv1.Job) {
		j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	})
}

// perIndex returns an Indexed Job with a limit per index.
func perIndex(completions, parallelism, limit int32) jobBuilder {
	return indexed(completions, parallelism).with(func(j *batchv1.Job) {
		j.Spec.BackoffLimit = new(int32(1<<31 - 1))
		j.Spec.BackoffLimitPerIndex = &limit
	})
}

func (b jobBuilder) backoffLimit(n int32) jobBuilder {
	return b.with(func(j *batchv1.Job) { j.Spec.BackoffLimit = &n })
}

func (b jobBuilder) policy() jobBuilder {
	return b.with(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
		j.Spec.PodReplacementPolicy = new(batchv1.Failed)
	})
}

func (b jobBuilder) replaceFailed() jobBuilder {
	return b.with(func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = new(batchv1.Failed) })
}

func (b jobBuilder) suspended() jobBuilder {
	return b.with(func(j *batchv1.Job) { j.Spec.Suspend = new(true) })
}

func (b jobBuilder) started() jobBuilder {
	return b.with(func(j *batchv1.Job) { j.Status.StartTime = new(at(0)) })
}

func (b jobBuilder) annotated(name, value string) jobBuilder {
	return b.with(func(j *batchv1.Job) { metav1.SetMetaDataAnnotation(&j.ObjectMeta, name, value) })
}

// ledger sets the text of the Job's ledger.
func (b jobBuilder) ledger(text string) jobBuilder {
	return b.status(func(s *batchv1.JobStatus) {
		n := next{status: *s, view: &view{}}
		n.setCondition(LedgerCondition, corev1.ConditionTrue, ledgerFormat, text)
		*s = n.status
	})
}

func (b jobBuilder) status(change func(*batchv1.JobStatus)) jobBuilder {
	return b.with(func(j *batchv1.Job) { change(&j.Status) })
}

func (b jobBuilder) condition(kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) jobBuilder {
	return b.status(func(s *batchv1.JobStatus) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: kind, Status: status, Reason: reason, Message: message})
	})
}

// podBuilder changes a pod step by step.
type podBuilder struct{ p *corev1.Pod }

// podOf returns a pending pod as the controller would create it.
func podOf(b jobBuilder, slot, attempt int) podBuilder {
	j := b.j
	name := newNamer(j).name(slot, attempt)
	p := podBuilder{&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: j.Namespace, Name: name, UID: types.UID("uid-" + name), ResourceVersion: "1", CreationTimestamp: at(0),
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
	if ptr.Deref(j.Spec.CompletionMode, "") == batchv1.IndexedCompletion {
		p.annotated(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(slot))
	}
	return p
}

func (b podBuilder) with(change func(*corev1.Pod)) podBuilder {
	change(b.p)
	return b
}

func (b podBuilder) annotated(name, value string) podBuilder {
	return b.with(func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, name, value) })
}

func (b podBuilder) failures(n int) podBuilder {
	return b.annotated(batchv1.JobIndexFailureCountAnnotation, strconv.Itoa(n))
}

func (b podBuilder) ignored(n int) podBuilder {
	return b.annotated(batchv1.JobIndexIgnoredFailureCountAnnotation, strconv.Itoa(n))
}

func (b podBuilder) name(name string) podBuilder {
	return b.with(func(p *corev1.Pod) { p.Name, p.UID = name, types.UID("uid-"+name) })
}

func (b podBuilder) released() podBuilder { return b.with(func(p *corev1.Pod) { p.Finalizers = nil }) }

func (b podBuilder) running() podBuilder {
	return b.with(func(p *corev1.Pod) { p.Status.Phase, p.Spec.NodeName = corev1.PodRunning, "node" })
}

func (b podBuilder) ready() podBuilder {
	return b.running().with(func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
}

// exited ends the pod's container with a code, some seconds after the epoch.
func (b podBuilder) exited(code int32, second int) podBuilder {
	return b.with(func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		if code == 0 {
			p.Status.Phase = corev1.PodSucceeded
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: at(second)},
		}}}
	})
}

func (b podBuilder) disrupted() podBuilder {
	return b.with(func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
	})
}

// deleted returns a pod whose deletion was requested.
func (b podBuilder) deleted(second int) podBuilder {
	return b.with(func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(at(second)), new(int64(0))
	})
}

// Exit codes with a rule in judge's policy.
const (
	codeIgnore    = 3
	codeFailIndex = 7
	codeCount     = 9
	codeFailJob   = 42
)

// judge implements a policy: DisruptionTarget and code 3 are ignored, code 7 fails the index, 9 counts, and 42 fails the
// Job.
func judge(p *corev1.Pod) runtime.Verdict {
	if p.Status.Phase != corev1.PodFailed {
		return runtime.NotTerminal(p)
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return runtime.MatchedCondition(p, 0, batchv1.PodFailurePolicyActionIgnore, c)
		}
	}
	actions := map[int32]batchv1.PodFailurePolicyAction{
		codeIgnore: batchv1.PodFailurePolicyActionIgnore, codeFailIndex: batchv1.PodFailurePolicyActionFailIndex,
		codeCount: batchv1.PodFailurePolicyActionCount, codeFailJob: batchv1.PodFailurePolicyActionFailJob,
	}
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		if c.State.Terminated == nil {
			continue
		}
		if action, found := actions[c.State.Terminated.ExitCode]; found {
			return runtime.MatchedExitCode(p, 1, action, c)
		}
	}
	return runtime.Unmatched(p)
}

// judged is judge for an Observation: the verdict does not depend on the attempt.
func judged(p *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict { return judge(p) }

// seen returns a current observation of a Job and its pods, some seconds after the epoch.
func seen(b jobBuilder, second int, pods ...podBuilder) Observation {
	o := Observation{Job: b.job(), Now: at(second).Time, Current: true}
	if b.j.Spec.PodFailurePolicy != nil {
		o.Judge = judged
	}
	for _, p := range pods {
		o.Pods = append(o.Pods, p.p.DeepCopy())
	}
	return o
}

// planned returns the Plan for an observation. It checks the status rules, and that a second Plan is the same.
func planned(t *testing.T, o Observation) Plan {
	t.Helper()
	p := Next(o)
	if p.Write == nil {
		return p
	}
	broken, err := brokenStatusRules(o.Job, p.Write)
	if err != nil {
		t.Fatal(err)
	}
	if broken != "" {
		t.Errorf("the write breaks status rules:\n%s", broken)
	}
	o.Job = p.Write
	if again := Next(o); again.Write != nil && ledgerIn(&again.Write.Status) == ledgerIn(&p.Write.Status) &&
		statusText(again.Write) == statusText(p.Write) {
		t.Error("the same write is planned again")
	}
	return p
}

// podNames returns the names of pods, in their order.
func podNames(pods []*corev1.Pod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

// slotsAndAttempts returns the names of pods, as slot/attempt.
func slotsAndAttempts(j *batchv1.Job, pods []*corev1.Pod) []string {
	var texts []string
	for _, p := range pods {
		slot, attempt, ok := newNamer(j).parse(p.Name)
		if !ok {
			texts = append(texts, p.Name)
			continue
		}
		texts = append(texts, strconv.Itoa(slot)+"/"+strconv.Itoa(attempt))
	}
	return texts
}
