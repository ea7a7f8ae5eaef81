package running

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// testJob is a reconciler with a test client.
type testJob struct {
	*reconciler

	api    *fake.Clientset
	now    *testingclock.FakeClock
	events *events.FakeRecorder
	key    types.NamespacedName
}

func newTestJob(t *testing.T, job *batchv1.Job) *testJob {
	t.Helper()
	job.Namespace, job.UID, job.ResourceVersion = "ns", "job-uid", "1"
	d := &testJob{
		api: fake.NewClientset(job), now: testingclock.NewFakeClock(time.Unix(1e9, 0)), events: events.NewFakeRecorder(100),
		key: types.NamespacedName{Namespace: job.Namespace, Name: job.Name},
	}
	caches, err := caches.New(d.api, "", false)
	fixtures.Put(t, err)
	d.reconciler = &reconciler{width: 1, free: func([]*corev1.Pod) {}, Options: Options{
		Client: d.api, Caches: caches, Program: fixtures.Program, Recorder: d.events, Metrics: fixtures.NewCounted(t).Metrics, Clock: d.now,
		BatchPeriod: time.Second, Judged: func(*corev1.Pod, runtime.Verdict, []binding.Would) {},
		Selection: fixtures.NoPolicies,
	}}
	fixtures.Put(t, d.Caches.Jobs.Add(job))
	return d
}
