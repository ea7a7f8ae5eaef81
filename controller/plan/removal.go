package plan

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// manage keeps the right pods running, unless there is a reason to end the Job.
func (n *next) manage() {
	n.leaving = map[types.UID]*pod{}
	if n.goal = n.findGoal(); n.goal != nil {
		return
	}
	if !n.deleting {
		n.removePods()
	}
	if n.goal = n.completionGoal(); n.goal != nil || n.deleting {
		return
	}
	n.noteSuspension()
	if !n.suspended() {
		n.createPods()
	}
}

func (v *view) suspended() bool { return ptr.Deref(v.Job.Spec.Suspend, false) }

// removePods dismisses the active pods that are not wanted: all pods of a suspended Job, pods without a slot to work on,
// and pods above the number that parallelism and completions allow.
func (n *next) removePods() {
	slots := n.markedSlots()
	excess := n.totals.atWork - n.wantActive(n.totals.atWork)
	if n.suspended() || excess > 0 {
		slots = n.allSlots()
	}
	var wanted []*pod
	for _, s := range slots {
		if n.suspended() {
			n.dismiss(s.state.activePods()...)
			continue
		}
		wanted = append(wanted, s.state.wanted...)
		n.dismiss(s.state.unwanted...)
	}
	if excess > 0 && !n.suspended() {
		slices.SortFunc(wanted, compareProgress)
		n.dismiss(wanted[:excess]...)
	}
}

// wantActive returns the number of pods that should be active.
func (n *next) wantActive(active int) int {
	parallelism := int(ptr.Deref(n.Job.Spec.Parallelism, 1))
	if n.Job.Spec.Completions != nil {
		return max(0, min(parallelism, n.completions-n.succeeded))
	}
	if n.succeeded > 0 {
		return active // running pods may finish, but no more are created
	}
	return parallelism
}

// compareProgress orders pods by how little is lost if they are removed: unscheduled before scheduled, pending before
// running, not ready before ready, and younger before older.
func compareProgress(a, b *pod) int {
	return cmp.Or(
		falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseRank(a), phaseRank(b)),
		falseFirst(a.ready(), b.ready()),
		readySince(b).Compare(readySince(a)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		b.attempt-a.attempt,
		b.slot-a.slot,
		cmp.Compare(b.Name, a.Name),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func phaseRank(p *pod) int {
	return slices.Index([]corev1.PodPhase{corev1.PodPending, corev1.PodUnknown, corev1.PodRunning}, p.Status.Phase)
}

func readySince(p *pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// dismiss removes active pods without counting them.
func (n *next) dismiss(pods ...*pod) {
	for _, p := range pods {
		n.leave(p)
		n.plan.Dismiss = append(n.plan.Dismiss, p.Pod)
	}
}

func (n *next) leave(p *pod) { n.leaving[p.UID] = p }
