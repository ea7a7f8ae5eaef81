// Package history defines the format of history lines, which record a failed Pod with its verdict, or a finished Job, after the
// objects are deleted. Each line is a JSON object.
//
// A line has names, labels, owners, the node, images, requests, and the termination states of containers. It has no
// environment, arguments, commands or volumes, and at most MaxMessage bytes of a message.
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

// MaxMessage is the maximum length in bytes of a status message in a line.
const MaxMessage = 256

// PodFields is the set of Pod fields in a line, which also has some annotations. It must not be modified.
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

// Verdict is the line of a failed Pod: the fields that eval writes as NDJSON, the time of the verdict, and the Pod.
type Verdict struct {
	metav1.TypeMeta `json:",inline"`
	Time            time.Time       `json:"time"`
	Pod             Reference       `json:"pod"`          // first, because UID returns the first uid in a line
	Job             Reference       `json:"job,omitzero"` // absent if no Job runs the Pod
	Verdict         runtime.Verdict `json:"verdict"`
	// Would are verdicts that are not carried out, with the reasons.
	Would   []binding.Would `json:"would,omitempty"`
	Failure failure.Facts   `json:"failure"`
	Object  *corev1.Pod     `json:"object"`
}

// Reference identifies an object.
type Reference struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid,omitempty"`
}

// NewVerdict returns the line of a Pod. An empty job means that no Job runs the Pod.
func NewVerdict(now time.Time, job Reference, pod *corev1.Pod, verdict runtime.Verdict, would []binding.Would) Verdict {
	kept := Pod(pod)
	return Verdict{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Verdict"},
		Time:     now.UTC().Truncate(time.Millisecond), Job: job, Pod: Reference{pod.Namespace, pod.Name, pod.UID},
		Verdict: verdict, Would: would, Failure: failure.Of(kept), Object: kept,
	}
}

// Pod returns a copy of a Pod, reduced to the fields in a line.
func Pod(pod *corev1.Pod) *corev1.Pod {
	cut := pod.DeepCopy()
	pruner().Prune(cut)
	cut.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	CutAnnotations(cut.Annotations)
	CutMessages(&cut.Status)
	return cut
}

// Job returns a copy of a Job, reduced to the fields in a line. The template is reduced as a Pod and loses its metadata.
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

// domains matches annotation keys of Kubernetes, its projects and podverdict.
var domains = regexp.MustCompile(`^([^/]+\.)?(kubernetes\.io|(x-)?k8s\.io|podverdict\.io)/`)

// CutAnnotations removes annotations of other domains, and kubectl's last-applied-configuration.
func CutAnnotations(annotations map[string]string) {
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return !domains.MatchString(key) || key == corev1.LastAppliedConfigAnnotation
	})
}

// CutMessages shortens the messages in a Pod's status to MaxMessage bytes.
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

// shorten truncates a text to MaxMessage bytes at a character boundary and ends it with three dots.
func shorten(text *string) {
	if len(*text) > MaxMessage {
		*text = strings.ToValidUTF8((*text)[:MaxMessage-len("...")], "") + "..."
	}
}

// Write writes a line: a Verdict, or a Pod or Job reduced by this package.
func Write(out io.Writer, line any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
}

// UID returns the UID of the Pod or Job in a line written by Write, or "".
func UID(line []byte) string {
	_, line, _ = bytes.Cut(line, []byte(`"uid":"`))
	uid, _, _ := bytes.Cut(line, []byte(`"`))
	return string(uid)
}
