package manifest

import (
	"errors"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/runtime"
)

// PolicyField is the path of a Job's own rules.
const PolicyField = "spec.podFailurePolicy"

// Compile compiles the Job's own rules, which may be absent; the error joins all problems in them.
func (j Job) Compile(environment *compiler.Environment) (*compiler.Compiled, error) {
	legal, err := j.rules()
	if err != nil {
		return nil, err
	}
	compiled, err := environment.Compile(legal)
	if err != nil {
		return nil, j.PolicyError(err)
	}
	return compiled, nil
}

// Check rejects own rules of the Job that the API server would reject.
func (j Job) Check() error {
	_, err := j.rules()
	return err
}

func (j Job) rules() (*compiler.Policy, error) {
	legal, err := compiler.NewPolicy(j.Object.Spec.PodFailurePolicy)
	if err != nil {
		return nil, j.PolicyError(err)
	}
	return legal, nil
}

// Program returns the Program of the Job's own rules. It returns the same errors as Compile.
func (j Job) Program(environment *compiler.Environment) (*runtime.Program, error) {
	compiled, err := j.Compile(environment)
	if err != nil {
		return nil, err
	}
	return runtime.NewProgram(compiled), nil
}

// PolicyError adds positions to the compiler's errors about the Job's own rules.
func (j Job) PolicyError(err error) error {
	refused, ok := errors.AsType[*compiler.PolicyError](err)
	if !ok {
		return j.Origin.Error(PolicyField, err.Error())
	}
	return errors.Join(j.Origin.at(PolicyField).Errors(refused.Errors)...)
}
