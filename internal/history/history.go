// Package history is the form of history lines: what is kept of a Pod that failed, with the verdict on it, and of a Job that has
// finished, after both are gone. Each is an object in JSON on a line of its own.
//
// A line has names, labels, owners, the node, images, requests, and how containers ended. It has no environment, arguments, commands
// or volumes, and nothing of a message beyond MaxMessage bytes.
package history

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// MaxMessage is how many bytes of a message of the status are kept.
const MaxMessage = 256

// PodFields are the fields of Pods that are kept, but for some annotations. The set must not be changed.
var PodFields = func() cel.Fields {
	kept := cel.NewFields(
		"ObjectMeta.generateName", "PodStatus.message", "PodStatus.startTime", "ContainerStatus.lastState", "ContainerStateWaiting.message",
		"ContainerStateTerminated.message", "PodSpec.containers", "PodSpec.overhead", "PodSpec.resources", "Container.image",
		"Container.resources", "ResourceRequirements.*",
	)
	kept.AddAll(plan.PodFields)
	return kept
}()

var pruner = sync.OnceValue(func() *cel.Pruner { return cel.Load().Pruner(cel.Load().Pod, PodFields) })

// Verdict is the line of a Pod that failed: what eval writes for it as NDJSON, when the verdict was given, and the Pod.
type Verdict struct {
	metav1.TypeMeta `json:",inline"`
	Time            time.Time       `json:"time"`
	Pod             Reference       `json:"pod"`          // before the Job, for UID
	Job             Reference       `json:"job,omitzero"` // absent when no Job runs the Pod
	Verdict         runtime.Verdict `json:"verdict"`
	// Would are verdicts that nobody carries out, and why.
	Would   []binding.Would `json:"would,omitempty"`
	Failure failure.Facts   `json:"failure"`
	Object  *corev1.Pod     `json:"object"`
}

// Reference names an object.
type Reference struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid,omitempty"`
}

// NewVerdict returns the line of a Pod. A job without a name stands for none.
func NewVerdict(now time.Time, job Reference, pod *corev1.Pod, verdict runtime.Verdict, would []binding.Would) Verdict {
	kept := Pod(pod)
	return Verdict{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Verdict"},
		Time:     now.UTC().Truncate(time.Millisecond), Job: job, Pod: Reference{pod.Namespace, pod.Name, pod.UID},
		Verdict: verdict, Would: would, Failure: failure.Of(kept), Object: kept,
	}
}

// Pod returns what is kept of a Pod, which it leaves alone.
func Pod(pod *corev1.Pod) *corev1.Pod {
	cut := pod.DeepCopy()
	pruner().Prune(cut)
	cut.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	CutAnnotations(cut.Annotations)
	CutMessages(&cut.Status)
	return cut
}

// Job returns what is kept of a Job, which it leaves alone. The template is a Pod without metadata.
func Job(job *batchv1.Job) *batchv1.Job {
	cut := job.DeepCopy()
	cut.TypeMeta = metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}
	cut.ManagedFields, cut.Finalizers, cut.Spec.Selector = nil, nil, nil
	cut.Spec.Template = corev1.PodTemplateSpec{Spec: Pod(&corev1.Pod{Spec: cut.Spec.Template.Spec}).Spec}
	CutAnnotations(cut.Annotations)
	for i := range cut.Status.Conditions {
		shorten(&cut.Status.Conditions[i].Message)
	}
	return cut
}

// domains are those of Kubernetes, its projects and podverdict.
var domains = regexp.MustCompile(`^([^/]+\.)?(kubernetes\.io|(x-)?k8s\.io|podverdict\.io)/`)

// CutAnnotations removes annotations of other domains, and the copy of the object that kubectl leaves.
func CutAnnotations(annotations map[string]string) {
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return !domains.MatchString(key) || key == corev1.LastAppliedConfigAnnotation
	})
}

// CutMessages shortens the messages of a Pod's status.
func CutMessages(s *corev1.PodStatus) {
	shorten(&s.Message)
	for i := range s.Conditions {
		shorten(&s.Conditions[i].Message)
	}
	for _, c := range slices.Concat(s.InitContainerStatuses, s.ContainerStatuses) {
		for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
			if state.Waiting != nil {
				shorten(&state.Waiting.Message)
			}
			if state.Terminated != nil {
				shorten(&state.Terminated.Message)
			}
		}
	}
}

// shorten cuts a text between characters. Three dots stand for what is left out.
func shorten(text *string) {
	if len(*text) > MaxMessage {
		*text = strings.ToValidUTF8((*text)[:MaxMessage-len("...")], "") + "..."
	}
}

// Write writes a line: a Verdict, or a Pod or Job as this package returns it.
func Write(out io.Writer, line any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
}

// UID returns the UID of the Pod or Job that a line is about, as Write has written it, or "".
func UID(line []byte) string {
	_, line, _ = bytes.Cut(line, []byte(`"uid":"`))
	uid, _, _ := bytes.Cut(line, []byte(`"`))
	return string(uid)
}
