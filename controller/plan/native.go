package plan

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// A Job that kube-controller-manager runs has no ledger, and its pods' names do not encode slots. But its status can be
// read as a ledger: failed and succeeded count the pods that have lost the finalizer, and uncountedTerminatedPods lists
// those about to lose it (trackJobStatusAndRemoveFinalizers in pkg/controller/job/job_controller.go). Everything else
// works as for a managed Job.

// emptyStatus reports whether a Job's status is unset, as in a manifest.
func emptyStatus(status *batchv1.JobStatus) bool {
	return equality.Semantic.DeepEqual(*status, batchv1.JobStatus{})
}

// readNative reads the status as a ledger.
func (v *view) readNative() {
	s := &v.Job.Status
	v.ledger = ledger{Failed: int(s.Failed)}
	succeeded := int(s.Succeeded)
	if s.UncountedTerminatedPods != nil {
		v.ledger.Releasing = slices.Clone(s.UncountedTerminatedPods.Failed)
		succeeded += len(s.UncountedTerminatedPods.Succeeded)
	}
	if !v.indexed && succeeded > 0 {
		v.ledger.Succeeded = indexes{{0, succeeded - 1}}.String()
	}
}

// countedSuccesses returns the pods that the status counts as succeeded although they still have the finalizer.
func (v *view) countedSuccesses() []types.UID {
	if !v.native || v.Job.Status.UncountedTerminatedPods == nil {
		return nil
	}
	return v.Job.Status.UncountedTerminatedPods.Succeeded
}

// numberPods assigns slots to the pods of a Job without indexes whose names encode none: one to each pod that is active
// or whose success is not counted yet.
func (v *view) numberPods(pods []*pod) {
	slices.SortFunc(pods, func(a, b *pod) int { return strings.Compare(a.Name, b.Name) })
	free := parseIndexes(v.ledger.Succeeded, v.completions).size()
	for _, p := range pods {
		free = max(free, p.slot+1)
	}
	for _, p := range pods {
		if p.slot != none {
			continue
		}
		p.slot, p.attempt = 0, 0
		if !p.terminal() || p.succeeded() {
			p.slot = free
			free++
		}
	}
}
