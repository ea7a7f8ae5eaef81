package custom

import (
	"context"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom/native"
)

// Input is what a policy is evaluated over. The objects are read, never copied or
// converted, and not kept.
type Input struct {
	Pod *corev1.Pod
	// Job is the pod's Job. Without one, rules see one that has no field set.
	Job *batchv1.Job
	// Attempt is the pod's number at its index or slot, from 1.
	Attempt int64
	// Now is the time for rules on Pending.
	Now time.Time
}

// Match is what a policy says of a pod.
type Match struct {
	// Rule is the index of the first rule that matches, or NoRule.
	Rule int
	// Message is what the rule's messageExpression says, or empty if it has none or
	// if it cannot be shown.
	Message string
	// MessageErr is why it cannot.
	MessageErr error
	// Ignored is an *EvaluationError: why the first rule that could not be evaluated could
	// not. The rules after it were tried, because the policy's failurePolicy is Ignore.
	Ignored error
}

// Applies is whether the policy says anything of a Job's pods: whether all match
// conditions are true. As in ValidatingAdmissionPolicy, one that is false decides,
// whatever happens to others; without one, an error is returned. What that means, the
// policy's failurePolicy says, which is the business of whoever asks.
func (p *Policy) Applies(ctx context.Context, job *batchv1.Job) (bool, error) {
	if len(p.conditions) == 0 {
		return true, nil
	}
	e := p.begin(ctx, Input{Pod: &noPod, Job: job})
	defer e.end()
	var failed error
	for i := range p.conditions {
		matched, err := e.bool(&p.conditions[i])
		switch {
		case err != nil && failed == nil:
			failed = err
		case err == nil && !matched:
			return false, nil
		}
	}
	return failed == nil, failed
}

// Evaluate tries the rules about the pod's phase, Failed or Pending, in order: the
// first one that matches decides. Whether the policy applies to the Job is not asked.
//
// A rule that cannot be evaluated does not match, and the next one is tried, unless the
// policy's failurePolicy is Fail or the context is done: that ends the evaluation. There
// is no match then, and the error is an *EvaluationError, or the context's if that is
// done from the start.
func (p *Policy) Evaluate(ctx context.Context, in Input) (Match, error) {
	if ctx.Err() != nil {
		return Match{Rule: NoRule}, context.Cause(ctx)
	}
	e := p.begin(ctx, in)
	defer e.end()
	var ignored error
	for i := range p.rules {
		if p.rules[i].phase != in.Pod.Status.Phase {
			continue
		}
		matched, err := e.bool(&p.rules[i].when)
		switch {
		case err != nil && (p.failurePolicy == v1alpha1.FailurePolicyFail || ctx.Err() != nil):
			return Match{Rule: NoRule}, err
		case err != nil && ignored == nil:
			ignored = err
		case matched:
			message, err := e.message(p.rules[i].message)
			return Match{Rule: i, Message: message, MessageErr: err, Ignored: ignored}, nil
		}
	}
	return Match{Rule: NoRule, Ignored: ignored}, nil
}

// What there is when there is nothing. Nobody writes to them.
var (
	noPod corev1.Pod
	noJob batchv1.Job
)

// evaluation is the evaluation of one policy for one pod. It is used again for the
// next.
type evaluation struct {
	policy *Policy
	ctx    context.Context //nolint:containedctx // CEL asks for variables without handing a context on
	frame  *native.Frame
	// interpreter is there once it has been needed.
	interpreter *interpreter
}

func (p *Policy) begin(ctx context.Context, in Input) *evaluation {
	e, ok := p.evaluations.Get().(*evaluation)
	if !ok {
		e = &evaluation{policy: p, frame: native.NewFrame(len(p.variables))}
	}
	if in.Job == nil {
		in.Job = &noJob
	}
	e.ctx = ctx
	e.frame.Pod, e.frame.Job, e.frame.Attempt, e.frame.Now = in.Pod, in.Job, in.Attempt, in.Now
	return e
}

func (e *evaluation) end() {
	if e.interpreter != nil {
		e.interpreter.release()
	}
	e.frame.Reset()
	e.ctx, e.interpreter = nil, nil
	e.policy.evaluations.Put(e)
}

// bool asks the closures, and CEL where they are undecided.
func (e *evaluation) bool(x *expression) (bool, error) {
	if x.native.Bool != nil && !e.policy.interpret {
		switch x.native.Bool(e.frame) {
		case native.Yes:
			return true, nil
		case native.No:
			return false, nil
		case native.Undecided:
		}
	}
	value, err := e.interpret(x)
	if err != nil {
		return false, &EvaluationError{Rule: x.place.rule, Field: x.place.path, Err: err}
	}
	b, ok := value.(types.Bool)
	if !ok {
		return false, &EvaluationError{Rule: x.place.rule, Field: x.place.path, Err: errResult(value)}
	}
	return bool(b), nil
}

// message is what an expression says, without the space around it.
func (e *evaluation) message(x *expression) (string, error) {
	if x == nil {
		return "", nil
	}
	text, err := e.string(x)
	if err != nil {
		return "", &EvaluationError{Rule: x.place.rule, Field: x.place.path, Err: err}
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", &EvaluationError{Rule: x.place.rule, Field: x.place.path, Err: errMessageEmpty}
	case len(text) > MaxMessage:
		return "", &EvaluationError{Rule: x.place.rule, Field: x.place.path, Err: errMessageLength(len(text))}
	}
	return text, nil
}

func (e *evaluation) string(x *expression) (string, error) {
	if x.native.String != nil && !e.policy.interpret {
		if text, ok := x.native.String(e.frame); ok {
			return text, nil
		}
	}
	value, err := e.interpret(x)
	if err != nil {
		return "", err
	}
	text, ok := value.(types.String)
	if !ok {
		return "", errResult(value)
	}
	return string(text), nil
}
