package living

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

const (
	marked    = "True ImageUnavailable"
	patchPod  = "patch pods a status"
	deletePod = "delete pods a"
	deletions = "living_pods_total{action=Ignore,mode=observe,phase=Pending,policy=start,result=ended,rule=image}"
)

func expectStrings(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestPodIsEnded checks that a rule can match because of time only: the pod gets the condition and is then deleted.
func TestPodIsEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		w.createPod(w.createJob("train", nil), "a")
		ctx, stop := context.WithCancel(w.context())
		go w.Loop.Run(ctx)
		time.Sleep(10 * time.Minute)
		expectStrings(w.T, "the calls", w.took())
		time.Sleep(DefaultPeriod)
		synctest.Wait()
		stop()
		expectStrings(w.T, "the calls", w.took(), patchPod, deletePod)
		const message = "Pod default/a matching Ignore rule image of PodFailurePolicy start: ImageUnavailable"
		expectStrings(w.T, "the events", w.told(), "Warning train/a PodEndedByPolicy: "+message+
			"; nobody carries out Ignore: the Job is run by kubernetes.io/job-controller")
		w.counts.Expect(w.T, map[string]float64{deletions: 1})
		pod := w.pod("a")
		if pod.DeletionTimestamp == nil || *pod.DeletionGracePeriodSeconds != 30 {
			w.Error("it is not deleted, or without its grace")
		}
		want := []corev1.PodCondition{
			{
				Type: v1alpha1.FailingToStart, Status: corev1.ConditionTrue, Reason: "ImageUnavailable", Message: message,
				LastTransitionTime: pod.Status.Conditions[0].LastTransitionTime,
			},
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Reason: "Bound"},
		}
		if diff := cmp.Diff(want, pod.Status.Conditions); diff != "" || pod.Status.Conditions[0].LastTransitionTime.IsZero() {
			w.Errorf("the conditions (-want +got):\n%s", diff)
		}
		w.lookAgain()
		expectStrings(w.T, "the calls for a pod that is being deleted", w.took())
	})
}

// TestPodIsLeftAlone checks which pods are not ended, and when.
func TestPodIsLeftAlone(t *testing.T) {
	ended := func(kind batchv1.JobConditionType) func(*world) {
		return func(w *world) {
			w.server.ChangeJob("default", "train", func(job *batchv1.Job) {
				job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue}}
			})
		}
	}
	changePod := func(change func(*corev1.Pod)) func(*world) {
		return func(w *world) { w.server.ChangePod("default", "a", change) }
	}
	changeJob := func(change func(*batchv1.Job)) func(*world) {
		return func(w *world) { w.server.ChangeJob("default", "train", change) }
	}
	binds := func(change func(*v1alpha1.PodFailurePolicyBindingSpec)) func(*world) {
		return func(w *world) {
			w.bind(fixtures.BoundPolicy{Name: "start", Change: change, Rules: []v1alpha1.Rule{lateImage()}})
		}
	}
	onFailed := lateImage()
	onFailed.Phase, onFailed.When = corev1.PodFailed, "true"
	for name, c := range map[string]struct {
		change func(*world)
		calls  bool
	}{
		"all is as it must be":      {func(*world) {}, true},
		"no policy":                 {func(w *world) { w.bind() }, false},
		"a policy on failed pods":   {func(w *world) { w.bind(startPolicy(onFailed)) }, false},
		"pods are ignored":          {binds(func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.LivingPods = nil }), false},
		"bound after":               {binds(func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Position = v1alpha1.PositionAfter }), true},
		"the Job is suspended":      {changeJob(func(job *batchv1.Job) { job.Spec.Suspend = new(true) }), false},
		"the Job is not suspended":  {changeJob(func(job *batchv1.Job) { job.Spec.Suspend = new(false) }), true},
		"the Job is complete":       {ended(batchv1.JobComplete), false},
		"the Job has failed":        {ended(batchv1.JobFailed), false},
		"the Job fails":             {ended(batchv1.JobFailureTarget), false},
		"the Job succeeds":          {ended(batchv1.JobSuccessCriteriaMet), false},
		"the Job was suspended":     {ended(batchv1.JobSuspended), true},
		"the Job is being deleted":  {changeJob(func(job *batchv1.Job) { job.DeletionTimestamp = new(metav1.Now()) }), false},
		"the Job is gone":           {changePod(func(pod *corev1.Pod) { pod.OwnerReferences[0].Name = "gone" }), false},
		"another Job of the name":   {changePod(func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "another" }), false},
		"the pod is no Job's":       {changePod(func(pod *corev1.Pod) { pod.OwnerReferences = nil }), false},
		"the Job is not in control": {changePod(func(pod *corev1.Pod) { pod.OwnerReferences[0].Controller = nil }), false},
		"the pod runs":              {changePod(func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }), false},
		"the pod has failed":        {changePod(func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }), false},
		"the pod is being deleted":  {changePod(func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }), false},
		"the image is there":        {changePod(func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }), false},
		"nobody looks at others":    {func(w *world) { w.Others = false }, false},
		"but at those that are ours": {func(w *world) {
			w.Others = false
			changeJob(func(job *batchv1.Job) { job.Spec.ManagedBy = new(v1alpha1.JobController) })(w)
		}, true},
		"it was ended by another one": {func(w *world) { w.server.Hold(memoryapi.Pods); _ = w.server.DeletePod("default", "a", 0) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bind(startPolicy(lateImage()))
				w.createPod(w.createJob("train", nil), "a")
				synctest.Wait()
				c.change(w)
				time.Sleep(time.Hour)
				w.lookAgain()
				if got := len(w.took()) > 0; got != c.calls {
					w.Errorf("there are calls: %t", got)
				}
			})
		})
	}
}

