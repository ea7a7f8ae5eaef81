package controller_test

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// codeOOM is the exit code of a pod that ran out of memory.
const codeOOM = 2

// mends adds memory and a policy with retries to a Job, which does not affect its outcome: pods that ran out of memory get
// more, and pods that exit with 1 are moved to other nodes.
func (s *scenario) mends() {
	withMemory("100Mi", "1Gi")(&s.job.Spec)
	oom, elsewhere := oomRule("1.5", "3Gi"), rule("elsewhere", "pod.failedContainers().exists(c, c.exitCode == 1)", count)
	oom.Retry.AvoidNode = ""
	elsewhere.Retry = &v1alpha1.Retry{AvoidNode: v1alpha1.AvoidRequired}
	s.mending = []memoryapi.Object{customPolicy("mend", oom, elsewhere), bind("mend")}
}

// matched is a failed pod that a rule with a retry matched.
type matched struct {
	code    int32
	attempt int
	node    string
}

// retried checks pods against the retries of earlier matches. A nil value checks nothing.
type retried struct {
	matches map[int]map[types.UID]matched // by slot
	scaled  bool                          // indexes were removed; a completed index starts over when it is added again
}

// fails records a pod that failed while it was held.
func (r *retried) fails(pod *corev1.Pod, slot, attempt int) {
	if r == nil {
		return
	}
	if r.matches[slot] == nil {
		r.matches[slot] = map[types.UID]matched{}
	}
	r.matches[slot][pod.UID] = matched{pod.Status.ContainerStatuses[0].State.Terminated.ExitCode, attempt, pod.Spec.NodeName}
}

// expects returns the expected memory and avoided nodes of a new pod.
func (r *retried) expects(slot, attempt int) string {
	var before []matched
	for _, m := range r.matches[slot] {
		if m.attempt < attempt {
			before = append(before, m)
		}
	}
	slices.SortFunc(before, func(a, b matched) int { return cmp.Compare(b.attempt, a.attempt) })
	ooms, nodes := 0, []string{}
	for _, m := range before {
		switch {
		case m.code == codeOOM:
			ooms++
		case m.code == 1 && m.node != "" && !slices.Contains(nodes, m.node):
			nodes = append(nodes, m.node)
		}
	}
	sizes := []string{"100Mi/1Gi", "150Mi/1536Mi", "225Mi/2304Mi", "338Mi/3Gi", "507Mi/3Gi", "760Mi/3Gi", "1140Mi/3Gi"}
	text := sizes[min(ooms, len(sizes)-1)]
	if len(nodes) > 0 {
		text += " not " + strings.Join(nodes, ",")
	}
	return text
}

// check compares a new pod with the earlier matches.
func (r *retried) check(v *invariants, pod *corev1.Pod, slot, attempt int) {
	if r == nil || v.job == nil {
		return // or the Job is gone, so that later failures are not recorded
	}
	got, want := mendedText(pod), r.expects(slot, attempt)
	if got != want && (!r.scaled || got != "100Mi/1Gi") {
		v.violatedf("attempt %d at slot %d has %s, want %s", attempt, slot, got, want)
	}
}

func (r *retried) observeJob(old, job *batchv1.Job) {
	if r != nil && old != nil && job.Spec.Completions != nil {
		r.scaled = r.scaled || *old.Spec.Completions != *job.Spec.Completions
	}
}
