package living

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
	"github.com/podverdict/podverdict/runtime/binding"
)

const (
	// Series of the pods ended by the rules below.
	restarted = "living_pods_total{action=FailIndex,mode=observe,phase=Running,policy=start,result=ended,rule=loop}"
	lost      = "living_pods_total{action=Ignore,mode=observe,phase=Terminating,policy=start,result=ended,rule=lost}"
	removed   = "living_pods_total{action=Ignore,mode=observe,phase=Terminating,policy=start,result=removed,rule=lost}"
)

// crashLoop returns a rule that matches a pod that has restarted three times and has run for more than ten minutes.
func crashLoop() v1alpha1.Rule {
	return v1alpha1.Rule{
		Name: "loop", Phase: corev1.PodRunning, Action: batchv1.PodFailurePolicyActionFailIndex, Reason: "RestartLimit",
		Condition: "example.com/RestartLimit", When: "pod.restarts() > 2 && pod.runningFor(now) > duration('10m')",
	}
}

// lostNode returns a rule that matches a pod whose grace period ended more than five minutes ago.
func lostNode() v1alpha1.Rule {
	return v1alpha1.Rule{
		Name: "lost", Phase: v1alpha1.PhaseTerminating, Action: batchv1.PodFailurePolicyActionIgnore, Reason: "NodeLost",
		When: "pod.terminatingFor(now) > duration('5m')",
	}
}

// TestRunningPodIsEnded checks that a running pod is ended when both parts of the rule are true, in either order.
func TestRunningPodIsEnded(t *testing.T) {
	for name, restart := range map[string]time.Duration{"restarts first": time.Minute, "restarts last": 30 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bind(startPolicy(crashLoop()))
				w.createPod(w.createJob("train", nil), "a")
				w.start("a")
				started := time.Now()
				w.restart("a", 2)
				go w.Loop.Run(w.context())
				time.Sleep(restart)
				expectStrings(w.T, "the calls", w.took())
				w.restart("a", 3)
				time.Sleep(time.Until(started.Add(max(restart, 10*time.Minute) + 2*pause)))
				synctest.Wait()
				expectStrings(w.T, "the calls", w.took(), patchPod, deletePod)
				w.expectState("a", "True RestartLimit, deleted true")
				w.counts.Expect(w.T, map[string]float64{restarted: 1})
			})
		})
	}
}

// restart sets the restart count of a pod's container.
func (w *world) restart(name string, times int32) {
	w.server.ChangePod("default", name, func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].RestartCount = times })
}

// loseNode makes the only node unreachable or reachable again.
func (w *world) loseNode(lost bool) {
	ready := corev1.ConditionTrue
	if lost {
		ready = corev1.ConditionUnknown
	}
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
	node.Name = "node"
	fixtures.Put(w.T, w.server.Apply(node))
}