// TestCallsFail checks that after a crash between the two calls, or after failed calls, the next pass does the rest.
func TestCallsFail(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errCrash)
	for name, c := range map[string]struct {
		verb  string // failing call
		after bool   // whether it fails after taking effect
		err   error
		state string // state after the failure
		calls []string
		told  int
		want  map[string]float64
	}{
		"no condition": {
			"patch", false, errCrash, "unmarked, deleted false", []string{patchPod, patchPod, deletePod}, 2,
			map[string]float64{deletions: 1, "living_pod_errors_total{kind=call,mode=observe}": 1},
		},
		"forbidden": {
			"patch", false, forbidden, "unmarked, deleted false", []string{patchPod, patchPod, deletePod}, 2,
			map[string]float64{deletions: 1, "living_pod_errors_total{kind=call,mode=observe}": 1},
		},
		"a condition, and no answer": {
			"patch", true, errCrash, marked + ", deleted false", []string{patchPod, deletePod}, 2,
			map[string]float64{deletions: 1, "living_pod_errors_total{kind=call,mode=observe}": 1},
		},
		"a condition, and no deletion": {
			"delete", false, errCrash, marked + ", deleted false", []string{patchPod, deletePod, deletePod}, 2,
			map[string]float64{deletions: 1, "living_pod_errors_total{kind=call,mode=observe}": 1},
		},
		"a deletion, and no answer": {
			"delete", true, errCrash, marked + ", deleted true", []string{patchPod, deletePod}, 1,
			map[string]float64{"living_pod_errors_total{kind=call,mode=observe}": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bind(startPolicy(lateImage()))
				w.createPod(w.createJob("train", nil), "a")
				time.Sleep(time.Hour)
				w.failOnce(c.verb, c.after, c.err)
				w.lookAgain()
				w.expectState("a", c.state)
				w.lookAgain()
				w.lookAgain()
				w.expectState("a", marked+", deleted true")
				if diff := cmp.Diff(c.calls, w.took()); diff != "" {
					w.Errorf("the calls (-want +got):\n%s", diff)
				}
				if told := w.told(); len(told) != c.told {
					w.Errorf("%d events: %q", len(told), told)
				}
				w.counts.Expect(w.T, c.want)
			})
		})
	}
}

// failOnce makes one call fail.
func (w *world) failOnce(verb string, after bool, err error) {
	w.before = func(call memoryapi.Call) error {
		if call.Verb != verb {
			return nil
		}
		w.before = nil
		if after {
			if response, lost := w.server.RoundTrip(w.last); lost == nil {
				response.Body.Close()
			}
		}
		return err
	}
}

// TestPodStartsMeanwhile checks that a pod that starts at any moment is not deleted and does not keep the condition.
func TestPodStartsMeanwhile(t *testing.T) {
	for name, verb := range map[string]string{"before the condition": "patch", "before the deletion": "delete"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bind(startPolicy(lateImage()))
				w.createPod(w.createJob("train", nil), "a")
				time.Sleep(time.Hour)
				w.before = func(call memoryapi.Call) error {
					if call.Verb == verb {
						w.start("a")
						w.before = nil
					}
					return nil
				}
				w.lookAgain()
				want, calls := "unmarked, deleted false", []string{patchPod}
				if verb == "delete" {
					want, calls = "False Started, deleted false", []string{patchPod, deletePod, patchPod}
				}
				w.lookAgain()
				w.lookAgain()
				w.expectState("a", want)
				expectStrings(w.T, "the calls", w.took(), calls...)
				expectStrings(w.T, "the events", w.told())
				w.counts.Expect(w.T, map[string]float64{})
			})
		})
	}
}

