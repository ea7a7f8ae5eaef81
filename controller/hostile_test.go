package controller_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// TestHostileSchedules is like TestFaultSchedules, with an attacker who removes finalizers, writes garbage into annotations, and
// creates pods in the Job's name. The correct counts are then unknown, but the API server rejects nothing, and the Job ends and
// releases its pods.
func TestHostileSchedules(t *testing.T) {
	t.Parallel()
	for shard := range shards {
		t.Run(strconv.Itoa(shard), func(t *testing.T) {
			t.Parallel()
			for n := *firstSchedule + shard; n < *firstSchedule+schedulesToRun()/4+shards && !t.Failed(); n += shards {
				if c := tampered(t, n); len(c.violations) > 0 {
					t.Errorf("schedule %d: %s", n, c)
				}
			}
		})
	}
}

func tampered(t *testing.T, n int) *cluster {
	t.Helper()
	random := rand.New(rand.NewPCG(666, uint64(n)))
	return isolated(t, wildScenario(random), func(c *cluster) {
		c.hostile = true
		h := hostile{&disorder{cluster: c, random: random, wild: true}}
		c.server.Hold(memoryapi.Jobs, memoryapi.Pods)
		for range 10 + random.IntN(20) {
			for range 10 {
				synctest.Wait()
				h.step()
			}
			h.tamper()
		}
		h.end()
	})
}

// hostile tampers with a Job and its pods.
type hostile struct{ *disorder }

func (h hostile) tamper() {
	text := generators.Garbage[h.random.IntN(len(generators.Garbage))]
	pods := h.server.Pods()
	switch draw := h.random.IntN(5); {
	case draw == 0:
		h.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) {
			switch h.random.IntN(3) {
			case 0:
				setLedger(job, text)
			case 1:
				metav1.SetMetaDataAnnotation(&job.ObjectMeta, plan.BackoffSecondsAnnotation, text)
			default:
				metav1.SetMetaDataAnnotation(&job.ObjectMeta, plan.FailedPodsLimitAnnotation, text)
			}
		})
	case draw == 1:
		h.intrude(text)
	case len(pods) == 0:
	case draw == 2:
		h.changeOne(pods, func(p *corev1.Pod) { p.Finalizers = nil })
	case draw == 3:
		h.changeOne(pods, func(p *corev1.Pod) { p.OwnerReferences = nil })
	default:
		keys := []string{batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation,
			batchv1.JobIndexIgnoredFailureCountAnnotation, plan.ConsecutiveFailuresAnnotation}
		h.changeOne(pods, func(p *corev1.Pod) {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, keys[h.random.IntN(len(keys))], text)
		})
	}
}

// setLedger writes a ledger, which should only be possible with permission to write the status of Jobs.
func setLedger(job *batchv1.Job, text string) {
	if slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
	}) {
		return
	}
	conditions := slices.DeleteFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == plan.LedgerCondition })
	conditions = append(conditions, batchv1.JobCondition{
		Type: plan.LedgerCondition, Status: corev1.ConditionTrue, Reason: "FormatV1", Message: text,
	})
	job.Status.Conditions = conditions
}

func (h hostile) changeOne(pods []*corev1.Pod, change func(*corev1.Pod)) {
	pod := pods[h.random.IntN(len(pods))]
	h.server.ChangePod(pod.Namespace, pod.Name, change)
}

// intrude creates a pod in the Job's name, or one that uses the name of an expected pod.
func (h hostile) intrude(index string) {
	if h.job == nil {
		return
	}
	pod := podOf(h.job, "intruder-"+strconv.Itoa(h.random.IntN(1000)))
	if pods := h.server.Pods(); len(pods) > 0 && h.chance(2) {
		name := pods[h.random.IntN(len(pods))].Name
		pod.Name = strings.Replace(name, "-0-", "-1-", 1) // possibly the next one
	}
	pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	if h.chance(2) {
		pod.OwnerReferences = nil
	}
	if h.chance(2) {
		pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
	_, _ = h.server.CreatePod(pod) // the name may exist already
}

// podOf returns a pod controlled by the Job but not created by the controller.
func podOf(job *batchv1.Job, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: name, Labels: job.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
}

// told reports whether an event with the reason was recorded.
func (c *cluster) told(reason string) bool {
	for _, event := range c.server.Events() {
		if event.Reason == reason && event.Regarding.Name == jobName {
			return true
		}
	}
	return false
}

// TestNameIsTaken checks that if a foreign pod has the name of the first attempt, the second name is used and the pod is not changed.
func TestNameIsTaken(t *testing.T) {
	name := ""
	sound(t, isolated(t, scenario{job: managed(1, completions(1)), fate: always(runs, 0)}, func(c *cluster) {
		c.work()
		name = c.server.Pods()[0].Name
	}))
	c := isolated(t, scenario{job: managed(1, completions(1)), fate: succeeds}, func(c *cluster) {
		c.kill()
		foreign := podOf(c.job, name)
		foreign.OwnerReferences = nil
		if _, err := c.server.CreatePod(foreign); err != nil {
			t.Fatal(err)
		}
		c.start()
		c.settle()
	})
	sound(t, c)
	pods := c.server.Pods()
	if len(pods) != 2 || !isTrue(c.job, batchv1.JobComplete) || c.job.Status.Succeeded != 1 {
		t.Errorf("%d pods, %s", len(pods), statusText(c.job))
	}
	if mine := pods[1]; mine.Name == name || !metav1.IsControlledBy(mine, c.job) {
		t.Errorf("pod %s is controlled by %v", mine.Name, mine.OwnerReferences)
	}
}

// TestForeignPodsWithOurLabels checks that pods that have the Job's labels but are not controlled by it are neither counted nor
// changed.
func TestForeignPodsWithOurLabels(t *testing.T) {
	c := isolated(t, scenario{job: managed(2, indexed(2)), fate: succeeds}, func(c *cluster) {
		for index := range 3 {
			foreign := podOf(c.job, "foreign-"+strconv.Itoa(index))
			foreign.OwnerReferences = nil
			foreign.Finalizers = []string{batchv1.JobTrackingFinalizer, "example.com/mine"}
			foreign.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)}
			if _, err := c.server.CreatePod(foreign); err != nil {
				t.Fatal(err)
			}
			c.end(foreign, int32(index%2))
		}
		c.settle()
	})
	sound(t, c)
	for _, pod := range c.server.Pods() {
		if strings.HasPrefix(pod.Name, "foreign-") && (pod.DeletionTimestamp != nil || len(pod.Finalizers) != 2) {
			t.Errorf("pod %s is touched: %v, %v", pod.Name, pod.Finalizers, pod.DeletionTimestamp)
		}
	}
	if s := c.job.Status; s.Succeeded != 2 || s.Failed != 0 {
		t.Error(statusText(c.job))
	}
}

