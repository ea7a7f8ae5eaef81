//go:build cluster

package living

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

const (
	// rulePeriod is the time for which the policy lost lets Pods terminate.
	rulePeriod = 3 * time.Second
	// tolerance is the additional time for which a Job may hang.
	tolerance = 20 * time.Second
	// nativeBackoff is the time that kube-controller-manager waits before it replaces a failed Pod.
	nativeBackoff = 10 * time.Second
	// calm is the time for which a test checks that the state does not change.
	calm = 8 * time.Second
)

// loss is a node whose kubelet stops, with Jobs of both controllers and both pod replacement policies.
type loss struct {
	name   string // name of the node's pool
	policy string // name in the Jobs' policy label
	ends   bool   // whether the policy ends the Pods
	// terminating is called when the node's Pods are terminating, ended when they have ended. Both may be nil.
	terminating, ended func(*testing.T, *troubled, *testcluster.Node)
}

// PodGC also ends Pods of nodes that are out of service or gone, every 20 seconds, and may be faster.
var losses = []loss{
	{name: "stops", policy: "lost", ends: true},
	{name: "comes-back-after-the-end", policy: "lost", ends: true, ended: resume},
	{name: "out-of-service", policy: "lost-or-collected", ends: true, terminating: taintOutOfService},
	{name: "deleted", policy: "lost-or-collected", ends: true, terminating: deleteNode},
	{name: "comes-back-in-time", policy: "patient", terminating: resume},
}

// withoutRight is a loss that the controller may not observe.
var withoutRight = loss{name: "not-readable", policy: "lost", terminating: func(t *testing.T, w *troubled, n *testcluster.Node) {
	t.Helper()
	time.Sleep(rulePeriod + calm) // no change is expected
	resume(t, w, n)
}}

// TestLivingPods tests that a Job ends according to its policy because of a living Pod, whichever controller runs it, and
// that it does not end or hang because of others.
func TestLivingPods(t *testing.T) {
	w := newTroubled(t, true)
	t.Run("all", func(t *testing.T) {
		for _, r := range slices.Concat(starts, restarts) {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				w.conduct(t, r)
			})
		}
		for _, l := range losses {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				w.lose(t, l)
			})
		}
		t.Run("ready", func(t *testing.T) {
			t.Parallel()
			w.hang(t)
		})
	})
}

// TestWithoutNodes tests that a controller that may not read nodes ends no terminating Pod, and that everything continues
// when the node is back.
func TestWithoutNodes(t *testing.T) {
	newTroubled(t, false).lose(t, withoutRight)
}

// lose runs the Jobs of a loss.
func (w *troubled) lose(t *testing.T, l loss) {
	t.Helper()
	node := w.addNode(t, l.name+doomed, map[string]string{poolLabel: l.name, corev1.LabelTopologyZone: l.name})
	jobs := w.createJobs(t, l.name, l.policy, lost, l.ends)
	pods := w.untilRunning(t, jobs)
	w.replace(t, node.Name, l.name)
	if l.ends {
		w.witness.mayLose(node.Name)
	}
	node.Stop()
	w.until(t, "the taint manager has deleted the Pods", jobs, func(s sighting) bool { return !s.deleted.IsZero() })
	if l.terminating != nil {
		l.terminating(t, w, node)
	}
	w.until(t, "the Pods have ended", jobs, func(s sighting) bool { return !s.ended.IsZero() })
	if l.ended != nil {
		l.ended(t, w, node)
	}
	for _, job := range jobs {
		finished, last := w.UntilFinished(t, w.Namespace, job.Name)
		if last.Type != batchv1.JobComplete || finished.Status.Succeeded != indexes {
			t.Errorf("Job %s ends with %+v", job.Name, finished.Status)
		}
		w.checkLoss(t, l, finished, pods)
	}
	if l.ends {
		w.until(t, "the Pods are gone", jobs, func(s sighting) bool { return s.gone })
	}
}

