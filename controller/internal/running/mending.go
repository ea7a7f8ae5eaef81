package running

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime/binding"
)

// mendedLast puts the pods changed by retries last, because each may be rejected for its requests. After each failure, a different
// one of them is the first.
func (w *work) mendedLast(pods []*corev1.Pod) []*corev1.Pod {
	var plain, mended []*corev1.Pod
	for _, pod := range pods {
		if w.plan.Mended[pod.Name] == nil {
			plain = append(plain, pod)
		} else {
			mended = append(mended, pod)
		}
	}
	first := w.state.refusals % max(1, len(mended))
	return slices.Concat(plain, mended[first:], mended[:first])
}

// tellMended records how rules with a retry changed the created pods: one event for all of them, which is a Warning if Kueue admitted
// the Job with less memory.
func (w *work) tellMended(created []string) {
	names, grown := map[string][]string{}, false
	for _, name := range created {
		if changes := w.plan.Mended[name]; len(changes) > 0 {
			text := changesText(changes)
			names[text] = append(names[text], name)
			grown = grown || changes[0].AvoidNode == "" // memory comes first
		}
	}
	var all []string
	for _, text := range slices.Sorted(maps.Keys(names)) {
		all = append(all, createdMessage(names[text])+". Retry: "+text)
	}
	if message := strings.Join(all, ". "); message != "" {
		w.note(reasonRetryMended, message)
		if queue := w.job.Labels[binding.KueueQueue]; queue != "" && grown {
			w.warn(reasonBeyondAdmission, "Queue "+queue+" admitted the Job with the memory of its template, which is less. "+message)
		}
	}
}

func changesText(changes []plan.Mended) string {
	texts := make([]string, len(changes))
	for i, change := range changes {
		texts[i] = change.String()
	}
	return strings.Join(texts, "; ")
}
