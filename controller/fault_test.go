package controller_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

var (
	schedules     = flag.Int("fault-schedules", 800, "how many random fault schedules to run")
	firstSchedule = flag.Int("fault-first", 0, "the number of the first one, to run one again")
)

// TestFaultSchedules runs random Jobs under random faults: calls that fail, with or without effect, or whose response is lost; calls
// that take effect in any order, and late; caches that lag, and watches that break; crashes. The invariants are checked after every
// change, and in the end the Job has ended and no pod is held. Half of the Jobs have an outcome that depends only on the fates of
// their pods, and must be the same as without faults. The others are disturbed by users.
//
// The number of a schedule determines the random choices. Informers wait for random times between two tries, so a schedule is not
// always the same when it is run again. The history printed with a violation is the actual one.
func TestFaultSchedules(t *testing.T) {
	t.Parallel()
	schedules := schedulesToRun()
	var crashes, faulty, writes atomic.Int64
	t.Cleanup(func() { // after all shards
		t.Logf("%d schedules, %d writes, %d faults, %d crashes", schedules, writes.Load(), faulty.Load(), crashes.Load())
		if many := int64(schedules); many > 100 && (crashes.Load() < many/10 || faulty.Load() < many) {
			t.Error("too little goes wrong")
		}
	})
	for shard := range shards {
		t.Run(strconv.Itoa(shard), func(t *testing.T) {
			t.Parallel()
			wanted := map[int]string{}
			for n := *firstSchedule + shard; n < *firstSchedule+schedules && !t.Failed(); n += shards {
				d := scheduled(t, n, wanted)
				crashes.Add(int64(d.crashes))
				faulty.Add(int64(d.faulty))
				writes.Add(int64(d.writes))
			}
		})
	}
}

// schedulesToRun returns the number of schedules set by the flag, or fewer in go test -short.
func schedulesToRun() int {
	if testing.Short() {
		return *schedules / 40
	}
	return *schedules
}

// shards run concurrently. Their number divides calmScenarios.
const shards = 4

// scheduled runs a schedule. The expected outcomes of calm Jobs are computed on first use.
func scheduled(t *testing.T, n int, wanted map[int]string) *disorder {
	t.Helper()
	random := rand.New(rand.NewPCG(4242, uint64(n)))
	s := wildScenario(random)
	kind, calm := n%calmScenarios, n%2 == 0
	if calm {
		s = calmScenario(kind)
	}
	s.listsOnly = n/2%2 == 0
	if _, known := wanted[kind]; calm && !known {
		c := isolated(t, s, (*cluster).settle)
		sound(t, c)
		wanted[kind] = c.outcome()
	}
	var d *disorder
	isolated(t, s, func(c *cluster) {
		d = &disorder{cluster: c, random: random, wild: !calm}
		d.run()
	})
	if got := d.outcome(); calm && got != wanted[kind] {
		d.violatedf("outcome %s\nwanted  %s", got, wanted[kind])
	}
	if len(d.violations) > 0 {
		t.Errorf("schedule %d: %s", n, d)
	}
	return d
}

// disorder makes random choices about the events in a cluster.
type disorder struct {
	*cluster

	random *rand.Rand
	wild   bool // whether users disturb the Job
	faulty int
	// late holds calls that may still take effect after their client has lost the connection.
	late []*request
}

// callTimeout is the timeout requested by the controller. The API server aborts older calls.
const callTimeout = 30 * time.Second

// run triggers random events for a while, and then lets the Job end.
func (d *disorder) run() {
	d.server.Hold(memoryapi.Jobs, memoryapi.Pods)
	for range 20 + d.random.IntN(300) {
		synctest.Wait()
		if len(d.violations) > 0 {
			return
		}
		d.step()
	}
	d.end()
}

// end lets the Job end: the caches are up to date, and users resume the Job.
func (d *disorder) end() {
	for len(d.late) > 0 {
		d.takeEffect(0, d.chance(2))
	}
	if d.lives != nil {
		d.endLives()
	}
	if d.wild && d.job != nil && !ended(d.job) {
		d.changeJob(func(s *batchv1.JobSpec) { s.Suspend, s.Parallelism = new(false), new(max(1, *s.Parallelism)) })
	}
	if d.wild {
		d.fate = succeeds // some would run forever or never stop failing
	}
	d.settle()
}

func (d *disorder) chance(n int) bool { return d.random.IntN(n) == 0 }

