package upstream

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/upstream/release"
	"github.com/podverdict/podverdict/runtime"
)

// panel evaluates one policy with all engines: the specialised program, the generic one if requested, the definition in
// Go, and upstream.
type panel struct {
	controller controller
	kubernetes string
	policy     *batchv1.PodFailurePolicy
	upstream   *batchv1.PodFailurePolicy // the policy as of the version
	witness    *batchv1.PodFailurePolicy // witness for upstream
	answer     *release.Answer           // upstream's answer for the next pod, if it was queried ahead
	special    *runtime.Program          // nil if creating it panicked
	generic    *runtime.Program          // nil if not requested
}

// newPanel creates the programs of a policy. After a panic it returns a panicError, and a panel that agrees on no pod.
func newPanel(env *compiler.Environment, c controller, policy *batchv1.PodFailurePolicy, generic bool) (p *panel, err error) {
	p = &panel{controller: c, kubernetes: env.Kubernetes, policy: policy}
	defer func() {
		if value := recover(); value != nil {
			p.special, err = nil, panicError{value}
		}
	}()
	compiled, err := env.Compile(compiler.StoredPolicy(policy))
	if err != nil {
		return nil, err
	}
	if p.upstream, err = c.asOf(env.Kubernetes, policy); err != nil {
		return nil, err
	}
	p.witness = witness(p.upstream)
	p.special = runtime.NewProgram(compiled)
	if generic {
		p.generic = p.special.Interpreted()
	}
	return p, nil
}

// judge queries every engine about a pod, and returns the verdict and whether all of them agree on it. They disagree if
// one of them panics.
func (p *panel) judge(ctx context.Context, pod *corev1.Pod) (v runtime.Verdict, agree bool, err error) {
	defer func() {
		if recover() != nil { // answers shows the engine and the panic
			v, agree, err = runtime.Verdict{}, false, nil
		}
	}()
	if p.special == nil {
		return runtime.Verdict{}, false, nil
	}
	oracle, err := conformance.Go(ctx, conformance.Request{Kubernetes: p.kubernetes, Policy: p.policy, Pod: pod})
	if err != nil {
		return runtime.Verdict{}, false, err
	}
	pod = withPhase(pod)
	v = p.special.Evaluate(ctx, pod)
	if agree, err = p.upstreamAgrees(v, pod); err != nil {
		return v, false, err
	}
	agree = agree && v.Equal(oracle)
	if p.generic != nil {
		agree = agree && v.Equal(p.generic.Evaluate(ctx, pod))
	}
	return v, agree, nil
}

// withPhase returns the pod to pass to a program: a pod without a phase is treated as failed, which engines do and
// programs do not.
func withPhase(pod *corev1.Pod) *corev1.Pod {
	if pod.Status.Phase != "" {
		return pod
	}
	judged := *pod
	judged.Status.Phase = corev1.PodFailed
	return &judged
}

// upstreamAgrees compares a verdict with upstream's answers, letter for letter. It is equivalent to a comparison with
// ask, but much faster.
func (p *panel) upstreamAgrees(v runtime.Verdict, pod *corev1.Pod) (bool, error) {
	if !failed(pod) {
		return v.Equal(runtime.NotTerminal(pod)), nil
	}
	answer, err := p.ask(pod)
	if err != nil {
		return false, err
	}
	if answer.Action == "" {
		return answer.Sentence == "" && answer.Counted && v.Equal(runtime.Unmatched(pod)), nil
	}
	agree := v.Terminal && v.Matched && v.Action == answer.Action && v.Counted == answer.Counted && v.Err == nil
	if answer.Borrowed {
		v.Action = batchv1.PodFailurePolicyActionFailJob
	}
	return agree && v.Message() == answer.Sentence, nil
}

// ask returns upstream's answer for a pod, which may have been queried ahead.
func (p *panel) ask(pod *corev1.Pod) (release.Answer, error) {
	if p.answer != nil {
		return *p.answer, nil
	}
	return p.controller.process.Ask(p.upstream, p.witness, pod)
}