// TestIndexesOutOfRange checks that pods controlled by the Job with indexes out of range are removed, and that the Job's result is
// correct.
func TestIndexesOutOfRange(t *testing.T) {
	for _, index := range []string{"2", "99", "-1", "2147483648", "x", ""} {
		t.Run(index, func(t *testing.T) {
			c := isolated(t, scenario{job: managed(2, indexed(2)), fate: exits(map[int][]int32{0: {1}})}, func(c *cluster) {
				stray := podOf(c.job, "stray")
				stray.Finalizers = []string{batchv1.JobTrackingFinalizer}
				stray.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
				if _, err := c.server.CreatePod(stray); err != nil {
					t.Fatal(err)
				}
				c.settle()
			})
			sound(t, c)
			if _, there := c.pods["stray"]; there || c.job.Status.CompletedIndexes != "0,1" || c.job.Status.Failed != 1 {
				t.Errorf("the pod is there: %v, %s", there, statusText(c.job))
			}
		})
	}
}

// TestPodIsTakenBeforeTheCacheShowsIt checks that a Job is synced again if a pod is removed from it before the cache includes the pod.
func TestPodIsTakenBeforeTheCacheShowsIt(t *testing.T) {
	takes := map[string]func(*corev1.Pod){
		"no owner": func(p *corev1.Pod) { p.OwnerReferences = nil },
		"no label": func(p *corev1.Pod) { // it would not be observed any more, so its finalizer would remain
			delete(p.Labels, batchv1.ControllerUidLabel)
			p.Finalizers = nil
		},
		"deleted": func(p *corev1.Pod) {
			p.Finalizers, p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, new(metav1.Now()), new(int64(0))
		},
	}
	for name, take := range takes {
		t.Run(name, func(t *testing.T) {
			sound(t, isolated(t, scenario{job: managed(1, completions(1)), fate: succeeds}, func(c *cluster) {
				c.hostile = true
				c.server.Hold(memoryapi.Pods)
				c.work()
				c.server.ChangePod(namespace, c.server.Pods()[0].Name, take)
				c.server.Compact(memoryapi.Pods)
				c.server.CloseWatches(memoryapi.Pods)
				c.settle()
			}))
		})
	}
}

// TestPolicyThatDoesNotCompile checks that a policy that does not compile stops the Job: an event reports it, nothing is counted, and
// there is no busy loop.
func TestPolicyThatDoesNotCompile(t *testing.T) {
	job := managed(1, completions(1), policy)
	conditions := &job.Spec.PodFailurePolicy.Rules[0].OnPodConditions
	for i := range 200 { // more than the valid statuses
		*conditions = append(*conditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionStatus(strconv.Itoa(i)),
		})
	}
	c := isolated(t, scenario{job: job, fate: always(1, 0)}, func(c *cluster) { c.waits(t, "InvalidPodFailurePolicy") })
	sound(t, c)
	if len(c.pods) > 0 || c.writes > 0 {
		t.Errorf("%d pods, %d writes", len(c.pods), c.writes)
	}
}

// TestStatusThatBreaksTheRules checks that an invalid status, which makes every write fail, delays the Job increasingly: an event
// reports it, and there is no busy loop.
func TestStatusThatBreaksTheRules(t *testing.T) {
	c := isolated(t, scenario{job: managed(1, completions(1)), fate: succeeds}, func(c *cluster) {
		c.hostile, c.spoiled = true, true
		c.work()
		c.server.ChangeJob(namespace, jobName, func(job *batchv1.Job) {
			for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
				job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue})
			}
		})
		c.moveAll()
		c.moveAll()
		c.waits(t, "InvalidStatus")
	})
	sound(t, c)
	if c.job == nil || ended(c.job) {
		t.Error(statusText(c.job))
	}
}

// waits lets an hour pass, in which the controller records an event and makes only a few calls.
func (c *cluster) waits(t *testing.T, reason string) {
	t.Helper()
	calls := 0
	for end := time.Now().Add(time.Hour); time.Now().Before(end); {
		synctest.Wait()
		waiting := c.wire.requests()
		if len(waiting) == 0 {
			c.pause(time.Minute)
			continue
		}
		calls++
		c.serve(waiting[0])
	}
	const most = 100 // once per minute, after some tries
	if calls > most || !c.told(reason) {
		t.Errorf("%d calls in an hour, event %s told: %v\n%s", calls, reason, c.told(reason), c)
	}
}
