//go:build cluster

package living

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// trouble is the problem of the first Pod of a Job.
type trouble string

const (
	noNode     trouble = "no-node"
	noImage    trouble = "no-image"
	restarting trouble = "restarting" // restarts in place, without end
	lost       trouble = "lost"       // its node is lost
	hanging    trouble = "hanging"    // hangs when it is deleted, on a node that is ready
)

// trial is one Job whose first Pod has trouble.
type trial struct {
	name    string // name of the Job
	policy  string // value of its policy label
	trouble trouble
	managed bool
	// action is the action of the Job's own rule on the condition, if it has one.
	action    batchv1.PodFailurePolicyAction
	condition corev1.PodConditionType
	indexes   int32 // number of indexes of a Job with a limit per index, else 0
	want      ending
}

// ending is the end of a Job. POD replaces the name of its first Pod, LAST that of another one.
type ending struct {
	Condition         batchv1.JobConditionType
	Reason, Message   string
	Succeeded, Failed int32
}

const (
	failJob   = batchv1.PodFailurePolicyActionFailJob
	failIndex = batchv1.PodFailurePolicyActionFailIndex
	ignore    = batchv1.PodFailurePolicyActionIgnore
	count     = batchv1.PodFailurePolicyActionCount
)

func byPolicy(message string) ending {
	return ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonPodFailurePolicy, Message: message, Failed: 1}
}

func byCondition(condition string) ending {
	return byPolicy("Pod POD has condition " + condition + " matching FailJob rule at index 0")
}

var (
	completed = ending{
		Condition: batchv1.JobComplete, Reason: batchv1.JobReasonCompletionsReached, Message: "Reached expected number of succeeded pods", Succeeded: 1,
	}
	exceeded = ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonBackoffLimitExceeded, Message: "Job has reached the specified backoff limit", Failed: 1}
	// indexFailed is the end of a Job of two indexes, one of which fails.
	indexFailed = ending{Condition: batchv1.JobFailed, Reason: batchv1.JobReasonFailedIndexes, Message: "Job has failed indexes", Succeeded: 1, Failed: 1}
)

const (
	failing   = v1alpha1.FailingToStart
	stopped   = v1alpha1.Stopped
	limitType = "example.com/RestartLimit"
)

// Trials of Pods that do not start. With a backoffLimit of 0, a counted failure would fail the Job.
var starts = []trial{
	{name: "native-node", policy: "fail", trouble: noNode, action: failJob, condition: failing, want: byCondition("podverdict.io/FailingToStart")},
	{name: "native-image", policy: "fail", trouble: noImage, action: failJob, condition: failing, want: byCondition("podverdict.io/FailingToStart")},
	{name: "native-node-ignored", policy: "fail", trouble: noNode, action: ignore, condition: failing, want: completed},
	{name: "native-image-ignored", policy: "fail", trouble: noImage, action: ignore, condition: failing, want: completed},
	{name: "native-without-rules", policy: "fail", trouble: noImage, want: exceeded},
	{
		name: "managed-node", policy: "fail", trouble: noNode, managed: true,
		want: byPolicy("Pod POD matching FailJob rule node of PodFailurePolicy fail: Unschedulable"),
	},
	{
		name: "managed-image", policy: "fail", trouble: noImage, managed: true,
		want: byPolicy("Pod POD matching FailJob rule image of PodFailurePolicy fail: ImageUnavailable: waits for ImagePullBackOff"),
	},
	{name: "managed-node-ignored", policy: "again", trouble: noNode, managed: true, want: completed},
	{name: "managed-image-ignored", policy: "again", trouble: noImage, managed: true, want: completed},
	{
		name: "managed-budget-" + neverPulled, policy: "again", trouble: noImage, managed: true,
		want: byPolicy("Pod LAST matching FailJob rule start of PodFailurePolicy again after its budget of 1 per Job"),
	},
}

