package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/runtime"
)

// DisagreementError is a shrunk pair on which engines disagree.
type DisagreementError struct {
	Request conformance.Request
	// Answers has every engine's answer, upstream's first.
	Answers []Answer
}

// Answer is the answer of one engine.
type Answer struct {
	Engine  string
	Verdict runtime.Verdict
	Err     error
}

// disagreement shrinks a pair on which engines disagree, and queries all of them again.
func disagreement(ctx context.Context, env *compiler.Environment, c controller, policy *batchv1.PodFailurePolicy, pod *corev1.Pod) error {
	disagree := func(r conformance.Request) bool {
		j, err := newPanel(env, c, r.Policy, true)
		if err != nil {
			return errors.As(err, &panicError{})
		}
		_, agree, err := j.judge(ctx, r.Pod)
		return err == nil && !agree
	}
	found := conformance.Request{Policy: policy.DeepCopy(), Pod: pod.DeepCopy()}
	if disagree(found) {
		found = smallest(found, disagree)
	}
	found.Kubernetes = env.Kubernetes
	return &DisagreementError{Request: found, Answers: answers(ctx, env, c, found)}
}

// smallest removes parts of a request while it keeps the property.
func smallest(r conformance.Request, has func(conformance.Request) bool) conformance.Request {
	document, err := json.Marshal(r)
	if err != nil {
		return r
	}
	shrinkSubmission(release.Submission{Object: document}, func(candidate release.Submission) bool {
		var smaller conformance.Request
		if json.Unmarshal(candidate.Object, &smaller) != nil || smaller.Pod == nil || !has(smaller) {
			return false
		}
		r = smaller
		return true
	})
	return r
}

// YAML returns the policy and the pod.
func (d *DisagreementError) YAML() (string, error) {
	text, err := yaml.Marshal(d.Request)
	return string(text), err
}

func answers(ctx context.Context, env *compiler.Environment, c controller, r conformance.Request) []Answer {
	program := func(kind func(*runtime.Program) *runtime.Program) func() (runtime.Verdict, error) {
		return func() (runtime.Verdict, error) {
			compiled, err := env.Compile(compiler.StoredPolicy(r.Policy))
			if err != nil {
				return runtime.Verdict{}, err
			}
			return kind(runtime.NewProgram(compiled)).Evaluate(ctx, withPhase(r.Pod)), nil
		}
	}
	return []Answer{
		answered("upstream", func() (runtime.Verdict, error) { return c.verdict(r) }),
		answered("go", func() (runtime.Verdict, error) { return conformance.Go(ctx, r) }),
		answered("cel", program(func(p *runtime.Program) *runtime.Program { return p })),
		answered("cel, interpreted", program((*runtime.Program).Interpreted)),
	}
}

// answered queries an engine that may panic.
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