func (d *disorder) step() {
	if d.lives != nil && d.chance(15) {
		d.disturbLives()
		return
	}
	switch draw := d.random.IntN(100); {
	case draw < 50:
		d.call()
	case draw < 62:
		d.server.Show(memoryapi.Jobs, 1+d.random.IntN(3))
	case draw < 76:
		d.server.Show(memoryapi.Pods, 1+d.random.IntN(4))
	case draw < 90:
		if busy := d.busy(); len(busy) > 0 {
			d.kubelet.move(busy[d.random.IntN(len(busy))])
		}
	case draw < 94:
		periods := []time.Duration{10 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 35 * time.Second, 700 * time.Second}
		d.pause(periods[d.random.IntN(len(periods))])
	case draw < 96:
		if len(d.late) > 0 {
			d.takeEffect(d.random.IntN(len(d.late)), true)
		}
	case draw < 98:
		d.breakWatches()
	case draw < 99:
		d.crashDisorderly()
	default:
		if d.wild {
			d.user()
		}
	}
}

// call serves one of the waiting calls, or makes it fail.
func (d *disorder) call() {
	waiting := d.wire.requests()
	if len(waiting) == 0 {
		d.pause(50 * time.Millisecond)
		return
	}
	q := waiting[d.random.IntN(len(waiting))]
	d.before(q)
	if !d.chance(5) {
		d.serve(q)
		return
	}
	f := fault(1 + d.random.IntN(int(faults)-1))
	d.faulty++
	d.logf("fault %d: %s", f, q.Call)
	if f == conflict && q.Verb != "update" && q.Verb != "patch" {
		f = tooMany
	}
	if d.wire.spoil(q, f) {
		d.late = append(d.late, q)
	}
}

// before lets the late calls to the same object take effect, because the API server does not reorder calls that are so far apart.
func (d *disorder) before(q *request) {
	for i, other := range slices.Backward(d.late) {
		if other.Resource == q.Resource && objectOf(other) == objectOf(q) {
			d.takeEffect(i, true)
		}
	}
}

// objectOf returns the name of the object of a call. For a creation, it is in the body.
func objectOf(q *request) string {
	if q.Name != "" {
		return q.Name
	}
	if known, err := meta.Accessor(bodyOf(q)); err == nil {
		return known.GetName()
	}
	return ""
}

// bodyOf returns the object in the body of a call, or nil.
func bodyOf(q *request) runtime.Object {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(q.Body, nil, nil)
	if err != nil {
		return nil
	}
	return object
}

// takeEffect completes a late call.
func (d *disorder) takeEffect(i int, effective bool) {
	q := d.late[i]
	d.late = slices.Delete(d.late, i, i+1)
	if effective && time.Since(q.arrived) < callTimeout {
		d.logf("late: %s", q.Call)
		d.wire.effect(q)
	}
}

func (d *disorder) breakWatches() {
	resource := []string{memoryapi.Jobs, memoryapi.Pods}[d.random.IntN(2)]
	switch d.random.IntN(3) {
	case 0:
		d.server.Bookmark(resource)
	case 1:
		d.server.Compact(resource)
		d.server.CloseWatches(resource)
	default:
		d.server.CloseWatches(resource)
	}
}

// crashDisorderly lets some of the calls under way take effect before the controller crashes.
func (d *disorder) crashDisorderly() {
	for _, q := range d.wire.requests() {
		if d.chance(2) {
			d.logf("in flight: %s", q.Call)
			d.wire.effect(q)
		}
	}
	for len(d.late) > 0 {
		d.takeEffect(0, d.chance(2))
	}
	d.crash()
}

// user makes a random change to the Job or a pod.
func (d *disorder) user() {
	pods := d.server.Pods()
	if d.job == nil || ended(d.job) {
		return
	}
	switch d.random.IntN(6) {
	case 0:
		d.changeJob(func(s *batchv1.JobSpec) { s.Suspend = new(!*s.Suspend) })
	case 1:
		d.changeParallelism(d.random.Int32N(5))
	case 2:
		if d.chance(4) {
			_ = d.server.DeleteJob(namespace, jobName) // it exists
		}
	default:
		if len(pods) > 0 {
			d.disturb(pods[d.random.IntN(len(pods))])
		}
	}
}

// disturb deletes or evicts a pod.
func (d *disorder) disturb(pod *corev1.Pod) {
	if d.chance(3) && active(pod) {
		d.evict(pod)
		return
	}
	_ = d.server.DeletePod(pod.Namespace, pod.Name, -1) // it exists
}

func (d *disorder) changeParallelism(n int32) {
	spec := d.job.Spec
	if spec.SuccessPolicy == nil && *spec.CompletionMode == batchv1.IndexedCompletion && *spec.Completions == *spec.Parallelism {
		d.changeJob(scale(max(1, n)))
		return
	}
	d.changeJob(parallelism(n))
}
