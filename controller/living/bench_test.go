package living

import (
	"context"
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime/binding"
)

// benchmarkedRules returns twenty rules on Running that match nothing within a day. Half of them become due after some hours.
func benchmarkedRules(polled bool) (rules []v1alpha1.Rule) {
	for i := range 20 {
		r := crashLoop()
		r.Name = "r" + strconv.Itoa(i)
		switch r.When = fmt.Sprintf("pod.restarts() > %d && pod.runningFor(now) > duration('%dh')", i+1, i+1); {
		case polled:
			r.When = fmt.Sprintf("pod.restarts() > %d && now - pod.metadata.?creationTimestamp.orValue(now) > duration('%dh')", i+1, i+1)
		case i%2 == 0:
			r.When = fmt.Sprintf("pod.waitingReasons().exists(r, r == 'CrashLoopBackOff') && pod.restarts() > %d", i+1)
		}
		rules = append(rules, r)
	}
	return rules
}

// newBenchmark returns a loop over pods that have run for up to a day, a hundred per Job.
func newBenchmark(b *testing.B, pods int, rules ...v1alpha1.Rule) (*Loop, *testingclock.FakeClock) {
	b.Helper()
	const parallelism = 100
	set := fixtures.SetOf(b, startPolicy(rules...))
	caches, err := caches.New(fake.NewClientset(), "", true)
	fixtures.Put(b, err)
	selections := map[types.UID]binding.Selection{} // the registry caches them
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := testingclock.NewFakeClock(start)
	l := New(Options{
		Caches: caches, Others: true, Clock: clock, Period: DefaultPeriod, LostPeriod: DefaultLostPeriod,
		Selection: func(_ context.Context, job *batchv1.Job) (binding.Selection, error) { return selections[job.UID], nil },
	})
	for i := range pods {
		job := "job-" + strconv.Itoa(i/parallelism)
		if i%parallelism == 0 {
			owner := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: job, UID: types.UID(job)}}
			selections[owner.UID] = set.For(b.Context(), owner, nil)
			_ = caches.Jobs.Add(owner) // Add never fails
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: job + "-" + strconv.Itoa(i), UID: types.UID(strconv.Itoa(i)),
				CreationTimestamp: metav1.NewTime(start.Add(-time.Duration(i) * 24 * time.Hour / time.Duration(pods))),
				OwnerReferences:   []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job, UID: types.UID(job), Controller: new(true)}},
			},
			Spec: corev1.PodSpec{NodeName: "node-" + strconv.Itoa(i/50)},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}}},
		}
		_ = caches.Pods.Add(pod)
	}
	caches.Keep(fixtures.Everything, v1alpha1.LivingPhases...)
	l.PoliciesChanged("")
	return l, clock
}

// BenchmarkMinute simulates a minute without changes, with 50,000 pods and twenty rules that use either age functions or times that they
// compute themselves. It reports the share of a core.
func BenchmarkMinute(b *testing.B) {
	for name, polled := range map[string]bool{"due": false, "polled": true} {
		b.Run(name, func(b *testing.B) {
			l, clock := newBenchmark(b, 50_000, benchmarkedRules(polled)...)
			l.runOnce(b.Context())
			start := used(b)
			for b.Loop() {
				for end := clock.Now().Add(time.Minute); clock.Now().Before(end); clock.Step(pause) {
					if due := l.next(); !due.After(clock.Now()) {
						l.runOnce(b.Context())
					}
				}
			}
			b.ReportMetric(100*(used(b)-start).Minutes()/float64(b.N), "%-of-a-core")
		})
	}
}

// used returns the CPU time of this process.
func used(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	fixtures.Put(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkLook evaluates all of 10,000 pods after a change of policies.
func BenchmarkLook(b *testing.B) {
	const pods = 10_000
	l, _ := newBenchmark(b, pods, benchmarkedRules(false)...)
	for b.Loop() {
		l.PoliciesChanged("")
		l.runOnce(b.Context())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pods, "ns/pod")
}
