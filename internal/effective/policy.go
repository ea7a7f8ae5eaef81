package effective

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Policy is a custom policy with its errors and findings, regardless of other policies.
type Policy struct {
	manifest.Policy

	// Compiled is nil if there are errors.
	Compiled *runtime.Policy
	// Invalid holds the reasons why the API server would reject the policy.
	Invalid field.ErrorList
	// Findings holds the compiler's findings, without duplicates of Invalid.
	Findings []compiler.Finding

	version *binding.Version
}

// Compile compiles a policy. It also compiles an invalid policy, so that all problems are reported at once.
func Compile(environment *compiler.Environment, p manifest.Policy) Policy {
	compiled := Policy{Policy: p, Invalid: p.Object.Validate(), version: binding.Compile(environment, p.Object, nil)}
	compiled.Findings = slices.DeleteFunc(slices.Clone(compiled.version.Findings), compiled.repeats)
	switch err := compiled.version.Err; {
	case err == nil && len(compiled.Invalid) == 0:
		compiled.Compiled = compiled.version.InForce
	case err != nil && len(compiled.version.Findings) == 0:
		compiled.Invalid = append(compiled.Invalid, field.InternalError(field.NewPath("spec"), err))
	}
	return compiled
}

// repeats reports whether a finding repeats an error in Invalid.
func (p *Policy) repeats(f compiler.Finding) bool {
	return len(p.Invalid) > 0 && f.Check == custom.CheckLimit ||
		slices.ContainsFunc(p.Invalid, func(e *field.Error) bool { return e.Field == f.Field })
}

// Err joins all errors that keep the policy from taking effect.
func (p *Policy) Err() error {
	if p.Compiled != nil {
		return nil
	}
	errs := p.Origin.Errors(p.Invalid)
	for _, f := range p.Findings {
		if f.Severity == compiler.Error {
			errs = append(errs, p.Origin.Finding(f))
		}
	}
	return errors.Join(errs...)
}