// TestPolicyChanges checks that only the current policies apply: a pod that already has the condition, because its deletion failed, is not
// ended if the rule no longer exists.
func TestPolicyChanges(t *testing.T) {
	other := lateImage()
	other.Name, other.Reason = "other", "Other"
	broken := lateImage()
	broken.When = "pod.status.containerStatuses[5].name == ''"
	ignored := fixtures.BoundPolicy{Name: "start", Change: func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.LivingPods = nil }, Rules: []v1alpha1.Rule{lateImage()}}
	audited := fixtures.BoundPolicy{Name: "start", Change: func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Mode = v1alpha1.ModeAudit }, Rules: []v1alpha1.Rule{lateImage()}}
	for name, c := range map[string]struct {
		policies []fixtures.BoundPolicy
		state    string
		calls    []string
	}{
		"the same":        {[]fixtures.BoundPolicy{startPolicy(lateImage())}, marked + ", deleted true", []string{deletePod}},
		"another rule":    {[]fixtures.BoundPolicy{startPolicy(other)}, "True Other, deleted true", []string{patchPod, deletePod}},
		"no policy":       {nil, "False NoRule, deleted false", []string{patchPod}},
		"pods ignored":    {[]fixtures.BoundPolicy{ignored}, "False NoRule, deleted false", []string{patchPod}},
		"only an audit":   {[]fixtures.BoundPolicy{audited}, "False NoRule, deleted false", []string{patchPod}},
		"nobody can tell": {[]fixtures.BoundPolicy{startPolicy(broken)}, marked + ", deleted false", nil},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bind(startPolicy(lateImage()))
				w.createPod(w.createJob("train", nil), "a")
				time.Sleep(time.Hour)
				w.failOnce("delete", false, errCrash)
				w.lookAgain()
				w.took()
				before := w.pod("a").Status.Conditions[0]
				time.Sleep(time.Minute)
				w.bind(c.policies...)
				w.lookAgain()
				w.expectState("a", c.state)
				after := w.pod("a").Status.Conditions[0]
				if stays := before.Status == after.Status; before.LastTransitionTime.Equal(&after.LastTransitionTime) != stays {
					w.Errorf("from %s at %v to %s at %v", before.Status, before.LastTransitionTime, after.Status, after.LastTransitionTime)
				}
				expectStrings(w.T, "the calls", w.took(), c.calls...)
				w.lookAgain()
				expectStrings(w.T, "the calls then", w.took())
			})
		})
	}
}

// TestAuditIsInNobodysWay checks that an audit does not prevent other policies from ending pods.
func TestAuditIsInNobodysWay(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(fixtures.BoundPolicy{Name: "audit", Change: func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Mode = v1alpha1.ModeAudit }, Rules: []v1alpha1.Rule{lateImage()}},
			startPolicy(lateImage()))
		w.createPod(w.createJob("train", nil), "a")
		time.Sleep(time.Hour)
		w.lookAgain()
		w.expectState("a", marked+", deleted true")
	})
}

// TestPodsAreObservedOnly checks that a controller that only observes reports planned actions but does not change pods, neither pending nor
// marked ones.
func TestPodsAreObservedOnly(t *testing.T) {
	inWorldOf(t, true, func(w *world) {
		w.bind(startPolicy(lateImage()))
		w.createPod(w.createJob("train", nil), "a")
		time.Sleep(time.Hour)
		w.lookAgain()
		w.lookAgain()
		expectStrings(w.T, "the calls", w.took())
		expectStrings(w.T, "the events", w.told(),
			"Normal train/a PodWouldBeEnded: Pod default/a matching Ignore rule image of PodFailurePolicy start: ImageUnavailable; "+
				"nobody carries out Ignore: the Job is run by kubernetes.io/job-controller; the pod is not ended: the controller only observes")
	})
}

// TestPodIsPartial checks that a pod without all fields read by custom rules is not ended until the caches have received them.
func TestPodIsPartial(t *testing.T) {
	inWorld(t, func(w *world) {
		w.bind(startPolicy(lateImage()))
		w.createPod(w.createJob("train", nil), "a")
		time.Sleep(time.Hour)
		synctest.Wait()
		whole := w.pod("a")
		dropped := whole.DeepCopy()
		dropped.ManagedFields = fixtures.MarkOfOld
		fixtures.Put(t, w.Caches.Pods.Update(dropped))
		w.lookAgain()
		expectStrings(w.T, "the calls", w.took())
		fixtures.Put(t, w.Caches.Pods.Update(whole))
		w.PodChanged(dropped, whole)
		w.lookAgain()
		w.expectState("a", marked+", deleted true")
	})
}

// TestAttempt checks that a rule on the attempt number uses the number from the plan or derived from the other pods.
func TestAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		second := lateImage()
		second.When = "attempt == 2"
		w.bind(startPolicy(second))
		job := w.createJob("train", nil)
		w.createPod(job, "failed")
		w.server.ChangePod("default", "failed", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
		time.Sleep(time.Minute)
		w.createPod(job, "a")
		w.lookAgain()
		w.expectState("a", marked+", deleted true")
	})
}
