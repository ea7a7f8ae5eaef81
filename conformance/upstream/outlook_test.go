package upstream

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	upstreamjob "k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/podverdict/podverdict/controller/plan"
)

//go:linkname newControllerWithClock k8s.io/kubernetes/pkg/controller/job.newControllerWithClock
func newControllerWithClock(
	ctx context.Context, client kubernetes.Interface, c clock.WithTicker, pods coreinformers.PodInformer, jobs batchinformers.JobInformer,
	workloads schedulinginformers.WorkloadInformer, groups schedulinginformers.PodGroupInformer,
) (*upstreamjob.Controller, error)

//go:linkname syncJob k8s.io/kubernetes/pkg/controller/job.(*Controller).syncJob
func syncJob(c *upstreamjob.Controller, ctx context.Context, key string) error //nolint:revive // a method's receiver is its first parameter

//go:linkname podAdded k8s.io/kubernetes/pkg/controller/job.(*Controller).addPod
func podAdded(c *upstreamjob.Controller, logger klog.Logger, pod any)

//go:linkname podUpdated k8s.io/kubernetes/pkg/controller/job.(*Controller).updatePod
func podUpdated(c *upstreamjob.Controller, logger klog.Logger, before, after any)

//go:linkname podDeleted k8s.io/kubernetes/pkg/controller/job.(*Controller).deletePod
func podDeleted(c *upstreamjob.Controller, logger klog.Logger, pod any, final bool)

const outlookNamespace = "ns"

// life is a Job run by Kubernetes' Job controller, one sync at a time, on a clock moved by the test.
type life struct {
	*testing.T

	client     *fake.Clientset
	clock      *testclock.FakeClock
	informers  informers.SharedInformerFactory
	controller *upstreamjob.Controller
	made       int
}

func newLife(t *testing.T, job *batchv1.Job) *life {
	t.Helper()
	l := &life{T: t, client: fake.NewClientset(job), clock: testclock.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	l.client.PrependReactor("create", "pods", func(a ktesting.Action) (bool, kruntime.Object, error) {
		pod := a.(ktesting.CreateAction).GetObject().(*corev1.Pod)
		l.made++
		code := strings.NewReplacer("0", "b", "1", "c", "3", "d").Replace(fmt.Sprintf("%05d", l.made)) // as the API server could generate
		pod.Name = pod.GenerateName + code
		pod.UID, pod.CreationTimestamp = types.UID(pod.Name), metav1.NewTime(l.clock.Now())
		pod.Status.Phase = corev1.PodRunning
		return false, nil, nil
	})
	l.client.PrependReactor("delete", "pods", func(a ktesting.Action) (bool, kruntime.Object, error) {
		pod := l.pod(a.(ktesting.DeleteAction).GetName())
		if pod.DeletionTimestamp == nil {
			pod.DeletionTimestamp = new(metav1.NewTime(l.clock.Now()))
			l.store(pod)
		}
		return true, nil, nil
	})
	l.informers = informers.NewSharedInformerFactory(l.client, 0)
	var err error
	l.controller, err = newControllerWithClock(t.Context(), l.client, l.clock, l.informers.Core().V1().Pods(), l.informers.Batch().V1().Jobs(),
		l.informers.Scheduling().V1beta1().Workloads(), l.informers.Scheduling().V1beta1().PodGroups())
	if err != nil {
		t.Fatal(err)
	}
	l.observe()
	return l
}

func (l *life) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *life) job() *batchv1.Job {
	l.Helper()
	jobs, err := l.client.BatchV1().Jobs(outlookNamespace).List(l.Context(), metav1.ListOptions{})
	l.must(err)
	return &jobs.Items[0]
}

func (l *life) pods() []*corev1.Pod {
	l.Helper()
	list, err := l.client.CoreV1().Pods(outlookNamespace).List(l.Context(), metav1.ListOptions{})
	l.must(err)
	pods := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods
}

// pod reads from the tracker, because reactors must not call the client.
func (l *life) pod(name string) *corev1.Pod {
	l.Helper()
	pod, err := l.client.Tracker().Get(corev1.SchemeGroupVersion.WithResource("pods"), outlookNamespace, name)
	l.must(err)
	return pod.(*corev1.Pod)
}

func (l *life) store(pod *corev1.Pod) {
	l.Helper()
	l.must(l.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), pod, outlookNamespace))
}

// observe updates the caches, like informers.
func (l *life) observe() {
	l.Helper()
	logger := klog.FromContext(l.Context())
	l.must(l.informers.Batch().V1().Jobs().Informer().GetIndexer().Replace([]any{l.job()}, ""))
	cache := l.informers.Core().V1().Pods().Informer().GetIndexer()
	for _, pod := range l.pods() {
		key := outlookNamespace + "/" + pod.Name
		before, known, err := cache.GetByKey(key)
		l.must(err)
		if !known {
			l.must(cache.Add(pod))
			podAdded(l.controller, logger, pod)
			continue
		}
		l.must(cache.Update(pod))
		old := before.(*corev1.Pod).DeepCopy()
		old.ResourceVersion = "before" // otherwise it is treated as a resync
		podUpdated(l.controller, logger, old, pod)
	}
}

// sync lets the controller do the work that is due now.
func (l *life) sync() {
	l.Helper()
	l.observe()
	l.must(syncJob(l.controller, l.Context(), outlookNamespace+"/"+l.job().Name))
	l.observe()
}

