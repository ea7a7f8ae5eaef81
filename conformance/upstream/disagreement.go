package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// DisagreementError is a pair that engines disagree about, shrunk.
type DisagreementError struct {
	Request conformance.Request
	// Answers has every engine's, upstream's first.
	Answers []Answer
}

// Answer is what one engine said.
type Answer struct {
	Engine  string
	Verdict runtime.Verdict
	Err     error
}

// disagreement shrinks a pair that engines disagree about, and asks all of them
// once more.
func disagreement(ctx context.Context, env *compiler.Environment, c controller, policy *batchv1.PodFailurePolicy, pod *corev1.Pod) error {
	disagree := func(p pair) bool {
		j, err := newPanel(env, c, p.policy, true)
		if err != nil {
			return errors.As(err, &panicError{})
		}
		_, agree, err := j.judge(ctx, p.pod)
		return err == nil && !agree
	}
	found := pair{policy, pod}.clone()
	if disagree(found) {
		found = shrink(found, disagree)
	}
	request := conformance.Request{Policy: found.policy, Pod: found.pod}
	if env.Kubernetes != compiler.DefaultVersion {
		request.Kubernetes = env.Kubernetes
	}
	return &DisagreementError{Request: request, Answers: answers(ctx, env, c, found)}
}

func answers(ctx context.Context, env *compiler.Environment, c controller, p pair) []Answer {
	request := conformance.Request{Kubernetes: env.Kubernetes, Policy: p.policy, Pod: p.pod}
	program := func(kind func(*runtime.Program) *runtime.Program) func() (runtime.Verdict, error) {
		return func() (runtime.Verdict, error) {
			compiled, err := env.Compile(compiler.StoredPolicy(p.policy))
			if err != nil {
				return runtime.Verdict{}, err
			}
			return kind(runtime.NewProgram(compiled)).Evaluate(ctx, withPhase(p.pod)), nil
		}
	}
	return []Answer{
		answered("upstream", func() (runtime.Verdict, error) { return c.verdict(request) }),
		answered("go", func() (runtime.Verdict, error) { return conformance.Go(ctx, request) }),
		answered("cel", program(func(p *runtime.Program) *runtime.Program { return p })),
		answered("cel, interpreted", program((*runtime.Program).Interpreted)),
	}
}

// answered asks an engine that may panic.
func answered(engine string, ask func() (runtime.Verdict, error)) (a Answer) {
	a.Engine = engine
	defer func() {
		if value := recover(); value != nil {
			a.Err = panicError{value}
		}
	}()
	a.Verdict, a.Err = ask()
	return a
}

// Error shows every engine's verdict.
func (d *DisagreementError) Error() string {
	var b strings.Builder
	b.WriteString("engines disagree:")
	for _, a := range d.Answers {
		fmt.Fprintf(&b, "\n  %-16s %s", a.Engine, a)
	}
	return b.String()
}

// String returns the verdict in JSON, or the error.
func (a Answer) String() string {
	if a.Err != nil {
		return "error: " + a.Err.Error()
	}
	text, err := json.Marshal(a.Verdict)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(text)
}
