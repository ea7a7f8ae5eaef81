package simulation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/jobset"
)

// SetOptions say which JobSet to simulate.
type SetOptions struct {
	// Set is a JobSet with JobSet's defaults.
	Set *v1alpha2.JobSet
	// Jobs have the Program and the Selection of each replicatedJob, by its name.
	Jobs map[string]Options
	// Script, Seed, Until and Progress are as in Options.
	Script   Script
	Seed     uint64
	Until    time.Duration
	Progress func(pods int)
}

// SetResult describes a JobSet's simulated life.
type SetResult struct {
	Namespace, Name string
	// Outcome is Complete, Failed or Unfinished; Reason and Message are those of the condition.
	Outcome, Reason, Message string
	// Seconds is the time from the JobSet's creation to its end, or to the end of the simulation.
	Seconds int64
	// Jobs are all Jobs that were created, in that order.
	Jobs []*JobLife
	// Failures are what the JobSet did about failed Jobs.
	Failures []SetFailure
	// Status has the final counts of restarts.
	Status v1alpha2.JobSetStatus
}

// JobLife is the life of a Job of a JobSet, without events and attempts. Its seconds count from its creation.
type JobLife struct {
	*Result

	// Created is seconds since the JobSet's creation, and Restart how often the Job was restarted before.
	Created int64
	Restart int

	ready int64 // when as many pods ran or had succeeded as can at a time
	known int64 // up to when it is simulated
}

// Add adds the totals of another simulation.
func (s *Summary) Add(other Summary) {
	s.Pods += other.Pods
	s.Restarts += other.Restarts
	s.Succeeded += other.Succeeded
	s.Stopped += other.Stopped
	s.PodSeconds += other.PodSeconds
	s.WastedSeconds += other.WastedSeconds
	for action, n := range other.Verdicts {
		s.Verdicts[action] += n
	}
}

// SetFailure is a decision of a JobSet.
type SetFailure struct {
	// Seconds since the JobSet was created.
	Seconds int64
	jobset.Decision
}

// maxSetPods is how many Pods of a JobSet are simulated; some restart for ever.
const maxSetPods = 500_000

// setSimulator is a JobSet and the clock. Its Jobs know nothing of each other, so each is simulated to its end when it is created,
// and again up to the time at which the JobSet deletes it.
type setSimulator struct {
	SetOptions

	ctx        context.Context //nolint:containedctx // lives for one call of RunSet
	now, until int64
	pods       int
	children   []*child
	result     SetResult
}

// child is a name for Jobs.
type child struct {
	of            *v1alpha2.ReplicatedJob
	index, number int
	restarts      int
	free          int64    // when the Job before it is gone, with its Pods
	life          *JobLife // nil before its creation
}

// RunSet simulates a JobSet of Kubernetes' JobSet controller until it has finished or the time is over, as Run does a Job. Events of
// the Script are for single Jobs, and an error. A replicatedJob is taken to be ready when each of its Jobs has been ready once.
func RunSet(ctx context.Context, o SetOptions) (*SetResult, error) {
	set := o.Set.DeepCopy()
	set.Status = v1alpha2.JobSetStatus{}
	o.Set = set
	s := &setSimulator{SetOptions: o, ctx: ctx, until: int64(o.Until / time.Second)}
	for i := range set.Spec.ReplicatedJobs {
		of := &set.Spec.ReplicatedJobs[i]
		for index := range int(of.Replicas) {
			s.children = append(s.children, &child{of: of, index: index, number: len(s.children)})
		}
	}
	if err := s.checkScript(); err != nil {
		return nil, err
	}
	for {
		created, err := s.create()
		if err != nil {
			return nil, err
		}
		restarted, err := s.decide()
		switch more := created || restarted; {
		case err != nil:
			return nil, err
		case s.result.Outcome != "":
			return s.conclude(), nil
		case s.pods > maxSetPods:
			err := s.finish(Unfinished, "", fmt.Sprintf("it has had more than %d Pods", maxSetPods))
			return s.conclude(), err
		case !more && !s.advance():
			s.result.Outcome, s.now = Unfinished, s.until
			return s.conclude(), nil
		}
	}
}

// checkScript refuses what a Script says of Jobs that the JobSet does not have, and its events.
func (s *setSimulator) checkScript() error {
	var names []string
	for _, c := range s.children {
		names = append(names, c.of.Name, c.name())
	}
	var errs field.ErrorList
	for i, rule := range s.Script.Pods {
		at := field.NewPath("pods").Index(i)
		if rule.Job != "" && !slices.Contains(names, rule.Job) {
			errs = append(errs, field.Invalid(at.Child("job"), rule.Job, "must be a replicatedJob, or one of its Jobs as in workers-0"))
		}
		if _, err := parseSelection(rule.Restart); err != nil {
			errs = append(errs, field.Invalid(at.Child("restart"), rule.Restart.String(), err.Error()))
		}
	}
	if len(s.Script.Events) > 0 {
		errs = append(errs, field.Forbidden(field.NewPath("events"), "they are for a single Job"))
	}
	if len(errs) > 0 {
		return &ScriptError{errs}
	}
	return nil
}

