package binding

import (
	"iter"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Count returns, by binding name, the number of Jobs that each binding selects, and the number of these for which the
// policy's verdicts do not take effect. It evaluates the selectors, but no match conditions. Each Job is paired with the
// labels of its namespace.
func (s *Set) Count(jobs iter.Seq2[*batchv1.Job, labels.Set]) map[string]v1alpha1.BoundJobs {
	counts := make(map[string]v1alpha1.BoundJobs, len(s.bound))
	for i := range s.bound {
		counts[s.bound[i].binding.Name] = v1alpha1.BoundJobs{}
	}
	for job, namespace := range jobs {
		for i := range s.bound {
			b := &s.bound[i]
			if !b.namespaces.Matches(namespace) || !b.job.Matches(labels.Set(job.Labels)) {
				continue
			}
			count := counts[b.binding.Name]
			count.Selected++
			if OnFailed(b.policy) && runBy(job).powerless(b.binding.Spec.Mode) != "" {
				count.NotCarriedOut++
				count.Because = "they are not run by " + v1alpha1.JobController
				if b.binding.Spec.Mode == v1alpha1.ModeAudit {
					count.Because = "the binding has mode Audit"
				}
			}
			counts[b.binding.Name] = count
		}
	}
	return counts
}
