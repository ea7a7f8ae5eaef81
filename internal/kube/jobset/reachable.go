package jobset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// reasons lists the reasons with which a Job can fail.
var reasons = []string{
	batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonFailedIndexes,
	batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonPodFailurePolicy,
}

// A failureKind is a way in which a Job can fail: a reason and the possible messages.
type failureKind struct {
	reason  string
	message shape
}

// failures returns the ways in which Jobs of a spec can fail, according to Kubernetes' Job controller
// (pkg/controller/job/job_controller.go, pod_failure_policy.go). known is false for Jobs that another controller runs.
func failures(job *batchv1.JobSpec) (kinds []failureKind, known bool) {
	if ptr.Deref(job.ManagedBy, batchv1.JobControllerName) != batchv1.JobControllerName {
		return nil, false
	}
	add := func(possible bool, reason, message string) {
		if possible {
			kinds = append(kinds, failureKind{reason, shape{message}})
		}
	}
	unlimited := job.BackoffLimit == nil && job.BackoffLimitPerIndex != nil || ptr.Deref(job.BackoffLimit, 0) == math.MaxInt32
	add(!unlimited, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	add(job.ActiveDeadlineSeconds != nil, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	add(job.BackoffLimitPerIndex != nil, batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	add(job.MaxFailedIndexes != nil, batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	if job.PodFailurePolicy == nil {
		return kinds, true
	}
	for i, rule := range job.PodFailurePolicy.Rules {
		if rule.Action != batchv1.PodFailurePolicyActionFailJob {
			continue
		}
		end := fmt.Sprintf(" matching FailJob rule at index %d", i)
		for _, condition := range rule.OnPodConditions {
			message := shape{"Pod ", hole, "/", hole, fmt.Sprintf(" has condition %s%s", condition.Type, end)}
			kinds = append(kinds, failureKind{batchv1.JobReasonPodFailurePolicy, message})
		}
		if codes := rule.OnExitCodes; codes != nil {
			kinds = append(kinds, codeKinds(codes, end)...)
		}
	}
	return kinds, true
}

// codeKinds returns the ways in which exit codes fail a Job.
func codeKinds(codes *batchv1.PodFailurePolicyOnExitCodesRequirement, end string) (kinds []failureKind) {
	listed := []string{hole}
	if codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
		listed = nil
		for _, code := range codes.Values {
			listed = append(listed, strconv.Itoa(int(code)))
		}
	}
	for _, code := range listed {
		message := shape{"Container ", ptr.Deref(codes.ContainerName, hole), " for pod ", hole, "/", hole, " failed with exit code ", code, end}
		kinds = append(kinds, failureKind{batchv1.JobReasonPodFailurePolicy, message})
	}
	return kinds
}

// reachable checks whether a rule can ever apply.
func (c *checker) reachable(at string, index int) {
	rules := c.set.Spec.FailurePolicy.Rules
	rule := &rules[index]
	unreachable := func(field, format string, arguments ...any) {
		c.found = append(c.found, Finding{CheckUnreachableRule, at + field, fmt.Sprintf(format, arguments...), ""})
	}
	for i := range index {
		if asksLess(&rules[i], rule) {
			unreachable("", "rule %d applies to all failures that this rule is for", i)
			return
		}
	}
	var possible, fitting []failureKind
	for i := range c.set.Spec.ReplicatedJobs {
		r := &c.set.Spec.ReplicatedJobs[i]
		if len(rule.TargetReplicatedJobs) > 0 && !slices.Contains(rule.TargetReplicatedJobs, r.Name) {
			continue
		}
		kinds, known := failures(&r.Template.Spec)
		if !known {
			return
		}
		possible = append(possible, kinds...)
	}
	for _, kind := range possible {
		if len(rule.OnJobFailureReasons) == 0 || slices.Contains(rule.OnJobFailureReasons, kind.reason) {
			fitting = append(fitting, kind)
		}
	}
	switch {
	case len(possible) == 0:
		unreachable("", "no Job that this rule is for can fail")
	case len(fitting) == 0:
		unreachable(".onJobFailureReasons", "no Job that this rule is for can fail with it, but only with %s", few(possible, func(k failureKind) string { return k.reason }))
	case len(rule.OnJobFailureMessagePatterns) > 0 && !slices.ContainsFunc(fitting, func(k failureKind) bool { return matchesShape(rule, k.message) }):
		unreachable(".onJobFailureMessagePatterns", "no Job that this rule is for can fail with such a message, but for example with %s", few(fitting, failureKind.text))
	}
}

func (k failureKind) text() string {
	return strconv.Quote(strings.ReplaceAll(strings.Join(k.message, ""), hole, "..."))
}

// few lists the first few different kinds.
func few(kinds []failureKind, name func(failureKind) string) string {
	const enough = 4
	var names []string
	for _, kind := range kinds {
		if text := name(kind); len(names) < enough && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	return strings.Join(names, " or ")
}

// asksLess reports whether a rule applies wherever another one does. A longer list matches more, and an empty list everything.
func asksLess(rule, other *v1alpha2.FailurePolicyRule) bool {
	wider := func(list, than []string) bool {
		missing := func(s string) bool { return !slices.Contains(list, s) }
		return len(list) == 0 || len(than) > 0 && !slices.ContainsFunc(than, missing)
	}
	return wider(rule.OnJobFailureReasons, other.OnJobFailureReasons) &&
		wider(rule.OnJobFailureMessagePatterns, other.OnJobFailureMessagePatterns) &&
		wider(rule.TargetReplicatedJobs, other.TargetReplicatedJobs)
}

// matchesShape reports whether a pattern of a rule may match a message.
func matchesShape(rule *v1alpha2.FailurePolicyRule, message shape) bool {
	return slices.ContainsFunc(rule.OnJobFailureMessagePatterns, func(pattern string) bool {
		_, err := regexp.Compile(pattern)
		return err == nil && mayMatch(pattern, message)
	})
}
