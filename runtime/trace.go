package runtime

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/podverdict/podverdict/compiler"
)

// tracedRule evaluates a rule and keeps the values of its terms.
type tracedRule struct {
	compiler.CompiledRule

	source  string
	program cel.Program
	terms   *terms
}

// trace plans every rule once more. Tracing switches cel-go's cost limit off, so
// that a traced program sees one element at a time, and the context bounds it.
func (p *Program) trace() ([]tracedRule, error) {
	compiled, err := p.environment.Compile(p.policy)
	if err != nil {
		return nil, err
	}
	rules := make([]tracedRule, len(compiled.Rules))
	for i, r := range compiled.Rules {
		source, err := r.Source()
		if err != nil {
			return nil, errPlan(i, err)
		}
		program, err := p.environment.CEL.PlanProgram(r.AST, cel.EvalOptions(cel.OptTrackState),
			cel.InterruptCheckFrequency(celconfig.CheckFrequency))
		if err != nil {
			return nil, errPlan(i, err)
		}
		rules[i] = tracedRule{CompiledRule: r, source: source, program: program, terms: newTerms(r.AST)}
	}
	return rules, nil
}

// maxExplained is how many elements of a rule are explained, besides the one that
// matched. No pod has so many but by mistake.
const maxExplained = 50

// explainElements evaluates the rule once for each element that it looks at, on a
// pod that has only this one.
func (r *tracedRule) explainElements(ctx context.Context, s *corev1.PodStatus) (explained []ElementExplanation, omitted int, err error) {
	found := newNode(r.Match).match(s)
	for i, e := range elements(r.Match, s) {
		if i >= maxExplained && !e.is(found) {
			omitted++
			continue
		}
		value, details, err := r.program.ContextEval(ctx, activation{&corev1.Pod{Status: e.status}})
		if err != nil {
			return nil, 0, err
		}
		e.explanation.Matched = value == types.True
		e.explanation.Values = r.terms.values(details.State())
		explained = append(explained, e.explanation)
	}
	return explained, omitted, nil
}
