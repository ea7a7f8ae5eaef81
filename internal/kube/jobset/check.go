package jobset

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// The checks of a JobSet.
const (
	CheckInvalid         = "jobset-invalid"
	CheckUnreachableRule = "jobset-unreachable-rule"
	CheckPattern         = "jobset-pattern-invalid"
)

// A Finding is a problem in a JobSet.
type Finding struct {
	Check string
	// Field is the path within the JobSet.
	Field string
	// Message describes the problem. Hint suggests the probable intention, or is empty.
	Message, Hint string
}

// Check returns the reasons why JobSet would reject a JobSet with defaults (pkg/webhooks/jobset_webhook.go), regardless of feature gates,
// and the rules of its failurePolicy that can never apply. It does not check coordinator, network, managedBy, groupName and
// volumeClaimPolicies.
func Check(set *v1alpha2.JobSet) []Finding {
	c := &checker{set: set}
	for i := range set.Spec.ReplicatedJobs {
		c.replicatedJob(i, &set.Spec.ReplicatedJobs[i])
	}
	c.targets("spec.successPolicy", set.Spec.SuccessPolicy.TargetReplicatedJobs)
	if set.Spec.FailurePolicy != nil {
		c.failurePolicy(set.Spec.FailurePolicy)
	}
	return c.found
}

type checker struct {
	set   *v1alpha2.JobSet
	names []string // names of the replicatedJobs checked so far
	found []Finding
}

func (c *checker) invalidf(field, advice, format string, arguments ...any) {
	c.found = append(c.found, Finding{CheckInvalid, field, fmt.Sprintf(format, arguments...), advice})
}

func (c *checker) replicatedJob(i int, r *v1alpha2.ReplicatedJob) {
	at, job := fmt.Sprintf("spec.replicatedJobs[%d]", i), &r.Template.Spec
	if slices.Contains(c.names, r.Name) {
		c.invalidf(at+".name", "", "%q is there twice", r.Name)
	}
	c.names = append(c.names, r.Name)
	if i == 0 && len(r.DependsOn) > 0 {
		c.invalidf(at+".dependsOn", "", "the first replicatedJob must not depend on another")
	}
	for j, on := range r.DependsOn {
		if !slices.Contains(c.names, on.Name) {
			c.invalidf(fmt.Sprintf("%s.dependsOn[%d].name", at, j), didyoumean.Names(on.Name, c.names, ""), "%q is no replicatedJob before this one", on.Name)
		}
	}
	if pods := int64(ptr.Deref(job.Parallelism, 1)) * int64(r.Replicas); pods > math.MaxInt32 {
		c.invalidf(at+".replicas", "", "replicas times parallelism must be at most %d, not %d", math.MaxInt32, pods)
	}
	longest := fmt.Sprintf("%s-%s-%d", c.set.Name, r.Name, r.Replicas-1)
	if job.Completions != nil && *job.CompletionMode == batchv1.IndexedCompletion {
		longest += fmt.Sprintf("-%d-abcde", *job.Completions-1)
	}
	if c.named() {
		for _, why := range validation.IsDNS1035Label(longest) {
			c.invalidf(at+".name", "", "the name of a Job or Pod would be %q: %s", longest, why)
		}
	}
	if policy := c.set.Spec.FailurePolicy; policy != nil && policy.RestartStrategy == v1alpha2.InPlaceRestart {
		c.inPlace(at+".template.spec", job)
	}
}

// named reports whether the JobSet's name is known: a runtime's JobSet is named by its TrainJob.
func (c *checker) named() bool { return c.set.Kind != "" && c.set.GenerateName == "" }

