package history_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

var update = flag.Bool("update", false, "rewrite testdata/lines.ndjson")

const secret = "s3cret"

var start = time.Date(2026, 6, 15, 9, 0, 0, 0, time.UTC)

// spec returns a PodSpec with a secret in every field that may contain one.
func spec() corev1.PodSpec {
	return corev1.PodSpec{
		NodeName: "worker-1", RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: secret,
		Overhead: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		Volumes:  []corev1.Volume{{Name: secret, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}},
		Containers: []corev1.Container{{
			Name: "main", Image: "registry.example/train:1.0", Command: []string{secret}, Args: []string{secret}, WorkingDir: secret,
			Env:       []corev1.EnvVar{{Name: "TOKEN", Value: secret}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}},
			Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{secret}}}},
		}},
	}
}

func annotations() map[string]string {
	return map[string]string{
		"batch.kubernetes.io/job-completion-index": "3", "kueue.x-k8s.io/workload": "w", "podverdict.io/attempt": "1",
		corev1.LastAppliedConfigAnnotation: secret, "example.com/kubernetes.io": secret, "notkubernetes.io/a": secret, "plain": secret,
	}
}

func pod() *corev1.Pod {
	at := metav1.NewTime(start)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ml", Name: "train-3", UID: "6a8f0c1e-0000-4000-8000-000000000003", ResourceVersion: "12", CreationTimestamp: at,
			Labels: map[string]string{"team": "vision"}, Annotations: annotations(),
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: secret}},
		},
		Spec: spec(),
		Status: corev1.PodStatus{
			Phase: corev1.PodFailed, StartTime: &at, Message: strings.Repeat("ä", 127) + "aü" + secret, PodIP: secret,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: secret, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 137, Reason: "OOMKilled", StartedAt: at, FinishedAt: metav1.NewTime(start.Add(time.Hour)), Message: strings.Repeat("x", 300) + secret,
			}}}},
		},
	}
}

func job() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train", UID: "6a8f0c1e-0000-4000-8000-000000000001", Annotations: annotations()},
		Spec:       batchv1.JobSpec{BackoffLimit: new(int32(3)), Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: annotations()}, Spec: spec()}},
		Status:     batchv1.JobStatus{Failed: 4, Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: strings.Repeat("y", 300) + secret}}},
	}
}

// TestLines compares lines with testdata, which docs/schemas/history.json describes.
func TestLines(t *testing.T) {
	failed, whole := pod(), job()
	verdict := runtime.MatchedExitCode(failed, 0, batchv1.PodFailurePolicyActionFailJob, &failed.Status.ContainerStatuses[0])
	would := []binding.Would{{Verdict: runtime.Unmatched(failed), Policy: "gpu", NotCarriedOut: "the policy is only audited"}}
	reference := history.Reference{Namespace: "ml", Name: "train", UID: whole.UID}
	var got bytes.Buffer
	for _, line := range []any{
		history.NewVerdict(start.Add(2*time.Hour), reference, failed, verdict, would),
		history.NewVerdict(start, history.Reference{}, failed, runtime.Unmatched(failed), nil), history.Pod(failed), history.Job(whole),
	} {
		if err := history.Write(&got, line); err != nil {
			t.Fatal(err)
		}
	}
	const file = "testdata/lines.ndjson"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-update rewrites %s (-want +got):\n%s", file, diff)
	}
	if strings.Contains(got.String(), secret) || !utf8.Valid(got.Bytes()) {
		t.Error("a secret is in a line, or half a character")
	}
	for i, line := range bytes.Split(bytes.TrimSpace(got.Bytes()), []byte("\n")) {
		if uid := history.UID(line); uid != []string{string(failed.UID), string(whole.UID)}[i/3] {
			t.Errorf("line %d is about %q", i, uid)
		}
	}
	if diff := cmp.Diff(pod(), failed); diff != "" {
		t.Errorf("the Pod has changed:\n%s", diff)
	}
	if diff := cmp.Diff(job(), whole); diff != "" {
		t.Errorf("the Job has changed:\n%s", diff)
	}
}