// Trials of Pods that restart in place. Only the policies end them.
var restarts = []trial{
	{name: "native-stopped", policy: "restarts", trouble: restarting, action: failJob, condition: stopped, want: byCondition("podverdict.io/Stopped")},
	{name: "native-own-condition", policy: "own-condition", trouble: restarting, action: failJob, condition: limitType, want: byCondition(limitType)},
	// The Job's own rule matches the default condition, which the policy does not set.
	{name: "native-other-condition", policy: "own-condition", trouble: restarting, action: ignore, condition: stopped, want: exceeded},
	{name: "native-counted", policy: "restarts", trouble: restarting, action: count, condition: stopped, want: exceeded},
	{name: "native-ignored", policy: "restarts", trouble: restarting, action: ignore, condition: stopped, want: completed},
	{name: "native-index", policy: "restarts", trouble: restarting, action: failIndex, condition: stopped, indexes: 2, want: indexFailed},
	{
		name: "managed-restarts", policy: "restarts", trouble: restarting, managed: true,
		want: byPolicy("Pod POD matching FailJob rule loop of PodFailurePolicy restarts: RestartLimit"),
	},
	{name: "managed-restarts-index", policy: "own-condition", trouble: restarting, managed: true, indexes: 2, want: indexFailed},
	{name: "managed-restarts-ignored", policy: "restart-elsewhere", trouble: restarting, managed: true, want: completed},
}

// restartLimit is the number of restarts that the policies allow.
const restartLimit = 3

// conduct runs a trial.
func (w *troubled) conduct(t *testing.T, r trial) {
	t.Helper()
	w.CreateJob(t, w.Namespace, w.job(r))
	first := w.ended(t, r)
	if r.trouble == noNode {
		w.addNode(t, "node-of-"+r.name, map[string]string{poolLabel: r.name}) // before the second Pod, which would not wait for long
		w.checkCollected(t, first)
	}
	job, last := w.UntilFinished(t, w.Namespace, r.name)
	got := ending{last.Type, last.Reason, w.anonymous(r, last.Message, first), job.Status.Succeeded, job.Status.Failed}
	if diff := cmp.Diff(r.want, got); diff != "" {
		t.Errorf("the end of the Job (-want +got):\n%s", diff)
	}
	if r.trouble != restarting {
		return
	}
	if n := w.witness.restarts(first); n <= restartLimit {
		t.Errorf("Pod %s was ended after %d restarts, with a limit of %d", first, n, restartLimit)
	} else {
		t.Logf("ended after %d restarts", n)
	}
}

// job returns the Job of a trial.
func (w *troubled) job(r trial) *batchv1.Job {
	job := testcluster.NewJob(r.name, nil)
	job.Labels, job.Spec.BackoffLimit = map[string]string{"policy": r.policy}, new(int32(0))
	job.Spec.Template.Annotations = map[string]string{troubleAnnotation: string(r.trouble)}
	job.Spec.Template.Spec.NodeSelector = map[string]string{poolLabel: worker}
	switch r.trouble {
	case noNode:
		job.Spec.Template.Spec.NodeSelector[poolLabel] = r.name
	case restarting:
		testcluster.RestartInPlace(&job.Spec, restartCode)
	default:
	}
	if r.managed {
		job.Spec.ManagedBy = new(controller.Name)
	}
	if r.indexes > 0 {
		testcluster.Indexed(&job.Spec, r.indexes, r.indexes)
		job.Spec.BackoffLimit, job.Spec.BackoffLimitPerIndex = nil, new(int32(1)) // for a counted failure
	}
	if r.action != "" {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: r.action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: r.condition}}},
		}}
	}
	return job
}

// ended waits until a Pod of the Job has been deleted, and returns its name.
func (w *troubled) ended(t *testing.T, r trial) (name string) {
	t.Helper()
	testcluster.Eventually(t, "a Pod of "+r.name+" is deleted", func(context.Context) (found bool, _ error) {
		name, found = w.witness.deleted(r.name)
		return found, nil
	})
	return name
}

// checkCollected checks in the audit log that PodGC set the phase of a Pod without a node.
func (w *troubled) checkCollected(t *testing.T, pod string) {
	t.Helper()
	const collector = "system:serviceaccount:kube-system:pod-garbage-collector"
	testcluster.Eventually(t, "PodGC writes the status of "+pod, func(context.Context) (bool, error) {
		for _, event := range w.Cluster.AuditLog(t, w.Namespace) {
			if ref := event.ObjectRef; ref.Resource == "pods" && ref.Name == pod && ref.Subresource == "status" && event.User.Username == collector {
				return true, nil
			}
		}
		return false, nil
	})
}

// anonymous returns a message without names that differ from run to run.
func (w *troubled) anonymous(r trial, message, first string) string {
	message = strings.ReplaceAll(message, w.Namespace+"/"+first, "POD")
	if rest, found := strings.CutPrefix(message, "Pod "+w.Namespace+"/"+r.name); found {
		if _, rest, found = strings.Cut(rest, " "); found {
			return "Pod LAST " + rest
		}
	}
	return message
}