// checkLoss checks how a Job of a loss continued after its first Pods.
func (w *troubled) checkLoss(t *testing.T, l loss, job *batchv1.Job, first []types.UID) {
	t.Helper()
	var deleted, ended time.Time
	all := w.witness.of(job.UID)
	for _, s := range all {
		if !slices.Contains(first, s.pod.UID) {
			continue
		}
		deleted, ended = later(deleted, s.deleted), later(ended, s.ended)
		by := testcluster.HasCondition(s.pod, v1alpha1.Lost)
		switch collected := l.policy == "lost-or-collected"; {
		case by && !l.ends:
			t.Errorf("the policy has ended %s", s.pod.Name)
		case !by && l.ends && !collected:
			t.Errorf("the policy has not ended %s: %+v", s.pod.Name, s.pod.Status)
		}
	}
	if len(all) != 2*indexes {
		t.Errorf("%d Pods of %s, for %d indexes", len(all), job.Name, indexes)
	}
	if !l.ends {
		return
	}
	finish := job.Status.Conditions[len(job.Status.Conditions)-1].LastTransitionTime.Time
	pod, hang := ended.Sub(deleted.Add(rulePeriod)), finish.Sub(deleted.Add(rulePeriod))
	t.Logf("%s: beyond the rule the Pods hang %v and the Job %v", job.Name, pod.Round(100*time.Millisecond), hang)
	if job.Spec.ManagedBy == nil {
		hang -= nativeBackoff
	}
	if max(pod, hang) > tolerance {
		t.Errorf("%s hangs too long", job.Name)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// hang makes the Pods of Jobs hang on a node that is Ready.
func (w *troubled) hang(t *testing.T) {
	t.Helper()
	const pool = "ready"
	w.addNode(t, pool+doomed, map[string]string{poolLabel: pool, corev1.LabelTopologyZone: pool})
	jobs := w.createJobs(t, pool, "careless", hanging, false)
	w.untilRunning(t, jobs)
	w.replace(t, pool+doomed, pool)
	for _, job := range jobs {
		selector := metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name}
		if err := w.Client.CoreV1().Pods(w.Namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, selector); err != nil {
			t.Fatal(err)
		}
	}
	const why = "its node is Ready"
	for _, job := range jobs {
		w.UntilEvent(t, w.Namespace, job.Name, "PodWouldBeEnded", why)
	}
	time.Sleep(calm) // no change is expected
	for _, job := range jobs {
		for _, s := range w.witness.of(job.UID) {
			if strings.HasSuffix(s.pod.Spec.NodeName, doomed) && !s.ended.IsZero() {
				t.Errorf("%s was ended: %+v", s.pod.Name, s.pod.Status)
			}
		}
		w.release(job.Name)
	}
	for _, job := range jobs {
		if _, last := w.UntilFinished(t, w.Namespace, job.Name); last.Type != batchv1.JobComplete {
			t.Errorf("Job %s ends with %+v", job.Name, last)
		}
	}
}

// indexes is the number of indexes of a Job of a loss.
const indexes = 2

// createJobs creates Jobs for the nodes of a pool, for both controllers and both pod replacement policies.
func (w *troubled) createJobs(t *testing.T, pool, policy string, what trouble, ends bool) (jobs []*batchv1.Job) {
	t.Helper()
	for _, managed := range []bool{false, true} {
		for _, replacement := range []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed} {
			eager := replacement == batchv1.TerminatingOrFailed
			name := fmt.Sprintf("%s-%s-%s", pool, map[bool]string{false: "native", true: "managed"}[managed], map[bool]string{false: "failed", true: "eager"}[eager])
			r := trial{name: name, policy: policy, trouble: what, managed: managed}
			if ends && !managed && !eager {
				r.action, r.condition = ignore, v1alpha1.Lost
			}
			job := w.job(r)
			if r.action != "" && policy == "lost-or-collected" {
				rule := &job.Spec.PodFailurePolicy.Rules[0]
				rule.OnPodConditions = append(rule.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget})
			}
			job.Spec.PodReplacementPolicy = &replacement
			testcluster.Indexed(&job.Spec, indexes, indexes)
			if eager {
				job.Spec.Template.Annotations[eagerAnnotation] = "true"
			}
			if eager || !ends { // otherwise no failure may count
				job.Spec.BackoffLimit = new(int32(6))
			}
			pod := &job.Spec.Template.Spec
			pod.NodeSelector[poolLabel] = pool
			pod.TerminationGracePeriodSeconds = new(int64(1))
			for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
				pod.Tolerations = append(pod.Tolerations, corev1.Toleration{
					Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(1)),
				})
			}
			jobs = append(jobs, w.CreateJob(t, w.Namespace, job))
		}
	}
	return jobs
}

// replace cordons a node, and adds another one to its pool.
func (w *troubled) replace(t *testing.T, node, pool string) {
	t.Helper()
	cordon := []byte(`{"spec":{"unschedulable":true}}`)
	if _, err := w.Client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, cordon, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.addNode(t, pool+"-spare", map[string]string{poolLabel: pool, corev1.LabelTopologyZone: pool})
}

// untilRunning waits for the first Pods of Jobs, and returns their UIDs.
func (w *troubled) untilRunning(t *testing.T, jobs []*batchv1.Job) (pods []types.UID) {
	t.Helper()
	for _, job := range jobs {
		testcluster.Eventually(t, "the Pods of "+job.Name+" run", func(context.Context) (bool, error) {
			all := slices.DeleteFunc(w.witness.of(job.UID), func(s sighting) bool { return s.pod.Status.Phase != corev1.PodRunning })
			if len(all) < indexes {
				return false, nil
			}
			for _, s := range all {
				pods = append(pods, s.pod.UID)
			}
			return true, nil
		})
	}
	return pods
}

// until waits until a condition holds for all Pods of Jobs that run on nodes to be lost.
func (w *troubled) until(t *testing.T, what string, jobs []*batchv1.Job, such func(sighting) bool) {
	t.Helper()
	testcluster.Eventually(t, what, func(context.Context) (bool, error) {
		for _, job := range jobs {
			for _, s := range w.witness.of(job.UID) {
				if strings.HasSuffix(s.pod.Spec.NodeName, doomed) && !such(s) {
					return false, fmt.Errorf("%s is in phase %s, deleted at %v", s.pod.Name, s.pod.Status.Phase, s.pod.DeletionTimestamp)
				}
			}
		}
		return true, nil
	})
}

func resume(_ *testing.T, _ *troubled, node *testcluster.Node) { node.Resume() }

// taintOutOfService acts like an administrator who knows that the machine is off.
func taintOutOfService(t *testing.T, w *troubled, node *testcluster.Node) {
	t.Helper()
	testcluster.Eventually(t, "the node is tainted", func(ctx context.Context) (bool, error) {
		object, err := w.Client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		object.Spec.Taints = append(object.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute})
		_, err = w.Client.CoreV1().Nodes().Update(ctx, object, metav1.UpdateOptions{})
		return err == nil, err
	})
}

func deleteNode(t *testing.T, w *troubled, node *testcluster.Node) {
	t.Helper()
	if err := w.Client.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
