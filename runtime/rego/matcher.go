package rego

import (
	"context"
	"encoding/json"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/podverdict/podverdict/policies"
)

const entrypointMatch = "data.podverdict.match.verdict"

// Matcher evaluates the bundle's matching rules: what a pod's failure means for its Job. It is immutable and safe for
// concurrent use.
type Matcher struct {
	question question
}

// NewMatcher returns a Matcher with the rules of package policies.
func NewMatcher() (*Matcher, error) {
	b, err := Load(policies.FS)
	if err != nil {
		return nil, err
	}
	p, err := compile(b, nil)
	if err != nil {
		return nil, err
	}
	q, err := p.prepare(entrypointMatch)
	if err != nil {
		return nil, err
	}
	return &Matcher{question: q}, nil
}

// Match evaluates a request, whose JSON has policy, pod and optionally kubernetes, and returns the JSON of a verdict.
func (m *Matcher) Match(ctx context.Context, request any) ([]byte, error) {
	input, err := ast.InterfaceToValue(request)
	if err != nil {
		return nil, errObject(err)
	}
	verdict, err := m.question.evaluate(ctx, input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(verdict)
}