// inPlace checks the requirements of the restart strategy InPlaceRestart on a Job (KEP-467).
func (c *checker) inPlace(at string, job *batchv1.JobSpec) {
	const because = "the restartStrategy InPlaceRestart demands it, so that no failed Pod ends the Job"
	if ptr.Deref(job.BackoffLimit, 0) != math.MaxInt32 {
		c.invalidf(at+".backoffLimit", because, "must be %d", math.MaxInt32)
	}
	if ptr.Deref(job.PodReplacementPolicy, "") != batchv1.Failed {
		c.invalidf(at+".podReplacementPolicy", because, "must be Failed")
	}
	if job.Completions == nil || job.Parallelism == nil || *job.Completions != *job.Parallelism {
		c.invalidf(at+".completions", because, "completions and parallelism must be set and equal")
	}
}

// targets reports names that do not belong to a replicatedJob.
func (c *checker) targets(at string, targets []string) {
	for i, name := range targets {
		if !slices.Contains(c.names, name) {
			c.invalidf(fmt.Sprintf("%s.targetReplicatedJobs[%d]", at, i), didyoumean.Names(name, c.names, ""), "there is no replicatedJob %q", name)
		}
	}
}

var (
	ruleName = regexp.MustCompile("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
	actions  = []string{
		string(v1alpha2.FailJobSet), string(v1alpha2.RestartJobSet), string(v1alpha2.RestartJobSetAndIgnoreMaxRestarts),
		string(v1alpha2.RestartJob), string(v1alpha2.RestartJobAndIgnoreMaxRestarts),
	}
	strategies = []string{string(v1alpha2.Recreate), string(v1alpha2.BlockingRecreate), string(v1alpha2.InPlaceRestart)}
)

const (
	maxRuleName = 128
	// maxCounted is the maximum number of Jobs of a replicatedJob for which the status counts restarts of single Jobs.
	maxCounted = 1024
)

func (c *checker) failurePolicy(policy *v1alpha2.FailurePolicy) {
	const at = "spec.failurePolicy"
	if strategy := string(policy.RestartStrategy); !slices.Contains(strategies, strategy) {
		c.invalidf(at+".restartStrategy", didyoumean.Names(strategy, strategies, ""), "there is no strategy %q", strategy)
	}
	for i := range policy.Rules {
		rule, at, before := &policy.Rules[i], fmt.Sprintf("%s.rules[%d]", at, i), len(c.found)
		c.rule(at, rule)
		if same := slices.IndexFunc(policy.Rules, func(r v1alpha2.FailurePolicyRule) bool { return r.Name == rule.Name }); same < i {
			c.invalidf(at+".name", "", "rule %d is called %q too", same, rule.Name)
		}
		if len(c.found) == before {
			c.reachable(at, i)
		}
	}
}

// rule reports the problems of a single rule.
func (c *checker) rule(at string, rule *v1alpha2.FailurePolicyRule) {
	if action := string(rule.Action); !slices.Contains(actions, action) {
		c.invalidf(at+".action", didyoumean.Names(action, actions, ""), "there is no action %q", action)
	}
	if !ruleName.MatchString(rule.Name) || len(rule.Name) > maxRuleName {
		c.invalidf(at+".name", "", "must begin with a letter, go on with letters, digits, _ , and :, and have at most %d characters", maxRuleName)
	}
	large := func(r v1alpha2.ReplicatedJob) bool { return r.Replicas > maxCounted }
	if restartsJob(rule.Action) && slices.ContainsFunc(c.set.Spec.ReplicatedJobs, large) {
		c.invalidf(at+".action", "", "%s does not go with more than %d replicas", rule.Action, maxCounted)
	}
	c.targets(at, rule.TargetReplicatedJobs)
	for i, reason := range rule.OnJobFailureReasons {
		if !slices.Contains(reasons, reason) {
			c.invalidf(fmt.Sprintf("%s.onJobFailureReasons[%d]", at, i), didyoumean.Names(reason, reasons, ""), "no Job fails with reason %q", reason)
		}
	}
	for i, pattern := range rule.OnJobFailureMessagePatterns {
		if _, err := regexp.Compile(pattern); err != nil {
			c.found = append(c.found, Finding{
				CheckPattern, fmt.Sprintf("%s.onJobFailureMessagePatterns[%d]", at, i), err.Error() + "; it matches no message", "",
			})
		}
	}
}