func (c *child) name() string { return fmt.Sprintf("%s-%d", c.of.Name, c.index) }

// create creates the Jobs whose time has come.
func (s *setSimulator) create() (some bool, err error) {
	var due []*child
	for _, c := range s.children {
		if c.life == nil && c.free <= s.now && s.mayStart(c.of) {
			due = append(due, c)
		}
	}
	for _, c := range due {
		c.life = &JobLife{Created: s.now, Restart: c.restarts}
		s.result.Jobs = append(s.result.Jobs, c.life)
	}
	if err := s.simulate(due, s.until); err != nil {
		return false, err
	}
	for _, c := range due {
		s.pods += c.life.Summary.Pods
		if s.Progress != nil {
			s.Progress(c.life.Summary.Pods)
		}
	}
	return len(due) > 0, nil
}

// mayStart reports whether all that a replicatedJob depends on has come to pass (depends_on.go, startup_policy.go).
func (s *setSimulator) mayStart(of *v1alpha2.ReplicatedJob) bool {
	conditions := slices.Clone(of.DependsOn)
	if s.Set.Spec.StartupPolicy.StartupPolicyOrder == v1alpha2.InOrder {
		for _, before := range s.Set.Spec.ReplicatedJobs {
			if before.Name == of.Name {
				break
			}
			conditions = append(conditions, v1alpha2.DependsOn{Name: before.Name, Status: v1alpha2.DependencyReady})
		}
	}
	for _, on := range conditions {
		for _, c := range s.children {
			if c.of.Name == on.Name && (c.life == nil || c.life.reached(on.Status) > s.now) {
				return false
			}
		}
	}
	return true
}

// reached returns when the Job reached a status, since the JobSet's creation.
func (l *JobLife) reached(status v1alpha2.DependsOnStatus) int64 {
	if status == v1alpha2.DependencyReady {
		return l.ready
	}
	if l.Outcome != Complete {
		return forever
	}
	return l.end()
}

// end returns when the Job ended.
func (l *JobLife) end() int64 {
	if l.Outcome == Unfinished {
		return forever
	}
	return l.Created + l.Seconds
}