// TestPodOfLostNode checks that a pod on a lost node becomes Failed when its rule matches, and is removed a minute later unless something
// prevents it.
func TestPodOfLostNode(t *testing.T) {
	const ended, gone = "patched", "patched, deleted"
	annotated := func(value string) func(*world) {
		return func(w *world) {
			w.server.ChangePod("default", "a", func(pod *corev1.Pod) { pod.Annotations = map[string]string{binding.ForcefulDeletion: value} })
		}
	}
	for name, c := range map[string]struct {
		before, after func(*world) // before the rule matches, and after the pod is ended
		want          string
	}{
		"all is as it must be": {nil, nil, gone},
		"the node is Ready":    {func(w *world) { w.loseNode(false) }, nil, ""},
		"the node is gone":     {func(w *world) { w.server.Delete(memoryapi.Nodes, "node") }, nil, gone},
		"nodes cannot be read": {func(w *world) {
			later := lostNode()
			later.When = "pod.terminatingFor(now) > duration('10m')"
			w.bind(startPolicy(later))
			w.server.Remove(memoryapi.Nodes)
			w.server.CloseWatches(memoryapi.Nodes)
		}, nil, ""},
		"the node comes back":           {nil, func(w *world) { w.loseNode(false) }, ended},
		"another finalizer":             {func(w *world) { w.finalize("example.com/other") }, nil, ended},
		"another finalizer comes later": {nil, func(w *world) { w.finalize("example.com/other") }, ended},
		"the owner forbids it":          {annotated("false"), nil, ""},
		"the owner allows it":           {annotated("true"), nil, gone},
		"the rule goes":                 {nil, func(w *world) { w.bind() }, ended},
		"the Job is suspended": {func(w *world) {
			w.server.ChangeJob("default", "train", func(job *batchv1.Job) { job.Spec.Suspend = new(true) })
		}, nil, gone},
		"the binding lacks Terminating": {func(w *world) {
			w.bind(fixtures.BoundPolicy{Name: "start", Rules: []v1alpha1.Rule{lostNode()}, Change: func(s *v1alpha1.PodFailurePolicyBindingSpec) {
				s.LivingPods = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning}
			}})
		}, nil, ""},
		"the kubelet ends it": {func(w *world) {
			w.server.ChangePod("default", "a", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.loseNode(true)
				w.bind(startPolicy(lostNode()))
				w.createPod(w.createJob("train", nil), "a")
				w.start("a")
				statuses := w.pod("a").Status.ContainerStatuses
				go w.Loop.Run(w.context())
				fixtures.Put(w.T, w.server.DeletePod("default", "a", -1))
				time.Sleep(30*time.Second + 5*time.Minute - pause)
				if c.before != nil {
					c.before(w)
				}
				expectStrings(w.T, "the calls", w.took())
				time.Sleep(3 * pause)
				if c.after != nil {
					c.after(w)
				}
				got := words(w.took())
				time.Sleep(DefaultLostPeriod - 4*pause)
				expectStrings(w.T, "the calls before the period is over", w.took())
				time.Sleep(time.Hour)
				if calls := w.took(); len(calls) > 0 {
					got += ", " + words(calls)
				}
				if got != c.want {
					w.Errorf("got %q, want %q", got, c.want)
				}
				if c.want == "" {
					return
				}
				pod := w.pod("a") // the Job's finalizer keeps it
				if diff := cmp.Diff(statuses, pod.Status.ContainerStatuses); diff != "" || pod.Status.Phase != corev1.PodFailed {
					w.Errorf("the pod is %s, its containers (-want +got):\n%s", pod.Status.Phase, diff)
				}
				want := map[string]float64{lost: 1}
				if c.want == gone {
					want[removed] = 1
				}
				w.counts.Expect(w.T, want)
			})
		})
	}
}

// words returns the calls, each as one word.
func words(calls []string) (text string) {
	for i, call := range calls {
		if i > 0 {
			text += ", "
		}
		text += map[string]string{patchPod: "patched", deletePod: "deleted"}[call]
	}
	return text
}

func (w *world) finalize(name string) {
	w.server.ChangePod("default", "a", func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, name) })
}

// TestPodThatChangesIsEnded checks that a pod changed repeatedly by its owner does not escape: it is read and evaluated again, and finally
// a running pod is ended regardless of its version. Other pods must not have changed.
func TestPodThatChangesIsEnded(t *testing.T) {
	const ended = "True NodeLost, deleted true"
	for _, phase := range v1alpha1.LivingPhases {
		for _, touches := range []int{1, maxTries - 2, 100} {
			t.Run(string(phase)+strconv.Itoa(touches), func(t *testing.T) {
				inWorld(t, func(w *world) {
					rule := lostNode()
					rule.Phase, rule.When, rule.Condition = phase, "true", "example.com/Ended"
					w.bind(startPolicy(rule))
					w.createPod(w.createJob("train", nil), "a")
					if phase == corev1.PodRunning {
						w.start("a")
					}
					if phase == v1alpha1.PhaseTerminating {
						fixtures.Put(w.T, w.server.DeletePod("default", "a", 0))
					}
					w.touchBeforeWrites(touches)
					w.lookAgain()
					calls, state := len(w.took()), w.state("a")
					if escapes := touches > maxTries && phase != corev1.PodRunning; escapes != (state != ended) || escapes && calls != maxTries {
						w.Errorf("%d calls, %s", calls, state)
					}
					w.before = nil
					w.lookAgain()
					w.expectState("a", ended)
				})
			})
		}
	}
}

// touchBeforeWrites changes the pod before each of the given number of writes.
func (w *world) touchBeforeWrites(touches int) {
	w.before = func(memoryapi.Call) error {
		if touches--; touches >= 0 {
			w.server.ChangePod("default", "a", func(pod *corev1.Pod) { pod.Annotations = map[string]string{"touched": strconv.Itoa(touches)} })
		}
		return nil
	}
}