// ending returns the step of the condition with which a Job ends or is about to end, if it has one.
func ending(job *batchv1.Job) plan.Step {
	kinds := map[batchv1.JobConditionType]plan.StepKind{
		batchv1.JobFailureTarget: plan.Fails, batchv1.JobFailed: plan.Fails,
		batchv1.JobSuccessCriteriaMet: plan.Completes, batchv1.JobComplete: plan.Completes,
	}
	for _, c := range job.Status.Conditions {
		if kind, ends := kinds[c.Type]; ends && c.Status == corev1.ConditionTrue {
			return plan.Step{Does: kind, Reason: c.Reason, Message: c.Message}
		}
	}
	return plan.Step{}
}

// did lets the controller work and returns its step: the number of pods it created, and the end of the Job.
func (l *life) did() plan.Step {
	l.Helper()
	before := l.made
	for range 3 { // more than one sync is needed for work that waits for its own writes
		l.sync()
	}
	step := ending(l.job())
	if made := l.made - before; made > 0 {
		step.Does, step.Pods = plan.Creates, made
	}
	return step
}

// follow gets the outlook and checks that the controller follows it.
func (l *life) follow() plan.Outlook {
	l.Helper()
	outlook := l.look()
	want := *outlook.Next
	if want.At != nil {
		l.clock.SetTime(want.At.Add(-time.Second))
		if early := l.did(); early != (plan.Step{}) {
			l.Errorf("a second before %+v: %+v", want, early)
		}
		l.clock.SetTime(want.At.Time)
		want.At = nil
	}
	got := l.did()
	switch want.Does {
	case plan.Waits, plan.Suspended, plan.Deleted:
		want = plan.Step{}
	case plan.Failed:
		want.Does = plan.Fails
	case plan.Complete:
		want.Does = plan.Completes
	case plan.Creates, plan.Fails, plan.Completes: // as predicted
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("the controller does something else (-outlook +controller):\n%s", diff)
	}
	l.checkCounts(outlook)
	return outlook
}

// checkCounts compares the numbers of an outlook with the status written by the controller.
func (l *life) checkCounts(outlook plan.Outlook) {
	l.Helper()
	status := l.job().Status
	if outlook.FailedIndexes == nil {
		if got := int(status.Failed); got < outlook.Failures.Used {
			l.Errorf("the controller counts %d failures, the outlook %d", got, outlook.Failures.Used)
		}
	} else if got := countIndexes(*status.FailedIndexes); got != outlook.FailedIndexes.Used {
		l.Errorf("the controller has failed indexes %q, the outlook %d", *status.FailedIndexes, outlook.FailedIndexes.Used)
	}
}

// countIndexes counts the indexes in a list without ranges.
func countIndexes(list string) int {
	count := 0
	for _, c := range "," + list {
		if c == ',' && list != "" {
			count++
		}
	}
	return count
}

// finish ends the first running pod, at the index in an Indexed Job.
func (l *life) finish(index int, change func(*corev1.Pod)) {
	l.Helper()
	for _, pod := range l.pods() {
		at, indexed := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		if pod.Status.Phase == corev1.PodRunning && (!indexed || at == strconv.Itoa(index)) {
			change(pod)
			l.store(pod)
			return
		}
	}
	l.Fatalf("no pod of index %d runs", index)
}

func (l *life) exit(index int, code int32) {
	l.Helper()
	l.finish(index, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodFailed
		if code == 0 {
			pod.Status.Phase = corev1.PodSucceeded
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(l.clock.Now())},
		}}}
	})
}

func (l *life) change(change func(*batchv1.Job)) {
	l.Helper()
	job := l.job()
	change(job)
	l.must(l.client.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("jobs"), job, outlookNamespace))
}

func outlookJob(change func(*batchv1.JobSpec)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: outlookNamespace, Name: "train", UID: "job-uid"},
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(1)), Completions: new(int32(1)), BackoffLimit: new(int32(6)), Suspend: new(false),
			CompletionMode: new(batchv1.NonIndexedCompletion), PodReplacementPolicy: new(batchv1.TerminatingOrFailed),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "train"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "train"}},
				Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}},
			},
		},
	}
	change(&job.Spec)
	return job
}

func indexed(completions int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.CompletionMode = &completions, &completions, new(batchv1.IndexedCompletion)
	}
}

func perIndex(completions, limit int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		indexed(completions)(s)
		s.BackoffLimit, s.BackoffLimitPerIndex = new(int32(1<<31-1)), &limit
	}
}

func ruleOn42(action batchv1.PodFailurePolicyAction) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		s.PodReplacementPolicy = new(batchv1.Failed)
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42}},
		}}}
	}
}

func all(changes ...func(*batchv1.JobSpec)) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) {
		for _, change := range changes {
			change(s)
		}
	}
}

// TestOutlook tests that Kubernetes' Job controller follows the outlook: immediately, or at the given time and not a
// second earlier.
func TestOutlook(t *testing.T) {
	for name, test := range outlookCases() {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, outlookJob(test.spec))
			if first := l.follow(); first.Next.Does != test.first {
				t.Errorf("first: %+v", first.Next)
			}
			if test.then != nil {
				test.then(l)
			}
			got := *l.follow().Next
			if got.Does != test.want.Does || got.Reason != test.want.Reason || got.Pods != test.want.Pods || (got.At != nil) != test.later {
				t.Errorf("last: %+v, want %+v, later: %v", got, test.want, test.later)
			}
		})
	}
}
