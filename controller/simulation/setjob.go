package simulation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// JobLife is the life of a Job of a JobSet.
type JobLife struct {
	Name string `json:"name"`
	// Restart is the number of earlier restarts of the Job.
	Restart int `json:"restart"`
	// Created is the time in seconds since the JobSet's creation, Seconds since the Job's.
	Created int64  `json:"createdSeconds"`
	Seconds int64  `json:"seconds"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Summary has the totals of the Pods. Pods that were running when the Job was deleted are stopped.
	Summary Summary `json:"summary"`
	// Result has the events of the Pods, if the simulation is detailed.
	Result *Result `json:"-"`

	status batchv1.JobStatus
	ready  int64 // time when as many pods ran or had succeeded as can run at once
}

// end returns the time when the Job ended.
func (l *JobLife) end() int64 {
	if l.Outcome == Unfinished {
		return forever
	}
	return l.Created + l.Seconds
}

// reached returns the time when the Job reached a status.
func (l *JobLife) reached(status v1alpha2.DependsOnStatus) int64 {
	switch {
	case status == v1alpha2.DependencyReady:
		return l.ready
	case l.Outcome == Complete:
		return l.end()
	}
	return forever
}

// child is a Job name of the JobSet, which several Jobs may use one after the other.
type child struct {
	of            *v1alpha2.ReplicatedJob
	index, number int
	restarts      int
	free          int64    // time when the previous Job is gone, with its Pods
	life          *JobLife // nil before its creation
}

func (c *child) name() string { return fmt.Sprintf("%s-%d", c.of.Name, c.index) }

// checkScript rejects events, and rules for Jobs that the JobSet does not have.
func (s *setSimulator) checkScript() error {
	var names []string
	for _, c := range s.children {
		names = append(names, c.of.Name, c.name())
	}
	var errs field.ErrorList
	for i, rule := range s.Script.Pods {
		at := field.NewPath("pods").Index(i)
		if rule.Job != "" && !slices.Contains(names, rule.Job) {
			errs = append(errs, field.Invalid(at.Child("job"), rule.Job, detailJob))
		}
		if _, err := parseSelection(rule.Restart); err != nil {
			errs = append(errs, field.Invalid(at.Child("restart"), rule.Restart.String(), err.Error()))
		}
	}
	if len(s.Script.Events) > 0 {
		errs = append(errs, field.Forbidden(field.NewPath("events"), detailOneJob))
	}
	if len(errs) > 0 {
		return &ScriptError{errs}
	}
	return nil
}

// create creates the Jobs that are due.
func (s *setSimulator) create(ctx context.Context) (some bool, err error) {
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
	err = s.simulate(ctx, due, s.until)
	for _, c := range due {
		s.pods += c.life.Summary.Pods
		if s.Progress != nil {
			s.Progress(c.life.Summary.Pods)
		}
	}
	return len(due) > 0, err
}

// mayStart reports whether everything that a replicatedJob depends on has happened (depends_on.go, startup_policy.go).
func (s *setSimulator) mayStart(of *v1alpha2.ReplicatedJob) bool {
	conditions := slices.Clone(of.DependsOn)
	for i := range s.Set.Spec.ReplicatedJobs {
		before := &s.Set.Spec.ReplicatedJobs[i]
		if before == of || s.Set.Spec.StartupPolicy.StartupPolicyOrder != v1alpha2.InOrder {
			break
		}
		conditions = append(conditions, v1alpha2.DependsOn{Name: before.Name, Status: v1alpha2.DependencyReady})
	}
	for _, on := range conditions {
		if slices.ContainsFunc(s.children, func(c *child) bool {
			return c.of.Name == on.Name && (c.life == nil || c.life.reached(on.Status) > s.now)
		}) {
			return false
		}
	}
	return true
}

// cut ends the lives of Jobs now.
func (s *setSimulator) cut(ctx context.Context, children []*child) error {
	var running []*child
	for _, c := range children {
		switch {
		case c.life == nil:
			c.free = max(c.free, s.now)
		case c.life.end() <= s.now:
			c.free = s.now
		default:
			running = append(running, c)
		}
	}
	return s.simulate(ctx, running, s.now)
}

// simulate simulates the current lives of some Jobs up to a time, when those that still run are deleted.
func (s *setSimulator) simulate(ctx context.Context, children []*child, until int64) error {
	workers, limited := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range children {
		workers.Go(func() error {
			one, err := newSimulator(limited, s.options(c, until))
			if err != nil {
				return err
			}
			r, err := one.run()
			if err != nil {
				return err
			}
			c.life.take(r)
			if until < s.until {
				c.life.stop(one)
			}
			if s.Detailed {
				c.life.Result = r
			}
			c.life.ready = c.life.Created + one.whenReady()
			c.free = until + one.windsDown()
			return nil
		})
	}
	return workers.Wait()
}

// take copies the result of a simulation.
func (l *JobLife) take(r *Result) {
	l.Name, l.Seconds, l.Outcome, l.Reason, l.Message, l.Summary, l.status = r.Name, r.Seconds, r.Outcome, r.Reason, r.Message, r.Summary, r.Status
}

// stop counts the pods that still run when the Job is deleted.
func (l *JobLife) stop(s *simulator) {
	for _, pod := range s.unended() {
		l.Summary.Stopped++
		l.Summary.WastedSeconds += s.ran(pod)
	}
}

// options returns the options for simulating the current life of a Job.
func (s *setSimulator) options(c *child, until int64) Options {
	o := s.Jobs[c.of.Name]
	o.Job = jobset.Child(s.Set, c.of, c.index)
	o.Job.Spec.Suspend = s.Set.Spec.Suspend
	o.Script = s.Script.of(c)
	o.Seed = rand.NewPCG(s.Seed, uint64(c.number)<<32|uint64(c.restarts)).Uint64() //nolint:gosec // neither is negative
	o.Until, o.Progress = time.Duration(until-c.life.Created)*time.Second, nil
	return o
}

// of returns the Script of a Job. Rules for other Jobs are kept, but never apply, so that errors have the right paths.
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

// windsDown returns the time that the pods need to end if the Job is deleted now.
func (s *simulator) windsDown() (longest int64) {
	for _, l := range s.lives {
		if l.stage != pending && l.stage != ended {
			grace := ptr.Deref(l.pod.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
			longest = max(longest, min(l.does.stop, grace))
		}
	}
	return longest
}

// whenReady returns the time when the Job first had as many pods ready or succeeded as can run at once.
func (s *simulator) whenReady() int64 {
	ready, atOnce := 0, int(min(*s.job.Spec.Parallelism, ptr.Deref(s.job.Spec.Completions, math.MaxInt32)))
	change := map[EventType]int{PodStarted: 1, PodRestarting: -1, PodFailed: -1, PodStopped: -1}
	for _, e := range s.result.Events {
		if ready += change[e.Type]; ready >= atOnce {
			return e.Seconds
		}
	}
	if s.result.Outcome == Unfinished {
		return forever
	}
	return s.result.Seconds
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
