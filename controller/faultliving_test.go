package controller_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/living"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
	"github.com/podverdict/podverdict/runtime"
)

var livingSchedules = flag.Int("living-schedules", 200, "how many random fault schedules with rules on living pods to run")

// TestLivingFaultSchedules is like TestFaultSchedules, with pods that hang, restart in place and run too long, on nodes that become lost,
// come back or are deleted. Rules on living pods end them while they are bound. Nothing else ends them, so a Job can only end if every pod
// was ended. No pod is ended unless a rule in effect matches it when the controller decides.
func TestLivingFaultSchedules(t *testing.T) {
	t.Parallel()
	schedules := *livingSchedules
	if testing.Short() {
		schedules /= 20
	}
	var crashes, faulty, ended, removed atomic.Int64
	t.Cleanup(func() { // after all shards
		t.Logf("%d schedules, %d crashes, %d faults, %d pods ended, %d of them removed", schedules, crashes.Load(), faulty.Load(), ended.Load(), removed.Load())
		if many := int64(schedules); many > 100 && (ended.Load() < many || removed.Load() < many/20 || crashes.Load() < many/10) {
			t.Error("too little happens")
		}
	})
	for shard := range shards {
		t.Run(strconv.Itoa(shard), func(t *testing.T) {
			t.Parallel()
			for n := *firstSchedule + shard; n < *firstSchedule+schedules && !t.Failed(); n += shards {
				random := rand.New(rand.NewPCG(2929, uint64(n)))
				var d *disorder
				isolated(t, livingScenario(random), func(c *cluster) {
					d = &disorder{cluster: c, random: random}
					d.run()
				})
				if len(d.violations) > 0 {
					t.Errorf("schedule %d: %s", n, d)
				}
				crashes.Add(int64(d.crashes))
				faulty.Add(int64(d.faulty))
				ended.Add(int64(d.lives.ended))
				removed.Add(int64(d.lives.removed))
			}
		})
	}
}

// Ages from which the rules of livingRules match, after which the pods of lost nodes are evicted, and after which policies take effect.
const (
	stuckAge, longAge, lostAge = time.Minute, 5 * time.Minute, 30 * time.Second
	takesEffect                = 2 * time.Second
)

// livingRules returns rules that end pods that never end by themselves.
func livingRules(action batchv1.PodFailurePolicyAction) (rules []v1alpha1.Rule) {
	for _, r := range []struct {
		phase corev1.PodPhase
		name  string
		when  string
	}{
		{corev1.PodPending, "stuck", fmt.Sprintf("'ImagePullBackOff' in pod.waitingReasons() && pod.pendingFor(now) > duration('%s')", stuckAge)},
		{corev1.PodRunning, "loop", "pod.restarts() > 2"},
		{corev1.PodRunning, "long", fmt.Sprintf("pod.runningFor(now) > duration('%s')", longAge)},
		{v1alpha1.PhaseTerminating, "lost", fmt.Sprintf("pod.terminatingFor(now) > duration('%s')", lostAge)},
	} {
		rules = append(rules, v1alpha1.Rule{Name: r.name, Phase: r.phase, When: r.when, Action: action})
	}
	return rules
}

func endsLiving(s *v1alpha1.PodFailurePolicyBindingSpec) { s.LivingPods = v1alpha1.LivingPhases }

// livingScenario returns a random Job with pods that never end by themselves.
func livingScenario(random *rand.Rand) scenario {
	size := int32(1 + random.IntN(4))
	options := []func(*batchv1.JobSpec){backoffLimit(100)}
	actions := []batchv1.PodFailurePolicyAction{count, ignore}
	switch random.IntN(3) {
	case 0:
		options = append(options, completions(size))
	case 1:
		options = append(options, indexed(size))
	default:
		options = append(options, indexed(size), perIndex(int32(random.IntN(3))))
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	if random.IntN(2) == 0 {
		options = append(options, replaceFailed)
	}
	s := scenario{
		name: "living", job: managed(1+random.Int32N(3), options...), settings: randomSettings(random),
		fate: randomFate(random, []int32{1, 0, runs, stuck, restarts}, 2),
	}
	s.liveOn(actions[random.IntN(len(actions))])
	return s
}

// liveOn adds rules on living pods with the given action to a scenario.
func (s *scenario) liveOn(action batchv1.PodFailurePolicyAction) {
	s.policies = []memoryapi.Object{customPolicy("living", livingRules(action)...), bind("living", endsLiving)}
	s.lives = action
}

// lives is the additional state of a cluster in which pods may not end by themselves.
type lives struct {
	// nodes are the states of each node, and bound the states of the binding. The state is true for a Ready node and for an existing
	// binding.
	nodes          map[string][]epoch
	bound          []epoch
	ended, removed int
}

// epoch is a state and its start time.
type epoch struct {
	since time.Time
	state bool
}

func enter(epochs []epoch, state bool) []epoch { return append(epochs, epoch{time.Now(), state}) }

// was reports whether the given state applied at a time or shortly before, when the controller may have observed it last.
func was(epochs []epoch, state bool, at time.Time) bool {
	for i, e := range epochs {
		until := at
		if i+1 < len(epochs) {
			until = epochs[i+1].since
		}
		if e.state == state && !e.since.After(at) && !until.Before(at.Add(-takesEffect)) {
			return true
		}
	}
	return false
}

// now returns the present state, which is initially true.
func now(epochs []epoch) bool { return len(epochs) == 0 || epochs[len(epochs)-1].state }

// disturbLives makes a node become lost, come back or be deleted, or unbinds or binds the policies.
func (d *disorder) disturbLives() {
	name := "node-" + strconv.Itoa(d.random.IntN(2))
	switch ready := now(d.lives.nodes[name]); d.random.IntN(8) {
	case 0:
		d.bindLiving(!now(d.lives.bound))
	case 1:
		d.server.Delete(memoryapi.Nodes, name)
		d.enterNode(name, false)
	default:
		d.setNode(name, !ready)
	}
}

func (c *cluster) bindLiving(bound bool) {
	c.logf("bound: %t", bound)
	if c.lives.bound = enter(c.lives.bound, bound); bound {
		_ = c.server.Apply(bind("living", endsLiving)) // the object is valid
		return
	}
	c.server.Delete(memoryapi.Bindings, "living")
}

// setNode sets whether a node's kubelet is reachable.
func (c *cluster) setNode(name string, ready bool) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	if ready {
		node.Status.Conditions[0].Status = corev1.ConditionTrue
	}
	_ = c.server.Apply(node) // the object is valid
	c.enterNode(name, ready)
}

