//go:build cluster

package living

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// growing is the number of indexes of Jobs whose indexes need one to three growths.
const growing = 100

// sizes has the request and the limit of the template, and those after each growth by half, rounded up to a whole Mi.
var sizes = []string{"301Mi/500Mi", "452Mi/750Mi", "678Mi/1125Mi", "1016Mi/1688Mi"}

// growths returns the number of times that the memory of an index must grow.
func growths(index int) int { return 1 + index%3 }

// evicted reports whether an attempt is evicted before it ends: at a quarter of the indexes the first attempt, at another
// quarter the one after the first growth.
func evicted(index, attempt int) bool {
	return index%4 == 3 && attempt == 1 || index%4 == 1 && attempt == 2
}

// model returns the sizes of all Pods of an index.
func model(index int) (all []string) {
	for grown, attempt := 0, 1; grown <= growths(index); attempt++ {
		all = append(all, sizes[grown])
		if !evicted(index, attempt) {
			grown++
		}
	}
	return all
}

// needful makes a container run out of memory until it has the size after its index's growths.
func needful(pod *corev1.Pod) testcluster.Act {
	index, attempt, _ := plan.Place(pod)
	switch {
	case evicted(index, attempt):
		return testcluster.Act{}
	case sizeOf(pod) != sizes[growths(index)]:
		return testcluster.Act{Ends: true, Code: 137, Reason: "OOMKilled"}
	default:
		return testcluster.Act{Ends: true}
	}
}

// testGrowths tests that each index gets the memory that it needs, even if Pods are evicted and the controller is killed
// twice. Each Pod that ever existed has the size given by the model.
func (w *retrying) testGrowths(t *testing.T) {
	t.Helper()
	namespace, witness := w.namespace(t, needful)
	w.createJob(t, namespace, "grow", growing)
	stop := w.keepEvicting(t, witness)
	defer stop()
	for _, pods := range []int{growing + growing/2, 2*growing + growing/2} {
		testcluster.Eventually(t, "there are many Pods", func(context.Context) (bool, error) { return len(witness.seen()) > pods, nil })
		w.killController(t)
	}
	job, last := w.UntilFinished(t, namespace, "grow")
	if last.Type != batchv1.JobComplete || job.Status.Succeeded != growing {
		t.Errorf("the Job ends with %+v", job.Status)
	}
	want := map[int][]string{}
	for index := range growing {
		want[index] = model(index)
	}
	if diff := cmp.Diff(want, witness.sizes()); diff != "" {
		t.Errorf("sizes of the Pods (-model +got):\n%s", diff)
	}
	w.UntilEvent(t, namespace, "", "RetryMended", "500Mi -> 750Mi")
}

// testWithout tests that without the retry the same Job fails.
func (w *retrying) testWithout(t *testing.T) {
	t.Helper()
	namespace, witness := w.namespace(t, needful)
	w.createJob(t, namespace, "plain", growing)
	stop := w.keepEvicting(t, witness)
	defer stop()
	if job, last := w.UntilFinished(t, namespace, "plain"); last.Type != batchv1.JobFailed || last.Reason != batchv1.JobReasonMaxFailedIndexesExceeded {
		t.Errorf("the Job ends with %+v", job.Status)
	}
	for _, pod := range witness.seen() {
		if got := sizeOf(pod); got != sizes[0] {
			t.Errorf("%s has %s", pod.Name, got)
		}
	}
}

// keepEvicting evicts each running Pod selected by evicted, until stop is called.
func (w *retrying) keepEvicting(t *testing.T, seen *attempts) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(200 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			for _, pod := range seen.seen() {
				index, attempt, _ := plan.Place(pod)
				if !evicted(index, attempt) || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
					continue
				}
				if err := w.evict(ctx, pod); err != nil && ctx.Err() == nil {
					t.Errorf("%s is not evicted: %v", pod.Name, err)
				}
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// refusal is a limit of the namespace that is lower than the memory of an index's third attempt. Index 0 needs all sizes,
// and each further index one size less.
type refusal struct {
	name, limits, raised, says string

	indexes int
}

var refusals = []refusal{
	{
		name:   "LimitRange",
		limits: `{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Container, max: {memory: 1Gi}}]}}`,
		raised: `{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Container, max: {memory: 4Gi}}]}}`,
		says:   "maximum memory usage per Container is 1Gi, but limit is 1125Mi",

		indexes: 3,
	},
	{
		name:   "ResourceQuota",
		limits: `{apiVersion: v1, kind: ResourceQuota, metadata: {name: limits}, spec: {hard: {limits.memory: 1Gi}}}`,
		raised: `{apiVersion: v1, kind: ResourceQuota, metadata: {name: limits}, spec: {hard: {limits.memory: 4Gi}}}`,
		says:   "exceeded quota: limits, requested: limits.memory=1125Mi",

		indexes: 1, // other indexes could briefly lack quota
	},
}

// testRefusal tests that a rejected growth is reported with its numbers and retried. The index does not get a Pod of the
// old size meanwhile, and an index that needs less does not wait.
func (w *retrying) testRefusal(t *testing.T, r refusal) {
	t.Helper()
	last := func(index int) int { return len(sizes) - 1 - index }
	namespace, witness := w.namespace(t, func(pod *corev1.Pod) testcluster.Act {
		if index, _, _ := plan.Place(pod); sizeOf(pod) != sizes[last(index)] {
			return testcluster.Act{Ends: true, Code: 137, Reason: "OOMKilled"}
		}
		return testcluster.Act{Ends: true}
	})
	w.limit(t, namespace, r.limits)
	job := w.createJob(t, namespace, "grow", int32(r.indexes))
	w.UntilEvent(t, namespace, "", "FailedCreate", "memory of main: request 301Mi -> 678Mi, limit 500Mi -> 1125Mi (memory of policy grow, 2 matches): ", r.says)
	before, after, content := map[int][]string{}, map[int][]string{}, int32(0)
	for index := range r.indexes {
		before[index], after[index] = sizes[:2], sizes[:1+last(index)]
		if last(index) < 2 {
			content++
		}
	}
	testcluster.Eventually(t, "indexes that are content with less succeed", func(ctx context.Context) (_ bool, err error) {
		job, err = w.Client.BatchV1().Jobs(namespace).Get(ctx, job.Name, metav1.GetOptions{})
		return err == nil && job.Status.Succeeded == content, err
	})
	time.Sleep(2 * time.Second) // no change is expected
	if diff := cmp.Diff(before, witness.sizes()); diff != "" {
		t.Errorf("sizes of the Pods before the limit is raised (-want +got):\n%s", diff)
	}
	w.limit(t, namespace, r.raised)
	if job, last := w.UntilFinished(t, namespace, "grow"); last.Type != batchv1.JobComplete {
		t.Errorf("the Job ends with %+v", job.Status)
	}
	if diff := cmp.Diff(after, witness.sizes()); diff != "" {
		t.Errorf("sizes of the Pods (-want +got):\n%s", diff)
	}
}

// limit applies an object, and waits until the API server enforces it.
func (w *retrying) limit(t *testing.T, namespace, object string) {
	t.Helper()
	w.Kubectl(t, []byte(object), "apply", "-n", namespace, "-f", "-")
	if strings.Contains(object, "ResourceQuota") {
		w.Kubectl(t, nil, "wait", "-n", namespace, "quota/limits", "--for=jsonpath={.status.hard}", "--timeout=1m")
	}
}
