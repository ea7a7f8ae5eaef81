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

// DefaultVersion is the Kubernetes minor version that expressions are written
// for unless another is asked for.
const DefaultVersion = kubeversion.Default

// Names of what an expression is about.
const (
	PodVariable     = "pod"
	JobVariable     = "job"
	AttemptVariable = "attempt"
	NodeVariable    = "node"
	NowVariable     = "now"
	// AttemptsVariable are the earlier attempts (rulecel.Attempt).
	AttemptsVariable = "attempts"
	// VariablesVariable is the prefix of the names of a custom policy's variables.
	VariablesVariable = "variables"
)

// Environment is the API server's CEL environment of one Kubernetes minor version,
// extended by the types and functions of package compiler/cel. Each
// kind of expression has the variables that it may use. It is safe for concurrent use.
type Environment struct {
	// Kubernetes is the version, as in "1.37".
	Kubernetes string
	// Schema is the types of pod, job and node.
	Schema *rulecel.Schema
	// MatchConditions knows job; FailedRules knows pod, node, attempt and attempts besides, and
	// LivingRules, for pods that have not ended, also now. A rule of a podFailurePolicy is checked as a failed rule and
	// uses nothing but pod.
	MatchConditions, FailedRules, LivingRules *cel.Env

	// check is the type checker of FailedRules, shared by all compilations.
	check *checker.Env
	// shapes is what check said of common expressions.
	shapes shapes
	// failIndex is whether the Job controller of this version acts on FailIndex.
	failIndex bool
}

// ParseVersion reads a version of Kubernetes that an Environment can stand for,
// such as "1.37", "v1.37" or "1.37.2", and returns its minor version, 1.37. Everybody
// who is given a version reads it so.
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

// NewEnvironment returns the environment of a Kubernetes version that ParseVersion
// takes. It takes milliseconds: make one and keep it.
//
// Fields of Pod and Job are those of the newest version, whatever the version asked
// for: a field that a cluster does not have yet is absent.
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

// FunctionSince returns the first later version of Kubernetes, as in "1.30", in which expressions can call a function or macro, or
// functions of a namespace such as sets. It is "" when there is none, or when this version has it.
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

// extend makes the environments of all kinds of expressions from the API server's.
func (e *Environment) extend(base *cel.Env) (err error) {
	e.MatchConditions, err = base.Extend(
		cel.CustomTypeProvider(e.Schema.Provider(base.CELTypeProvider())),
		cel.CustomTypeAdapter(e.Schema.Adapter(base.CELTypeAdapter())),
		cel.Variable(JobVariable, e.Schema.Job.CEL),
		cel.EnableMacroCallTracking(), // so that expressions can be printed
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

// PartlyChecked returns the syntax tree of an expression with the types of the parts that are
// right, for messages about the others. It is nil if the syntax is wrong.
func PartlyChecked(env *cel.Env, text string) *ast.AST {
	parsed, issues := env.Parse(text)
	check, err := newChecker(env)
	if issues.Err() != nil || err != nil {
		return nil
	}
	tree, _ := checker.Check(parsed.NativeRep(), parsed.Source(), check)
	return tree
}

// newChecker makes the checker that env uses itself, which it does not hand out:
// env.Check takes parsed text only, and would check each policy's text from the
// start.
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
