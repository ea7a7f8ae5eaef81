package ecosystem

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// retryObjects are a queue with memory for two Pods of the Job one, which has four indexes, and a policy for that Job.
const retryObjects = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: $NAMESPACE}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: $NAMESPACE}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [memory]
    flavors: [{name: $NAMESPACE, resources: [{name: memory, nominalQuota: 1300Mi}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue}
spec: {clusterQueue: $NAMESPACE}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: $NAMESPACE}
spec:
  rules:
  - name: memory
    when: "pod.failedContainers().exists(c, c.oomKilled)"
    action: Ignore
    retryDelay: 0s
    retry: {memory: {factor: "1.5", max: 4Gi}}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: $NAMESPACE}
spec: {policyName: $NAMESPACE, jobSelector: {matchLabels: {policy: $NAMESPACE}}}
`

// retryJob is a Job of the queue whose name, number of indexes, memory and annotations are to be filled in.
const retryJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: %[1]s, labels: {kueue.x-k8s.io/queue-name: queue, policy: $NAMESPACE}, annotations: {%[4]s}}
spec:
  completionMode: Indexed
  completions: %[2]d
  parallelism: %[2]d
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      nodeSelector: {arm: $NAMESPACE}
      containers: [{name: main, image: main, resources: {requests: {memory: %[3]s}, limits: {memory: %[3]s}}}]
`

// TestRetryBeyondAdmission has an attempt of a Job that is admitted in part get more memory than Kueue has admitted. Kueue does not
// look at Pods of Jobs, but at the template: the Workload and the usage of the queue stay what they were, and the queue admits more
// than fits. An event says so.
func TestRetryBeyondAdmission(t *testing.T) {
	const (
		used     = ".status.flavorsUsage[0].resources[0].total="
		admitted = ".status.admission.podSetAssignments[0].resourceUsage.memory="
	)
	w := newEcosystem(t, "")
	defer w.startController(t)()
	w.install(t, kueue, "")
	w.watch(t)
	a := &arm{ecosystem: w, namespace: w.Cluster.Namespace(t), managed: true, context: t.Context(), test: t}
	needs, ends := resource.MustParse("700Mi"), atomic.Bool{}
	testcluster.PlayNode(t, w.Client, a.namespace, map[string]string{"arm": a.namespace}, func(pod *corev1.Pod) testcluster.Act {
		if pod.Labels[batchv1.JobNameLabel] == "one" && pod.Labels[batchv1.JobCompletionIndexAnnotation] == "0" && pod.Spec.Containers[0].Resources.Limits.Memory().Cmp(needs) < 0 {
			return testcluster.Act{Ends: true, Code: 137, Reason: "OOMKilled"}
		}
		return testcluster.Act{Ends: ends.Load()}
	})
	a.do(t, a.createText(retryObjects))
	a.do(t, a.createText(fmt.Sprintf(retryJob, "one", 4, "512Mi", `kueue.x-k8s.io/job-min-parallelism: "2"`)))
	a.do(t, a.runsWith("one", "0", "768Mi"))
	a.do(t, a.runsWith("one", "1", "512Mi"))
	a.do(t, a.told("RetryBeyondAdmission", "Queue queue admitted the Job with the memory of its template, which is less", "memory of main: 512Mi -> 768Mi"))
	a.do(t, a.becomes("clusterqueue", "NAMESPACE", used+"1Gi"))
	a.do(t, a.becomes("workload", "@one", admitted+"1Gi"))
	a.do(t, a.becomes("workload", "@one", ".spec.podSets[0].template.spec.containers[0].resources.requests.memory=512Mi"))

	// 256Mi do not fit any more, in truth.
	a.do(t, a.createText(fmt.Sprintf(retryJob, "two", 1, "256Mi", "")))
	a.do(t, a.runsWith("two", "0", "256Mi"))
	a.do(t, a.becomes("clusterqueue", "NAMESPACE", used+"1280Mi"))

	// A Job that is stopped and admitted again is admitted by its template again, and goes on as it was.
	a.do(t, a.patch("workload", "@one", `{"spec":{"active":false}}`))
	a.do(t, a.becomes("job", "one", ".spec.suspend=true"))
	a.do(t, a.pods(nil, []string{"one", "0", "Running"}))
	a.do(t, a.patch("workload", "@one", `{"spec":{"active":true}}`))
	a.do(t, a.runsWith("one", "0", "768Mi"))
	a.do(t, a.runsWith("one", "1", "512Mi"))
	a.do(t, a.becomes("workload", "@one", admitted+"1Gi"))
	ends.Store(true)
	a.do(t, a.becomes("job", "one", "Complete"))
	a.do(t, a.becomes("job", "two", "Complete"))
	a.do(t, a.becomes("clusterqueue", "NAMESPACE", used+"0"))
}

// do fails the test if there is an error.
func (a *arm) do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v\n%s", err, a.describe())
	}
}

func (a *arm) createText(text string) error {
	objects, err := decode([]byte(strings.ReplaceAll(text, "$NAMESPACE", a.namespace)))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := manage(object); err != nil {
			return err
		}
	}
	return a.ecosystem.create(a.context, a.namespace, objects...)
}

func (a *arm) becomes(kind, name, what string) error {
	return a.until(nil, []string{kind, name, what})
}

// runsWith waits until the Pod of an index runs with the memory.
func (a *arm) runsWith(job, index, memory string) error {
	return a.each(job, index, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && pod.Spec.Containers[0].Resources.Requests.Memory().String() == memory
	}, func(*corev1.Pod) error { return nil })
}

// told waits for an event whose note has all the words.
func (a *arm) told(reason string, words ...string) error {
	return await(a.context, "there is an event "+reason, func(ctx context.Context) error {
		events, err := a.Client.EventsV1().Events(a.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			missing := e.Reason != reason
			for _, word := range words {
				missing = missing || !strings.Contains(e.Note, word)
			}
			if !missing {
				return nil
			}
		}
		return fmt.Errorf("there is none among %d", len(events.Items))
	})
}
