//go:build cluster

package pending

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/installed"
)

// trial is one Job whose pod does not start.
type trial struct {
	name      string // of the Job
	policy    string // that its label names
	managed   bool
	scheduled bool // the pod waits for its image, else for a node
	// action is that of the Job's own rule on the condition, if it has one.
	action batchv1.PodFailurePolicyAction
	want   ending
}

// ending is how a Job finishes. POD stands for its first pod, LAST for another one.
type ending struct {
	Condition         batchv1.JobConditionType
	Reason, Message   string
	Succeeded, Failed int32
}

const (
	failJob = batchv1.PodFailurePolicyActionFailJob
	ignore  = batchv1.PodFailurePolicyActionIgnore
)

func byPolicy(message string) ending {
	return ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonPodFailurePolicy, Message: message, Failed: 1}
}

var completed = ending{
	Condition: batchv1.JobComplete, Reason: batchv1.JobReasonCompletionsReached, Message: "Reached expected number of succeeded pods", Succeeded: 1,
}

var trials = []trial{
	{name: "native-node", policy: "fail", action: failJob, want: byPolicy(byCondition)},
	{name: "native-image", policy: "fail", scheduled: true, action: failJob, want: byPolicy(byCondition)},
	// A backoffLimit of 0 leaves no room for a failure that counts.
	{name: "native-node-ignored", policy: "fail", action: ignore, want: completed},
	{name: "native-image-ignored", policy: "fail", scheduled: true, action: ignore, want: completed},
	{
		name: "native-without-rules", policy: "fail", scheduled: true,
		want: ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonBackoffLimitExceeded, Message: "Job has reached the specified backoff limit", Failed: 1},
	},
	{name: "managed-node", policy: "fail", managed: true, want: byPolicy("Pod POD matching FailJob rule node of PodFailurePolicy fail: Unschedulable")},
	{
		name: "managed-image", policy: "fail", managed: true, scheduled: true,
		want: byPolicy("Pod POD matching FailJob rule image of PodFailurePolicy fail: ImageUnavailable: waits for ImagePullBackOff"),
	},
	{name: "managed-node-ignored", policy: "again", managed: true, want: completed},
	{name: "managed-image-ignored", policy: "again", managed: true, scheduled: true, want: completed},
	{
		name: "managed-budget-" + neverPulled, policy: "again", managed: true, scheduled: true,
		want: byPolicy("Pod LAST matching FailJob rule start of PodFailurePolicy again after its budget of 1 per Job"),
	},
}

const byCondition = "Pod POD has condition podverdict.io/FailingToStart matching FailJob rule at index 0"

// Whoever runs the Job, it ends as its policy says, because of a pod that has never started.
func TestPendingPods(t *testing.T) {
	w := newWorld(t)
	t.Run("trials", func(t *testing.T) {
		for _, r := range trials {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				w.conduct(t, r)
			})
		}
	})
}

func (w *world) conduct(t *testing.T, r trial) {
	t.Helper()
	w.create(t, r)
	first := w.ended(t, r)
	if !r.scheduled {
		w.addNode(t, "node-of-"+r.name, map[string]string{poolLabel: r.name}) // before there is a second pod, which would not wait for long
		w.checkCollected(t, first)
	}
	var job *batchv1.Job
	var last batchv1.JobCondition
	installed.Eventually(t, "the Job finishes", func(ctx context.Context) (_ bool, err error) {
		job, err = w.client.BatchV1().Jobs(w.namespace).Get(ctx, r.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, last = range job.Status.Conditions {
			if last.Type == batchv1.JobComplete || last.Type == batchv1.JobFailed {
				return true, nil
			}
		}
		return false, nil
	})
	got := ending{last.Type, last.Reason, w.anonymous(r, last.Message, first), job.Status.Succeeded, job.Status.Failed}
	if diff := cmp.Diff(r.want, got); diff != "" {
		t.Errorf("the end of the Job (-want +got):\n%s", diff)
	}
}

func (w *world) create(t *testing.T, r trial) {
	t.Helper()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Labels: map[string]string{"policy": r.policy}},
		Spec:       batchv1.JobSpec{BackoffLimit: new(int32(0))},
	}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		NodeSelector:  map[string]string{poolLabel: r.name},
		Tolerations:   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers:    []corev1.Container{{Name: container, Image: "image"}},
	}
	if r.scheduled {
		job.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	if r.managed {
		job.Spec.ManagedBy = new(controller.Name)
	}
	if r.action != "" {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: r.action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: v1alpha1.FailingToStart}}},
		}}
	}
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if _, err := w.client.BatchV1().Jobs(w.namespace).Create(t.Context(), job, options); err != nil {
		t.Fatal(err)
	}
}

// ended waits until the first pod has been deleted, and returns its name.
func (w *world) ended(t *testing.T, r trial) string {
	t.Helper()
	var name string
	installed.Eventually(t, "the first pod is deleted", func(ctx context.Context) (bool, error) {
		pods, err := w.pods(ctx, r.name)
		if err != nil || len(pods) == 0 && name == "" {
			return false, err
		}
		if name == "" {
			name = pods[0].Name
		}
		for _, pod := range pods {
			if pod.Name == name {
				return pod.DeletionTimestamp != nil, nil
			}
		}
		return true, nil // it is gone already
	})
	return name
}

// checkCollected looks for who set the phase of a pod that had no node, in the audit log.
func (w *world) checkCollected(t *testing.T, pod string) {
	t.Helper()
	const collector = "system:serviceaccount:kube-system:pod-garbage-collector"
	installed.Eventually(t, "PodGC writes the status of "+pod, func(context.Context) (bool, error) {
		for _, event := range w.cluster.AuditLog(t, w.namespace) {
			if ref := event.ObjectRef; ref.Resource == "pods" && ref.Name == pod && ref.Subresource == "status" && event.User.Username == collector {
				return true, nil
			}
		}
		return false, nil
	})
}

// anonymous returns a message without names that differ from run to run.
func (w *world) anonymous(r trial, message, first string) string {
	message = strings.ReplaceAll(message, w.namespace+"/"+first, "POD")
	if rest, found := strings.CutPrefix(message, "Pod "+w.namespace+"/"+r.name); found {
		if _, rest, found = strings.Cut(rest, " "); found {
			return "Pod LAST " + rest
		}
	}
	return message
}
