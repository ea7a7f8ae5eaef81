package compiler

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// DefaultVersion is the Kubernetes minor version that expressions are written
// for unless another is asked for.
const DefaultVersion = "1.36"

// Environment is the API server's CEL environment of one Kubernetes minor
// version, extended by the variable pod. It is safe for concurrent use.
type Environment struct {
	// Kubernetes is the version, as in "1.36".
	Kubernetes string
	// CEL checks and runs any expression over pod.
	CEL *cel.Env

	// check is CEL's type checker, shared by all compilations.
	check *checker.Env
	// shapes is what check said of common expressions.
	shapes shapes
	// failIndex is whether the Job controller of this version acts on FailIndex.
	failIndex bool
}

// Versions of Kubernetes that an Environment can stand for. The first is the one
// whose API server knows optional fields in CEL; the last is that of the
// libraries linked in.
var (
	firstVersion = version.MajorMinor(1, 28)
	lastVersion  = version.MajorMinor(1, 36)
	// failIndexVersion turned the gate JobBackoffLimitPerIndex on by default
	// (KEP-3850; pkg/features/kube_features.go).
	failIndexVersion = version.MajorMinor(1, 29)
)

// ParseVersion reads a version of Kubernetes that an Environment can stand for,
// such as "1.36", "v1.36" or "1.36.2", and returns its minor version, 1.36. Everybody
// who is given a version reads it so.
func ParseVersion(kubernetes string) (*version.Version, error) {
	v, err := version.ParseGeneric(kubernetes)
	if err != nil {
		return nil, errVersion(kubernetes, err)
	}
	v = version.MajorMinor(v.Major(), v.Minor())
	if v.LessThan(firstVersion) || v.GreaterThan(lastVersion) {
		return nil, errVersionRange(kubernetes)
	}
	return v, nil
}

// NewEnvironment returns the environment of a Kubernetes version that ParseVersion
// takes. It takes milliseconds: make one and keep it.
func NewEnvironment(kubernetes string) (*Environment, error) {
	v, err := ParseVersion(kubernetes)
	if err != nil {
		return nil, err
	}
	base := environment.MustBaseEnvSet(v).NewExpressionsEnv()
	env, err := base.Extend(
		cel.CustomTypeProvider(podProvider{base.CELTypeProvider()}),
		cel.CustomTypeAdapter(podAdapter{base.CELTypeAdapter()}),
		cel.Variable(PodVariable, podType),
		cel.EnableMacroCallTracking(), // so that parsed expressions can be printed
	)
	if err != nil {
		return nil, errEnvironment(kubernetes, err)
	}
	check, err := newChecker(env)
	if err != nil {
		return nil, errEnvironment(kubernetes, err)
	}
	return &Environment{
		Kubernetes: v.String(), CEL: env, check: check, failIndex: v.AtLeast(failIndexVersion),
	}, nil
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
