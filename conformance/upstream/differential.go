package upstream

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/runtime"
)

// Differential compares the engines' answers to the same questions, message text included. The specialised programs, the
// definition in Go and upstream's matcher answer for every pair. CEL's ordinary interpreter is slower than all of them
// together, so it answers only for some policies.
type Differential struct {
	// Kubernetes is the minor version to evaluate for; empty means compiler.DefaultVersion.
	Kubernetes string
	// Process answers for upstream, and determines the minor version; nil means the linked release.
	Process *release.Process
	// Generic chooses the policies that CEL's ordinary interpreter answers for, by their index in the space.
	Generic func(policy int64) bool
	// Workers is the number of blocks walked concurrently.
	Workers int
	// Progress, if set, is called with the sum of finished blocks after each of them, by one goroutine at a time.
	Progress func(Tally)
}

// Sampled chooses one policy in n, spread without a pattern, or none if n is 0.
func Sampled(n uint64) func(int64) bool {
	return func(policy int64) bool { return n > 0 && scatter(0, policy)>>32%n == 0 }
}

// Tally counts compared pairs. An interrupted run counts its finished blocks.
type Tally struct {
	Policies, Pairs int64
	// Generic counts the policies and pairs that CEL's ordinary interpreter also answered for.
	GenericPolicies, GenericPairs int64
	// Matched counts verdicts by action; Unmatched and NotTerminal are the rest.
	Matched                map[batchv1.PodFailurePolicyAction]int64
	Unmatched, NotTerminal int64
}

func (t *Tally) add(o Tally) {
	t.Policies += o.Policies
	t.Pairs += o.Pairs
	t.GenericPolicies += o.GenericPolicies
	t.GenericPairs += o.GenericPairs
	t.Unmatched += o.Unmatched
	t.NotTerminal += o.NotTerminal
	if t.Matched == nil {
		t.Matched = map[batchv1.PodFailurePolicyAction]int64{}
	}
	for action, n := range o.Matched {
		t.Matched[action] += n
	}
}

func (t *Tally) count(v *runtime.Verdict) {
	t.Pairs++
	switch {
	case v.Matched:
		t.Matched[v.Action]++
	case v.Terminal:
		t.Unmatched++
	default:
		t.NotTerminal++
	}
}

// Run walks the space and returns the counts. The error is a *DisagreementError if engines disagree, or the context's if
// the run was interrupted.
func (d Differential) Run(ctx context.Context, space Space) (Tally, error) {
	if d.Process != nil {
		d.Kubernetes = d.Process.Kubernetes
	}
	if d.Kubernetes == "" {
		d.Kubernetes = compiler.DefaultVersion
	}
	env, err := compiler.NewEnvironment(d.Kubernetes)
	if err != nil {
		return Tally{}, err
	}
	r := &run{Differential: d, env: env, controller: controller{d.Process}, space: space}
	err = inBlocks(ctx, space.Blocks(), d.Workers, r.walk, r.add)
	return r.sum, err
}

// inBlocks runs work that is numbered from 0, each block by one worker, until a block fails or ctx is done. Blocks that
// were started are finished, and their results are added one at a time.
func inBlocks[T any](ctx context.Context, count int64, workers int, do func(ctx context.Context, block int64) (T, error), add func(T)) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(max(1, workers))
	var adding sync.Mutex
	for block := int64(0); block < count && working.Err() == nil; block++ {
		group.Go(func() error {
			if working.Err() != nil {
				return nil
			}
			result, err := do(context.WithoutCancel(ctx), block)
			if err != nil {
				return err
			}
			adding.Lock()
			defer adding.Unlock()
			add(result)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// run is the shared state of a Run's workers.
type run struct {
	Differential

	env        *compiler.Environment
	controller controller
	space      Space
	sum        Tally
}

func (r *run) add(t Tally) {
	r.sum.add(t)
	if r.Progress != nil {
		r.Progress(r.sum)
	}
}

// walk evaluates the pairs of a block.
func (r *run) walk(ctx context.Context, block int64) (Tally, error) {
	t := Tally{Matched: map[batchv1.PodFailurePolicyAction]int64{}}
	ahead, err := r.controller.askAhead(r.space, block)
	if err != nil {
		return t, err
	}
	var current *panel
	err = r.space.Walk(block, Visitor{
		Policy: func(index int64, p *batchv1.PodFailurePolicy) (err error) {
			generic := r.Generic != nil && r.Generic(index)
			if generic {
				t.GenericPolicies++
			}
			t.Policies++
			if current, err = newPanel(r.env, r.controller, p, generic); errors.As(err, &panicError{}) {
				return nil // the first pod turns it into a disagreement, with its inputs
			}
			return err
		},
		Pod: func(pod *corev1.Pod) error {
			if ahead != nil {
				current.answer, ahead = &ahead[0], ahead[1:]
			}
			v, agree, err := current.judge(ctx, pod)
			if err != nil {
				return err
			}
			if !agree {
				return disagreement(ctx, r.env, r.controller, current.policy, pod)
			}
			if current.generic != nil {
				t.GenericPairs++
			}
			t.count(&v)
			return nil
		},
	})
	return t, err
}

// askAhead queries a process for all pairs of a block at once: single questions would mostly wait.
func (c controller) askAhead(space Space, block int64) ([]release.Answer, error) {
	if c.process == nil {
		return nil, nil
	}
	var questions []release.Question
	err := space.Walk(block, Visitor{
		Policy: func(_ int64, p *batchv1.PodFailurePolicy) error {
			questions = append(questions, release.Question{})
			return questions[len(questions)-1].SetPolicy(p, witness(p))
		},
		Pod: func(pod *corev1.Pod) error { return questions[len(questions)-1].AddPod(pod) },
	})
	if err != nil {
		return nil, err
	}
	return c.process.AskAll(questions)
}
