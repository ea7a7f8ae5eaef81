package runtime

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// Evaluate is Judge for a pod of which nothing else is known. Rules of the Job's own
// podFailurePolicy need nothing else.
func (p *Program) Evaluate(ctx context.Context, pod *corev1.Pod) Verdict {
	return p.Judge(ctx, custom.Input{Pod: pod, Attempt: 1})
}

// Judge says what the pod's failure means. Rules are tried in order and the
// first one that matches decides (KEP-3329, "Evaluation"); only a pod in phase
// Failed is judged. The pod is read, never copied or converted.
//
// The failure of a pod that was deleted because of a rule on Pending means what that
// rule says: no other is tried (Verdict.PodCondition).
//
// A rule of a custom policy that cannot be evaluated does not match, and Err says so in
// whatever the verdict is, if the policy's failurePolicy is Ignore. If it is Fail, or if
// the context is done, that ends the evaluation, as does a rule of the Job's own that
// cannot be evaluated: the verdict is that of no match, with Err set. Rules after it are
// not tried: they might say what a rule before them is there to prevent.
func (p *Program) Judge(ctx context.Context, in custom.Input) Verdict {
	if in.Pod.Status.Phase != corev1.PodFailed {
		return NotTerminal(in.Pod)
	}
	if ctx.Err() != nil {
		return Failure(in.Pod, context.Cause(ctx))
	}
	if e, found := p.ended(in.Pod); found {
		return e.verdict(in.Pod)
	}
	// Verdicts are large: it shows when one more function hands them on.
	var ignored error
	for _, c := range p.before {
		if v, decided := c.judge(ctx, in); decided {
			return v.with(ignored)
		} else if ignored == nil {
			ignored = v.Err
		}
	}
	for i := range p.rules { // the Job's own
		found, err := p.match(ctx, i, in.Pod)
		switch {
		case err != nil:
			return Failure(in.Pod, err)
		case found.container != nil:
			return MatchedExitCode(in.Pod, i, p.rules[i].Action, found.container).with(ignored)
		case found.condition != nil:
			return MatchedCondition(in.Pod, i, p.rules[i].Action, found.condition).with(ignored)
		}
	}
	for _, c := range p.after {
		if v, decided := c.judge(ctx, in); decided {
			return v.with(ignored)
		} else if ignored == nil {
			ignored = v.Err
		}
	}
	return Unmatched(in.Pod).with(ignored)
}

// with is the verdict after a rule whose error was ignored. The first such error is
// told, unless the verdict is that of an error.
func (v Verdict) with(ignored error) Verdict {
	if ignored != nil && (v.Matched || v.Err == nil) {
		v.Err = ignored
	}
	return v
}

func (p *Program) match(ctx context.Context, i int, pod *corev1.Pod) (cause, error) {
	if r := &p.rules[i]; r.special {
		return r.node.match(&pod.Status), nil
	}
	return p.interpret(ctx, i, pod)
}

// maxElements is how long a list of the pod's status may be for the interpreter,
// which takes time quadratic in it when it tracks the cost: about 0.1 s a rule here.
const maxElements = 5000

// size is the length of the longest list that a rule looks through.
func size(s *corev1.PodStatus) int {
	return max(len(s.ContainerStatuses), len(s.InitContainerStatuses), len(s.Conditions))
}

// interpret evaluates a rule's expression by CEL's interpreter. When it is true,
// the rule's node says because of what.
func (p *Program) interpret(ctx context.Context, i int, pod *corev1.Pod) (cause, error) {
	if ctx.Err() != nil { // CEL looks once in a hundred iterations
		return cause{}, errEvaluate(i, context.Cause(ctx))
	}
	if n := size(&pod.Status); n > maxElements {
		return cause{}, errEvaluate(i, errTooLarge(n))
	}
	programs, err := p.interpreted()
	if err != nil {
		return cause{}, err
	}
	value, _, err := programs[i].ContextEval(ctx, activation{pod})
	if err != nil {
		return cause{}, errEvaluate(i, err)
	}
	if value != types.True {
		return cause{}, nil
	}
	found := p.rules[i].node.match(&pod.Status)
	if found == (cause{}) {
		return cause{}, errNoCause(i)
	}
	return found, nil
}

// activation binds the one variable of an expression.
type activation struct{ pod *corev1.Pod }

func (a activation) ResolveName(name string) (any, bool) {
	return a.pod, name == compiler.PodVariable
}

func (activation) Parent() cel.Activation { return nil }
