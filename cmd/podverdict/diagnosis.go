package main

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// diagnosis is all that is to be said of a custom policy on its own.
type diagnosis struct {
	policy     manifest.Policy
	kubernetes string
	compiled   *runtime.Policy // nil when there are errors
	lastGood   *runtime.Policy // what is in force in the cluster then, or nil
	invalid    field.ErrorList // what the API server would refuse
	findings   []custom.Finding
}

// diagnose compiles a policy, also one that is invalid: who mends it wants to hear everything.
func diagnose(environment *compiler.Environment, p manifest.Policy) diagnosis {
	d := diagnosis{policy: p, kubernetes: environment.Kubernetes, invalid: p.Object.Validate()}
	compiled, err := runtime.NewCustomPolicy(environment, p.Object)
	refused, _ := errors.AsType[*custom.Error](err)
	switch {
	case refused != nil:
		d.findings = slices.DeleteFunc(refused.Findings, d.known)
	case err == nil:
		d.findings = compiled.Compiled.Warnings
		if len(d.invalid) == 0 {
			d.compiled = compiled
		}
	default:
		d.invalid = append(d.invalid, field.InternalError(field.NewPath("spec"), err))
	}
	if d.compiled == nil && p.Origin.Live() {
		d.lastGood, _ = runtime.NewLastGood(environment, p.Object) // an error means that nothing is in force
	}
	return d
}

// known tells whether a finding says once more what makes the policy invalid.
func (d *diagnosis) known(f custom.Finding) bool {
	return len(d.invalid) > 0 && f.Check == custom.CheckLimit ||
		slices.ContainsFunc(d.invalid, func(e *field.Error) bool { return e.Field == f.Field })
}

// err joins all that keeps the policy from being in force; nil when nothing does.
func (d *diagnosis) err() error {
	if d.compiled != nil {
		return nil
	}
	errs := d.policy.Origin.Errors(d.invalid)
	for _, f := range d.findings {
		if f.Severity == compiler.Error {
			errs = append(errs, d.policy.Origin.Finding(f))
		}
	}
	return errors.Join(errs...)
}

// diagnoseAll compiles the policies of an input. The error is that there is no such Kubernetes.
func diagnoseAll(kubernetes string, policies []manifest.Policy) ([]diagnosis, error) {
	if len(policies) == 0 {
		return nil, nil
	}
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	all := make([]diagnosis, len(policies))
	for i, p := range policies {
		all[i] = diagnose(environment, p)
	}
	return all, nil
}
