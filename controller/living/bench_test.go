package living

import (
	"context"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/controller/caches"
	"github.com/podverdict/podverdict/controller/internal/fixtures"
	"github.com/podverdict/podverdict/runtime/binding"
)

// BenchmarkPendingLook is a look at pods that wait, a hundred a Job, and that no rule matches yet.
func BenchmarkPendingLook(b *testing.B) {
	const pods, parallelism = 10_000, 100
	early := lateImage()
	early.When = "'ImagePullBackOff' in pod.waitingReasons() && pod.pendingFor(now) > duration('24h')"
	set := fixtures.SetOf(b, startPolicy(early))
	caches, err := caches.New(fake.NewClientset(), "", true)
	fixtures.Put(b, err)
	rules := func(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
		return set.For(ctx, job, nil), nil
	}
	p := New(Options{Caches: caches, Others: true, Clock: clock.RealClock{}, Period: DefaultPeriod})
	for i := range pods {
		job := "job-" + strconv.Itoa(i/parallelism)
		if i%parallelism == 0 {
			_ = caches.Jobs.Add(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: job, UID: types.UID(job)}}) // has no errors
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: job + "-" + strconv.Itoa(i), UID: types.UID(strconv.Itoa(i)), CreationTimestamp: metav1.NewTime(time.Now()),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job, UID: types.UID(job), Controller: new(true)}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
			}}},
		}
		_ = caches.Pods.Add(pod)
	}
	none := func(context.Context, *batchv1.Job) (binding.Selection, error) { return binding.Selection{}, nil }
	for name, selection := range map[string]func(context.Context, *batchv1.Job) (binding.Selection, error){"rules": rules, "none": none} {
		b.Run(name, func(b *testing.B) {
			p.Selection = selection
			for b.Loop() {
				p.PoliciesChanged("")
				p.runOnce(b.Context())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pods, "ns/pod")
		})
	}
}
