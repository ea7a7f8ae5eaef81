package podstate

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HoldsUp reports whether the Pod may wait forever. A deletion ends with its grace period, unless the node or a finalizer prevents it.
func (w *Wait) HoldsUp(now time.Time) bool {
	return w.Cause != Deleted || now.After(w.Until.Time) || w.NodeState != "" || len(w.Finalizers) > 0
}

// Brief describes Pods of a cause in a few words, such as "cannot start".
func (c Cause) Brief() string {
	switch c {
	case Gated:
		return "held by scheduling gates"
	case Unscheduled:
		return "cannot be scheduled"
	case Starting:
		return "cannot start"
	case Initializing:
		return "waiting for an init container"
	case Creating:
		return "not started yet"
	case Deleted:
		return "deleted, but not gone"
	case Lost:
		return "without news from the kubelet"
	}
	return string(c)
}

// Text describes what the Pod waits for, and since when. Times are the cluster's, because a dump may be read long after it was
// created.
func (w *Wait) Text() string {
	switch w.Cause {
	case Gated:
		return fmt.Sprintf("scheduling gates%s: %s", w.since(), strings.Join(w.Gates, ", "))
	case Unscheduled:
		if w.Reason == "" {
			return "not scheduled" + w.since() + ": no scheduler has looked at it"
		}
		return join("cannot be scheduled"+w.since(), w.Message)
	case Starting:
		return join(fmt.Sprintf("%s cannot start%s", w.Container, w.since()), w.message())
	case Initializing:
		return fmt.Sprintf("waits for init container %s, which runs%s", w.Container, w.since())
	case Creating:
		return fmt.Sprintf("no container has started%s: volumes, network or images are not ready, its events say which", w.since())
	case Deleted:
		return w.deletion()
	case Lost:
		return join("its kubelet has stopped reporting on it", w.message())
	}
	return w.message()
}

// deletion describes when and, if known, why the Pod was deleted, and what keeps it from being removed.
func (w *Wait) deletion() string {
	text := "deleted at " + stamp(w.Since)
	if w.Reason != "" {
		text += " (" + w.Reason + ")"
	}
	switch w.NodeState {
	case "Gone":
		text += fmt.Sprintf("; its node %s is gone: Kubernetes deletes the Pod", w.Node)
	case "Unreachable":
		text += fmt.Sprintf("; its node %s is unreachable, so nobody can say that it has ended", w.Node)
	case "NotReady":
		text += fmt.Sprintf("; its node %s is not ready", w.Node)
	}
	if len(w.Finalizers) > 0 {
		text += "; kept by finalizer " + strings.Join(w.Finalizers, ", ")
	}
	return text
}

func (w *Wait) since() string {
	if w.Since == nil {
		return ""
	}
	return " since " + stamp(w.Since)
}

func stamp(t *metav1.Time) string { return t.UTC().Format(time.RFC3339) }

func join(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + ": " + more
}
