package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"

	rulecel "github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// DefaultVersion is the default Kubernetes minor version for expressions.
const DefaultVersion = kubeversion.Default

// Names of the variables in expressions.
const (
	PodVariable     = "pod"
	JobVariable     = "job"
	AttemptVariable = "attempt"
	NodeVariable    = "node"
	NowVariable     = "now"
	// AttemptsVariable is the list of earlier attempts (rulecel.Attempt).
	AttemptsVariable = "attempts"
	// VariablesVariable is the prefix of the names of a custom policy's variables.
	VariablesVariable = "variables"
)

// Environment is the API server's CEL environment of one Kubernetes minor version, extended by the types and functions of package
// compiler/cel. Each kind of expression has an environment with its own variables. An Environment is safe for concurrent use.
type Environment struct {
	// Kubernetes is the version, as in "1.37".
	Kubernetes string
	// Schema holds the types of pod, job and node.
	Schema *rulecel.Schema
	// MatchConditions declares job. FailedRules also declares pod, node, attempt and attempts. LivingRules, for pods that have not
	// ended, also declares now. A rule of a podFailurePolicy is checked with FailedRules and uses only pod.
	MatchConditions, FailedRules, LivingRules *cel.Env

	// check is the type checker of FailedRules. All compilations share it.
	check *checker.Env
	// shapes caches the type-check results of common expressions.
	shapes shapes
	// failIndex reports whether the Job controller of this version supports FailIndex.
	failIndex bool
}

// ParseVersion parses a supported Kubernetes version such as "1.37", "v1.37" or "1.37.2", and returns its minor version, 1.37. All
// packages parse versions with it.
func ParseVersion(kubernetes string) (*version.Version, error) {
	v, err := version.ParseGeneric(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("kubernetes version %q: %w", kubernetes, err)
	}
	v = version.MajorMinor(v.Major(), v.Minor())
	if v.LessThan(kubeversion.First) || v.GreaterThan(kubeversion.Last) {
		return nil, fmt.Errorf("kubernetes version %q: supported are %s to %s", kubernetes, kubeversion.First, kubeversion.Last)
	}
	return v, nil
}

// NewEnvironment returns the environment of a Kubernetes version that ParseVersion accepts. Creating it takes milliseconds, so
// callers should reuse it.
//
// The fields of Pods and Jobs are always those of the newest version. A field that a cluster does not have yet is absent.
func NewEnvironment(kubernetes string) (*Environment, error) {
	v, err := ParseVersion(kubernetes)
	if err != nil {
		return nil, err
	}
	e := &Environment{Kubernetes: v.String(), Schema: rulecel.Load(), failIndex: v.AtLeast(kubeversion.FailIndex)}
	base, err := newBase(v)
	if err == nil {
		err = e.extend(base)
	}
	if err != nil {
		return nil, fmt.Errorf("cel environment of kubernetes %s: %w", e.Kubernetes, err)
	}
	return e, nil
}

// FunctionSince returns the first later Kubernetes version, as in "1.30", that has a function or macro, or functions of a
// namespace such as sets. It returns "" if there is none, or if this version already has it.
func (e *Environment) FunctionSince(name string) string {
	v, err := ParseVersion(e.Kubernetes)
	if err != nil || hasFunction(e.FailedRules, name) {
		return ""
	}
	for minor := v.Minor() + 1; minor <= kubeversion.Last.Minor(); minor++ {
		later := version.MajorMinor(v.Major(), minor)
		if env, err := newBase(later); err == nil && hasFunction(env, name) {
			return later.String()
		}
	}
	return ""
}

func hasFunction(env *cel.Env, name string) bool {
	for function := range env.Functions() {
		if function == name || strings.HasPrefix(function, name+".") {
			return true
		}
	}
	return slices.ContainsFunc(env.Macros(), func(m cel.Macro) bool { return m.Function() == name })
}

// extend derives the environments of all kinds of expressions from the API server's environment.
func (e *Environment) extend(base *cel.Env) (err error) {
	e.MatchConditions, err = base.Extend(
		cel.CustomTypeProvider(e.Schema.Provider(base.CELTypeProvider())),
		cel.CustomTypeAdapter(e.Schema.Adapter(base.CELTypeAdapter())),
		cel.Variable(JobVariable, e.Schema.Job.CEL),
		cel.EnableMacroCallTracking(), // needed to print expressions
	)
	if err != nil {
		return err
	}
	e.FailedRules, err = e.MatchConditions.Extend(append(rulecel.Options(e.Schema.Pod.CEL, e.Schema.Job.CEL, e.Schema.Node.CEL),
		cel.Variable(PodVariable, e.Schema.Pod.CEL),
		cel.Variable(NodeVariable, types.NewOptionalType(e.Schema.Node.CEL)),
		cel.Variable(AttemptVariable, types.IntType),
		cel.Variable(AttemptsVariable, types.NewListType(rulecel.AttemptType)))...)
	if err != nil {
		return err
	}
	e.LivingRules, err = e.FailedRules.Extend(cel.Variable(NowVariable, types.TimestampType))
	if err != nil {
		return err
	}
	e.check, err = newChecker(e.FailedRules)
	return err
}

// PartlyChecked returns the syntax tree of an expression with the types of its valid parts, for error messages about the others.
// It returns nil if the syntax is invalid.
func PartlyChecked(env *cel.Env, text string) *ast.AST {
	parsed, issues := env.Parse(text)
	check, err := newChecker(env)
	if issues.Err() != nil || err != nil {
		return nil
	}
	tree, _ := checker.Check(parsed.NativeRep(), parsed.Source(), check)
	return tree
}

// newChecker returns a checker equivalent to the one inside env, which env does not expose: env.Check accepts only parsed text,
// and would check each policy from scratch.
func newChecker(env *cel.Env) (*checker.Env, error) {
	check, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(true))
	if err != nil {
		return nil, err
	}
	if err := check.AddIdents(env.Variables()...); err != nil {
		return nil, err
	}
	for _, f := range env.Functions() {
		if f.IsDeclarationDisabled() {
			continue
		}
		if err := check.AddFunctions(f); err != nil {
			return nil, err
		}
	}
	return check, nil
}
