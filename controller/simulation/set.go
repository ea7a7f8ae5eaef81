package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// SetOptions describe the JobSet to simulate.
type SetOptions struct {
	// Options has the Script, which must have no events, and Seed, Until and Progress.
	Options
	// Set is a JobSet with JobSet's defaults.
	Set *v1alpha2.JobSet
	// Jobs has the options that decide on the Pods of each replicatedJob, by its name.
	Jobs map[string]Options
	// Detailed keeps the events of the Pods.
	Detailed bool
}

// SetResult describes a JobSet's simulated life.
type SetResult struct {
	// Outcome is Complete, Failed or Unfinished; Reason and Message are copied from the condition.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Seconds is the time from the JobSet's creation to its end, or to the end of the simulation.
	Seconds int64 `json:"seconds"`
	// Status has the final counts of restarts.
	Status v1alpha2.JobSetStatus `json:"status"`
	// Failures lists the JobSet's reactions to failed Jobs, and Jobs all Jobs created, in that order.
	Failures []SetFailure `json:"failures"`
	Jobs     []*JobLife   `json:"jobs"`
}

// SetFailure is a JobSet's reaction to failed Jobs. jobset.Decision documents the fields.
type SetFailure struct {
	// Seconds is the time since the JobSet was created.
	Seconds  int64                        `json:"seconds"`
	Job      string                       `json:"job"`
	Rule     *int                         `json:"rule,omitempty"`
	RuleName string                       `json:"ruleName,omitempty"`
	Action   v1alpha2.FailurePolicyAction `json:"action,omitempty"`
	Failed   bool                         `json:"failed,omitempty"`
	Reason   string                       `json:"reason,omitempty"`
	Message  string                       `json:"message"`
	Restart  int32                        `json:"restart,omitempty"`
	Max      int32                        `json:"maxRestarts,omitempty"`
}

// maxSetPods is the maximum number of a JobSet's Pods that are simulated: some JobSets restart forever.
const maxSetPods = 500_000

// setSimulator is a JobSet and the clock. Its Jobs are independent of each other. Each is simulated to its end when it is
// created, and again up to its deletion if the JobSet deletes it earlier.
type setSimulator struct {
	SetOptions

	now, until int64
	pods       int
	children   []*child
	result     SetResult
}

// RunSet simulates a JobSet until it has finished or the time is over, like Run for a Job. A replicatedJob counts as
// ready once each of its Jobs has been ready.
func RunSet(ctx context.Context, o SetOptions) (*SetResult, error) {
	o.Set = o.Set.DeepCopy()
	o.Set.Status = v1alpha2.JobSetStatus{}
	s := &setSimulator{SetOptions: o, until: int64(o.Until / time.Second), result: SetResult{Failures: []SetFailure{}, Jobs: []*JobLife{}}}
	if pods := podsAtATime(o.Set); pods > maxSetPods {
		return nil, errTooManyJobs(pods)
	}
	for i := range o.Set.Spec.ReplicatedJobs {
		of := &o.Set.Spec.ReplicatedJobs[i]
		for index := range int(of.Replicas) {
			s.children = append(s.children, &child{of: of, index: index, number: len(s.children)})
		}
	}
	if err := s.checkScript(); err != nil {
		return nil, err
	}
	for s.result.Outcome == "" {
		if err := s.step(ctx); err != nil {
			return nil, err
		}
	}
	s.result.Seconds, s.result.Status = s.now, s.Set.Status
	return &s.result, nil
}

// podsAtATime returns the number of pods that run when all Jobs do; a Job counts as at least one.
func podsAtATime(set *v1alpha2.JobSet) int64 {
	var pods float64 // 2^31 replicas of 2^31 pods do not fit into an int64 more than once
	for _, of := range set.Spec.ReplicatedJobs {
		spec := &of.Template.Spec
		each := ptr.Deref(spec.Parallelism, 1)
		pods += float64(of.Replicas) * float64(max(1, min(each, ptr.Deref(spec.Completions, each))))
	}
	return int64(min(pods, math.MaxInt64/2))
}