func (c *cluster) enterNode(name string, ready bool) {
	c.logf("%s ready: %t", name, ready)
	c.lives.nodes[name] = enter(c.lives.nodes[name], ready)
}

// checkEnd is called with each call before it takes effect, and checks calls that end living pods against the rules.
func (c *cluster) checkEnd(q *request) {
	pod := c.pods[q.Name]
	if c.lives == nil || q.Resource != memoryapi.Pods || pod == nil {
		return
	}
	at, why := q.arrived, ""
	switch phase := v1alpha1.PhaseOf(pod); {
	case q.Verb == "patch" && q.Subresource == "status" && c.fails(q, pod):
		c.lives.ended++
		why = c.mustBeLost(pod, at)
		if phase != v1alpha1.PhaseTerminating || !at.After(pod.DeletionTimestamp.Add(lostAge)) {
			why = "it is not terminating for long"
		}
	case q.Verb != "delete" || !conditional(q, pod):
		return
	case phase == corev1.PodFailed:
		c.lives.removed++
		why = c.mustBeLost(pod, at)
		if i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == v1alpha1.Lost }); i < 0 ||
			at.Before(pod.Status.Conditions[i].LastTransitionTime.Add(living.DefaultLostPeriod)) {
			why = "it was not ended for so long"
		}
	case phase == corev1.PodPending:
		c.lives.ended++
		if len(pod.Status.ContainerStatuses) == 0 || !at.After(pod.CreationTimestamp.Add(stuckAge)) {
			why = "it is not stuck"
		}
	case phase == corev1.PodRunning:
		c.lives.ended++
		if pod.Status.ContainerStatuses[0].RestartCount <= 2 && !at.After(pod.Status.StartTime.Add(longAge)) {
			why = "it does not run for long"
		}
	default:
		why = "it is " + string(phase)
	}
	if !was(c.lives.bound, true, at) && len(c.lives.bound) > 0 && at.Sub(c.lives.bound[0].since) > takesEffect {
		why = "no rule is in force"
	}
	if why != "" {
		c.violatedf("%s of %s at %v: %s", q.Call, pod.Name, at, why)
	}
}

// mustBeLost returns an error text if the node of a pod was Ready.
func (c *cluster) mustBeLost(pod *corev1.Pod, at time.Time) string {
	if pod.Spec.NodeName != "" && !was(c.lives.nodes[pod.Spec.NodeName], false, at) {
		return "its node is Ready"
	}
	return ""
}

// fails reports whether a patch sets the unchanged pod to Failed.
func (c *cluster) fails(q *request, pod *corev1.Pod) bool {
	var patch corev1.Pod
	if err := json.Unmarshal(q.Body, &patch); err != nil {
		c.violatedf("%s: %v", q.Call, err)
	}
	return patch.Status.Phase == corev1.PodFailed && patch.ResourceVersion == pod.ResourceVersion
}

// conditional reports whether a deletion requires the pod to be unchanged. Only the loop over living pods makes such calls.
func conditional(q *request, pod *corev1.Pod) bool {
	options, ok := bodyOf(q).(*metav1.DeleteOptions)
	return ok && options.Preconditions != nil && options.Preconditions.ResourceVersion != nil && *options.Preconditions.ResourceVersion == pod.ResourceVersion
}

// endLives binds the policies, and makes one of the nodes Ready. The other one may stay lost.
func (d *disorder) endLives() {
	d.bindLiving(true)
	if d.spares {
		d.fate = succeeds // otherwise, the same attempt is repeated forever
	}
	d.setNode("node-"+strconv.Itoa(d.random.IntN(2)), true)
	synctest.Wait()
}

// endedByRule reports whether a rule on living pods ended a failed pod.
func endedByRule(pod *corev1.Pod) bool { return runtime.EndedBy(pod) != nil }
