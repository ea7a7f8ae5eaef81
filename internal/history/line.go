package history

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/failure"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Verdict is the line of a Pod that failed: what eval writes for it as NDJSON, when the verdict was given, and the Pod.
type Verdict struct {
	metav1.TypeMeta `json:",inline"`
	Time            time.Time       `json:"time"`
	Job             Reference       `json:"job,omitzero"` // absent when no Job runs the Pod
	Pod             Reference       `json:"pod"`
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

// Write writes a line: a Verdict, or a Pod or Job as this package returns it.
func Write(out io.Writer, line any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
}

// UID returns the UID of the Pod or Job that a line is about, as Write has written it, or "". It needs the line's beginning alone.
func UID(line []byte) string {
	if _, pod, found := bytes.Cut(line, []byte(`"pod":{`)); found && !bytes.HasPrefix(line, []byte(`{"kind":"Job"`)) {
		line = pod
	}
	_, line, _ = bytes.Cut(line, []byte(`"uid":"`))
	uid, _, _ := bytes.Cut(line, []byte(`"`))
	return string(uid)
}