// step does everything that is due now, or moves the clock.
func (s *setSimulator) step(ctx context.Context) error {
	created, err := s.create(ctx)
	if err != nil {
		return err
	}
	failures := len(s.result.Failures)
	if err := s.decide(ctx); err != nil || s.result.Outcome != "" {
		return err
	}
	switch {
	case s.pods > maxSetPods:
		return s.finish(ctx, Unfinished, "", fmt.Sprintf("it has had more than %d Pods", maxSetPods))
	case !created && len(s.result.Failures) == failures && !s.advance():
		s.result.Outcome = Unfinished
		for _, c := range s.children {
			if c.life != nil && c.life.Outcome == Unfinished {
				s.result.Message = cmp.Or(s.result.Message, c.life.Message)
			}
		}
	}
	return nil
}

// advance moves the clock to the next time at which a Job is gone, becomes ready or ends.
func (s *setSimulator) advance() bool {
	next := int64(forever)
	for _, c := range s.children {
		times := []int64{c.free}
		if c.life != nil {
			times = []int64{c.life.ready, c.life.end()}
		}
		for _, at := range times {
			if at > s.now {
				next = min(next, at)
			}
		}
	}
	s.now = min(next, s.until)
	return next <= s.until
}

// decide lets the JobSet react to Jobs that have ended by now.
func (s *setSimulator) decide(ctx context.Context) error {
	var failed []*batchv1.Job
	for _, c := range s.children {
		if c.life != nil && c.life.Outcome == Failed && c.life.end() <= s.now {
			failed = append(failed, s.failedJob(c))
		}
	}
	if len(failed) == 0 {
		return s.succeed(ctx)
	}
	d := jobset.Decide(s.Set, failed, jobset.GatesOf(s.Set))
	s.Set.Status = d.Status(s.Set)
	failure := SetFailure{
		Seconds: s.now, Job: d.Job.Name, RuleName: d.RuleName, Action: d.Action, Failed: d.Failed, Reason: d.Reason, Message: d.Message,
		Restart: d.Restart, Max: d.Max,
	}
	if d.Rule >= 0 {
		failure.Rule = &d.Rule
	}
	s.result.Failures = append(s.result.Failures, failure)
	switch {
	case d.Failed:
		return s.finish(ctx, Failed, d.Reason, d.Message)
	case d.Restart == 0:
		return s.finish(ctx, Unfinished, d.Reason, d.Message)
	}
	return s.restart(ctx, d)
}

// failedJob returns a Job as input of Decide.
func (s *setSimulator) failedJob(c *child) *batchv1.Job {
	job := jobset.Child(s.Set, c.of, c.index)
	job.Status.Conditions = slices.Clone(c.life.status.Conditions)
	for i := range job.Status.Conditions {
		at := &job.Status.Conditions[i].LastTransitionTime
		at.Time = at.Add(time.Duration(c.life.Created) * time.Second)
	}
	return job
}

// restart deletes the Jobs that a decision restarts.
func (s *setSimulator) restart(ctx context.Context, d jobset.Decision) error {
	var restarted []*child
	for _, c := range s.children {
		if !d.OneJob() || s.Set.Name+"-"+c.name() == d.Job.Name {
			restarted = append(restarted, c)
		}
	}
	err := s.cut(ctx, restarted)
	last := s.now
	for _, c := range restarted {
		c.restarts++
		c.life = nil
		last = max(last, c.free)
	}
	if s.Set.Spec.FailurePolicy.RestartStrategy == v1alpha2.BlockingRecreate {
		for _, c := range restarted {
			c.free = last
		}
	}
	return err
}

// succeed completes the JobSet if its successPolicy is met (success_policy.go).
func (s *setSimulator) succeed(ctx context.Context) error {
	policy := s.Set.Spec.SuccessPolicy
	have, want := 0, 0
	for _, c := range s.children {
		if len(policy.TargetReplicatedJobs) > 0 && !slices.Contains(policy.TargetReplicatedJobs, c.of.Name) {
			continue
		}
		want++
		if c.life != nil && c.life.reached(v1alpha2.DependencyComplete) <= s.now {
			have++
		}
	}
	if have == 0 || have < want && policy.Operator == v1alpha2.OperatorAll {
		return nil
	}
	return s.finish(ctx, Complete, "AllJobsCompleted", "jobset completed successfully")
}

func (s *setSimulator) finish(ctx context.Context, outcome, reason, message string) error {
	s.result.Outcome, s.result.Reason, s.result.Message = outcome, reason, message
	return s.cut(ctx, s.children)
}
