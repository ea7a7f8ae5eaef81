package check

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// joinJobSets links Jobs to their JobSets, if the input contains both.
func joinJobSets(jobs []manifest.Job) {
	made := manifest.JobSets{}
	for i := range jobs {
		if jobs[i].JobSet != nil {
			made.Add(&jobs[i])
		}
	}
	for i := range jobs {
		made.Join(&jobs[i])
	}
}

// senseless reports whether a rule makes no sense for a Job because of its owner or because its name is a template.
func senseless(job manifest.Job, rule string) bool {
	decides := job.JobSet != nil && job.JobSet.Spec.FailurePolicy != nil
	switch rule {
	case checkHostname: // envsubst and similar tools write the name
		return strings.Contains(job.Object.Name, "${")
	case checkTTL: // the owner of the Jobs also deletes them
		return job.Template != "" || metav1.GetControllerOf(job.Object) != nil
	case compiler.CheckDisruptionFatal: // the JobSet decides what the failure of a Job means
		return decides
	case checkBackoffLimit, checkRestarts: // JobSet demands the highest limit, since containers restart
		return decides && job.JobSet.Spec.FailurePolicy.RestartStrategy == v1alpha2.InPlaceRestart
	}
	return false
}

// runsAgain finds a Job of a JobSet that is deleted before the JobSet ends. JobSet recreates missing Jobs (shouldCreateJob in its
// jobset_controller.go).
func runsAgain(job manifest.Job) []findings.Finding {
	ttl := job.Object.Spec.TTLSecondsAfterFinished
	if ttl == nil || job.JobSet == nil || endsAll(job) {
		return nil
	}
	return []findings.Finding{newFinding(job.Origin, checkRunsAgain, compiler.Warning, "spec.ttlSecondsAfterFinished",
		fmt.Sprintf("a Job that ends %d s or more before the JobSet does is deleted, and the JobSet creates it anew: it runs again", *ttl),
		"set ttlSecondsAfterFinished in the spec of the JobSet instead, which is then deleted with all of its Jobs")}
}

// endsAll reports whether the end of this Job also ends its JobSet, according to its successPolicy (success_policy.go of JobSet).
func endsAll(job manifest.Job) bool {
	policy, needed := ptr.Deref(job.JobSet.Spec.SuccessPolicy, v1alpha2.SuccessPolicy{}), int32(0)
	counts := func(name string) bool {
		return len(policy.TargetReplicatedJobs) == 0 || slices.Contains(policy.TargetReplicatedJobs, name)
	}
	for _, replicated := range job.JobSet.Spec.ReplicatedJobs {
		if replicated.Replicas == 0 && replicated.Name == job.ReplicatedJob {
			return true // the Job never exists
		}
		if counts(replicated.Name) {
			needed += replicated.Replicas
		}
	}
	return counts(job.ReplicatedJob) && (needed == 1 || policy.Operator == v1alpha2.OperatorAny)
}
