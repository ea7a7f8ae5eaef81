package upstream

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// outlookCase is a Job, an event in its life, and the outlook before and after it.
type outlookCase struct {
	spec  func(*batchv1.JobSpec)
	first plan.StepKind
	then  func(*life)
	want  plan.Step
	later bool // whether the step is later than immediately
}

// look returns the outlook.
func (l *life) look() plan.Outlook {
	l.Helper()
	job := l.job()
	observation := plan.Observation{Job: job, Pods: l.pods(), Now: l.clock.Now()}
	if policy := job.Spec.PodFailurePolicy; policy != nil {
		observation.Judge = func(pod *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict {
			v, err := Matcher(l.Context(), conformance.Request{Policy: policy, Pod: pod})
			l.must(err)
			return v
		}
	}
	return plan.Look(observation)
}

func creates(pods int) plan.Step { return plan.Step{Does: plan.Creates, Pods: pods} }

func fails(reason string) plan.Step { return plan.Step{Does: plan.Fails, Reason: reason} }

func outlookCases() map[string]outlookCase {
	parallel := func(pods int32) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.Parallelism, s.Completions = &pods, &pods }
	}
	queue := func(s *batchv1.JobSpec) { s.Parallelism, s.Completions = new(int32(2)), nil }
	limit := func(failures int32) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.BackoffLimit = &failures }
	}
	deadline := func(seconds int64) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = &seconds }
	}
	replace := func(policy batchv1.PodReplacementPolicy) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.PodReplacementPolicy = &policy }
	}
	suspended := func(s *batchv1.JobSpec) { s.Suspend = new(true) }
	maxFailed := func(s *batchv1.JobSpec) { s.MaxFailedIndexes = new(int32(0)) }
	oneOfAll := func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
	}
	onFailure := func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	exit := func(code int32) func(*life) { return func(l *life) { l.exit(0, code) } }
	terminate := func(l *life) {
		l.clock.Step(time.Minute)
		l.finish(0, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(l.clock.Now())) })
	}
	return map[string]outlookCase{
		"nothing failed":                       {all(), plan.Creates, nil, plan.Step{Does: plan.Waits}, false},
		"back-off":                             {all(), plan.Creates, exit(1), creates(1), true},
		"back-off has passed":                  {all(), plan.Creates, func(l *life) { l.exit(0, 1); l.clock.Step(time.Hour) }, creates(1), false},
		"back-off of several":                  {parallel(3), plan.Creates, func(l *life) { l.exit(0, 1); l.exit(0, 1) }, creates(2), true},
		"back-off of the second":               {all(), plan.Creates, func(l *life) { l.exit(0, 1); l.follow(); l.exit(0, 1) }, creates(1), true},
		"a success ends it":                    {parallel(3), plan.Creates, func(l *life) { l.exit(0, 1); l.clock.Step(time.Second); l.exit(0, 0) }, creates(1), false},
		"backoffLimit reached":                 {limit(1), plan.Creates, func(l *life) { l.exit(0, 1); l.follow(); l.exit(0, 1) }, fails("BackoffLimitExceeded"), false},
		"backoffLimit nearly":                  {limit(1), plan.Creates, exit(1), creates(1), true},
		"counted before":                       {limit(2), plan.Creates, func(l *life) { l.exit(0, 1); l.did() }, creates(1), true},
		"FailJob":                              {ruleOn42(batchv1.PodFailurePolicyActionFailJob), plan.Creates, exit(42), fails("PodFailurePolicy"), false},
		"Ignore":                               {all(limit(0), ruleOn42(batchv1.PodFailurePolicyActionIgnore)), plan.Creates, exit(42), creates(1), true},
		"Ignore, the second":                   {all(limit(0), ruleOn42(batchv1.PodFailurePolicyActionIgnore)), plan.Creates, func(l *life) { l.exit(0, 42); l.follow(); l.exit(0, 42) }, creates(1), true},
		"Ignore, the second of an index":       {all(perIndex(1, 0), ruleOn42(batchv1.PodFailurePolicyActionIgnore)), plan.Creates, func(l *life) { l.exit(0, 42); l.follow(); l.exit(0, 42) }, creates(1), true},
		"Count":                                {all(limit(0), ruleOn42(batchv1.PodFailurePolicyActionCount)), plan.Creates, exit(42), fails("BackoffLimitExceeded"), false},
		"limit of an index":                    {perIndex(2, 1), plan.Creates, func(l *life) { l.exit(1, 1); l.follow(); l.exit(1, 1) }, plan.Step{Does: plan.Waits}, false},
		"an index is tried again":              {perIndex(2, 1), plan.Creates, func(l *life) { l.exit(1, 1) }, creates(1), true},
		"two indexes":                          {perIndex(3, 2), plan.Creates, func(l *life) { l.exit(1, 1); l.clock.Step(time.Second); l.exit(2, 1) }, creates(1), true},
		"maxFailedIndexes":                     {all(perIndex(2, 0), maxFailed), plan.Creates, exit(1), fails("MaxFailedIndexesExceeded"), false},
		"only failed indexes":                  {perIndex(2, 0), plan.Creates, func(l *life) { l.exit(0, 1); l.exit(1, 0) }, fails("FailedIndexes"), false},
		"FailIndex":                            {all(perIndex(2, 6), maxFailed, ruleOn42(batchv1.PodFailurePolicyActionFailIndex)), plan.Creates, exit(42), fails("MaxFailedIndexesExceeded"), false},
		"deadline while a pod runs":            {deadline(60), plan.Creates, nil, plan.Step{Does: plan.Waits}, false},
		"deadline has passed":                  {deadline(60), plan.Creates, func(l *life) { l.clock.Step(time.Minute) }, fails("DeadlineExceeded"), false},
		"deadline before the pod":              {deadline(5), plan.Creates, exit(1), fails("DeadlineExceeded"), true},
		"deadline after the pod":               {deadline(50), plan.Creates, exit(1), creates(1), true},
		"suspended":                            {suspended, plan.Suspended, nil, plan.Step{Does: plan.Suspended}, false},
		"suspended at work":                    {parallel(2), plan.Creates, func(l *life) { l.change(func(j *batchv1.Job) { j.Spec.Suspend = new(true) }) }, plan.Step{Does: plan.Suspended}, false},
		"resumed":                              {all(suspended, parallel(2)), plan.Suspended, func(l *life) { l.change(func(j *batchv1.Job) { j.Spec.Suspend = new(false) }) }, creates(2), false},
		"success policy":                       {all(indexed(3), oneOfAll), plan.Creates, exit(0), plan.Step{Does: plan.Completes, Reason: "SuccessPolicy"}, false},
		"a pod that terminates":                {replace(batchv1.Failed), plan.Creates, terminate, plan.Step{Does: plan.Waits}, false},
		"one that counts as failed":            {replace(batchv1.TerminatingOrFailed), plan.Creates, terminate, creates(1), true},
		"one that counts as failed, by policy": {all(ruleOn42(batchv1.PodFailurePolicyActionIgnore), replace(batchv1.TerminatingOrFailed)), plan.Creates, terminate, creates(1), true},
		"completions reached":                  {all(), plan.Creates, exit(0), plan.Step{Does: plan.Completes, Reason: "CompletionsReached"}, false},
		"some completions":                     {parallel(2), plan.Creates, exit(0), plan.Step{Does: plan.Waits}, false},
		"completions counted before":           {parallel(2), plan.Creates, func(l *life) { l.exit(0, 0); l.did(); l.clock.Step(time.Second); l.exit(0, 1) }, creates(1), true},
		"the last completion":                  {parallel(2), plan.Creates, func(l *life) { l.exit(0, 0); l.did(); l.exit(0, 0) }, plan.Step{Does: plan.Completes, Reason: "CompletionsReached"}, false},
		"two indexes at a time":                {perIndex(3, 2), plan.Creates, func(l *life) { l.exit(1, 1); l.exit(2, 1) }, creates(2), true},
		"half counted failures":                {all(parallel(2), limit(1)), plan.Creates, halfCounted(1), creates(1), false},
		"half counted successes":               {parallel(3), plan.Creates, func(l *life) { halfCounted(0)(l); l.exit(0, 1); l.clock.Step(time.Hour) }, creates(1), false},
		"work queue, one succeeded":            {queue, plan.Creates, exit(0), plan.Step{Does: plan.Waits}, false},
		"work queue, one failed":               {queue, plan.Creates, exit(1), creates(1), true},
		"work queue, all succeeded":            {queue, plan.Creates, func(l *life) { l.exit(0, 0); l.did(); l.exit(0, 0) }, plan.Step{Does: plan.Completes, Reason: "CompletionsReached"}, false},
		"parallelism lowered":                  {parallel(3), plan.Creates, func(l *life) { l.change(func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(1)) }) }, plan.Step{Does: plan.Waits}, false},
		"restarts in place":                    {all(onFailure, limit(3)), plan.Creates, restarts(3), fails("BackoffLimitExceeded"), false},
		"fewer restarts":                       {all(onFailure, limit(3)), plan.Creates, restarts(2), plan.Step{Does: plan.Waits}, false},
		"deleted": {parallel(2), plan.Creates, func(l *life) {
			l.exit(0, 1)
			l.clock.Step(time.Hour)
			l.change(func(j *batchv1.Job) { j.DeletionTimestamp = new(metav1.Now()) })
		}, plan.Step{Does: plan.Deleted}, false},
		"fails, and pods are leaving": {all(parallel(2), limit(0)), plan.Creates, func(l *life) { l.exit(0, 1); l.sync() }, fails("BackoffLimitExceeded"), false},
	}
}

// halfCounted makes a pod end and the Job's status count it, as if the controller had stopped before it removed the
// finalizer. That was long ago: a controller that restarts has forgotten the back-off.
func halfCounted(code int32) func(*life) {
	return func(l *life) {
		running := l.pods()
		l.exit(0, code)
		l.clock.Step(time.Hour)
		l.change(func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
			if uids := []types.UID{running[0].UID}; code == 0 {
				j.Status.UncountedTerminatedPods.Succeeded = uids
			} else {
				j.Status.UncountedTerminatedPods.Failed = uids
			}
		})
	}
}

// restarts sets the number of restarts of the running container.
func restarts(count int32) func(*life) {
	return func(l *life) {
		l.finish(0, func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: count}}
		})
	}
}