// simulate simulates the current lives of some Jobs up to a time, or less if all Jobs end earlier because of one that fails. It says
// when they would be gone if they were deleted then.
func (s *setSimulator) simulate(children []*child, until int64) error {
	workers, ctx := errgroup.WithContext(s.ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	var earliest atomic.Int64
	earliest.Store(min(until, s.firstFailure()))
	for _, c := range children {
		workers.Go(func() error {
			l := c.life
			l.known = earliest.Load()
			one, err := newSimulator(ctx, s.options(c, l.known))
			if err != nil {
				return err
			}
			if l.Result, err = one.run(); err != nil {
				return err
			}
			c.free = l.known + one.windsDown()
			if l.known < s.until {
				l.countStopped()
			}
			l.ready = one.whenReady(l.Created)
			l.Events, l.Attempts = nil, nil
			for end := s.cuts(l); ; {
				if before := earliest.Load(); before <= end || earliest.CompareAndSwap(before, end) {
					return nil
				}
			}
		})
	}
	return workers.Wait()
}

// countStopped counts the pods that run as stopped: they end with their Job.
func (l *JobLife) countStopped() {
	for _, a := range l.Attempts {
		if a.Fate == FateUnknown {
			l.Summary.Stopped++
			if a.Started >= 0 {
				l.Summary.WastedSeconds += l.Seconds - a.Started
			}
		}
	}
}

// firstFailure returns when the first of the Jobs fails, if that ends them all.
func (s *setSimulator) firstFailure() int64 {
	first := int64(forever)
	for _, c := range s.children {
		if c.life != nil && c.life.Result != nil {
			first = min(first, s.cuts(c.life))
		}
	}
	return first
}

// cuts returns when a Job fails and so ends all others.
func (s *setSimulator) cuts(l *JobLife) int64 {
	if l.Outcome == Failed && !jobset.GatesOf(s.Set).RestartJob {
		return l.end()
	}
	return forever
}

// options returns how to simulate the current life of a Job.
func (s *setSimulator) options(c *child, until int64) Options {
	o := s.Jobs[c.of.Name]
	o.Job = jobset.Child(s.Set, c.of, c.index)
	o.Job.Spec.Suspend = s.Set.Spec.Suspend
	o.Script = s.Script.of(c)
	o.Seed = rand.NewPCG(s.Seed, uint64(c.number)<<32|uint64(c.restarts)).Uint64()
	o.Until, o.Progress = time.Duration(until-c.life.Created)*time.Second, nil
	return o
}

// of returns the Script of a Job. Rules for others stay, but never apply, so that errors have their places.
func (s Script) of(c *child) Script {
	s.Pods = slices.Clone(s.Pods)
	for i := range s.Pods {
		rule := &s.Pods[i]
		restarts, err := parseSelection(rule.Restart)
		if rule.Job != "" && rule.Job != c.of.Name && rule.Job != c.name() || err != nil || !restarts.has(c.restarts) {
			*rule = Rule{Probability: new(0.0)}
		}
		rule.Job, rule.Restart = "", nil
	}
	return s
}

// windsDown returns how long the pods take to end when the Job is deleted now.
func (s *simulator) windsDown() (longest int64) {
	for _, l := range s.lives {
		if l.stage != pending && l.stage != ended {
			grace := ptr.Deref(l.pod.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
			longest = max(longest, min(l.does.stop, grace))
		}
	}
	return longest
}

// whenReady returns when the Job, created at a time, had as many pods ready or succeeded as it can have at a time.
func (s *simulator) whenReady(created int64) int64 {
	ready, atOnce := 0, int(min(*s.job.Spec.Parallelism, ptr.Deref(s.job.Spec.Completions, math.MaxInt32)))
	for _, e := range s.result.Events {
		switch e.Type {
		case PodStarted:
			ready++
		case PodFailed, PodStopped, PodRestarting:
			ready--
		}
		if ready >= atOnce {
			return created + e.Seconds
		}
	}
	if s.result.Outcome == Unfinished {
		return forever
	}
	return created + s.result.Seconds
}

// decide does what the JobSet does about Jobs that have ended by now, and reports whether it restarts.
func (s *setSimulator) decide() (restarts bool, err error) {
	var failed []*batchv1.Job
	for _, c := range s.children {
		if c.life != nil && c.life.Outcome == Failed && c.life.end() <= s.now {
			failed = append(failed, s.failedJob(c))
		}
	}
	if len(failed) == 0 {
		return false, s.succeed()
	}
	d := jobset.Decide(s.Set, failed, jobset.GatesOf(s.Set))
	s.Set.Status = d.Status(s.Set)
	s.result.Failures = append(s.result.Failures, SetFailure{s.now, d})
	switch {
	case d.Failed:
		return false, s.finish(Failed, d.Reason, d.Message)
	case d.Restart == 0:
		return false, s.finish(Unfinished, d.Reason, d.Message)
	}
	return true, s.restart(d)
}

// failedJob returns a Job as Decide sees it.
func (s *setSimulator) failedJob(c *child) *batchv1.Job {
	job := jobset.Child(s.Set, c.of, c.index)
	job.Status.Conditions = slices.Clone(c.life.Status.Conditions)
	for i := range job.Status.Conditions {
		at := &job.Status.Conditions[i].LastTransitionTime
		at.Time = at.Add(time.Duration(c.life.Created) * time.Second)
	}
	return job
}

// restart deletes the Jobs that a decision restarts.
func (s *setSimulator) restart(d jobset.Decision) error {
	var restarted []*child
	for _, c := range s.children {
		if !d.OneJob() || s.Set.Name+"-"+c.name() == d.Job.Name {
			restarted = append(restarted, c)
		}
	}
	err := s.cut(restarted)
	last := s.now
	for _, c := range restarted {
		c.restarts++
		c.life = nil
		last = max(last, c.free)
	}
	for _, c := range restarted {
		if s.Set.Spec.FailurePolicy.RestartStrategy == v1alpha2.BlockingRecreate {
			c.free = last
		}
	}
	return err
}

// cut ends the lives of Jobs now.
func (s *setSimulator) cut(children []*child) error {
	var longer []*child
	for _, c := range children {
		switch {
		case c.life == nil:
			c.free = max(c.free, s.now)
		case c.life.end() <= s.now:
			c.free = s.now
		case c.life.known > s.now:
			longer = append(longer, c)
		}
	}
	return s.simulate(longer, s.now)
}

// succeed completes the JobSet if its successPolicy says so (success_policy.go).
func (s *setSimulator) succeed() error {
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
	return s.finish(Complete, "AllJobsCompleted", "jobset completed successfully")
}

func (s *setSimulator) finish(outcome, reason, message string) error {
	s.result.Outcome, s.result.Reason, s.result.Message = outcome, reason, message
	return s.cut(s.children)
}

func (s *setSimulator) conclude() *SetResult {
	s.result.Namespace, s.result.Name = s.Set.Namespace, s.Set.Name
	s.result.Seconds, s.result.Status = s.now, s.Set.Status
	return &s.result
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
