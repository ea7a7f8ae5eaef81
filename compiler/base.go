package compiler

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// newBase returns the API server's CEL environment for new expressions of a version, built directly from its libraries.
// k8s.io/apiserver/pkg/cel/environment has the same table, but links feature gates and metrics. A test checks that both
// environments are equal, so the options are in the API server's order.
func newBase(kubernetes *version.Version) (*cel.Env, error) {
	var options []cel.EnvOption
	minor := kubernetes.Minor()
	since := func(first uint, more ...cel.EnvOption) {
		if minor >= first {
			options = append(options, more...)
		}
	}
	before := func(end uint, more ...cel.EnvOption) {
		if minor < end {
			options = append(options, more...)
		}
	}
	since(28, cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		library.URLs(), library.Regex(), cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)))
	before(37, library.Lists(library.ListsVersion(0)))
	since(28, library.Authz(), cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), library.Quantity())
	since(29, cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(),
		cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals()))
	before(29, ext.Strings(ext.StringsVersion(0)))
	since(29, ext.Strings(ext.StringsVersion(2)), ext.Sets())
	since(30, library.IP(), library.CIDR())
	since(31, library.Format(), library.AuthzSelectors())
	since(32, ext.TwoVarComprehensions())
	since(33, library.SemverLib(library.SemverVersion(1)))
	since(34, ext.Lists(ext.ListsVersion(3)))
	since(37, library.Lists(library.ListsVersion(1)))
	since(28, cel.Lib(evaluation{}))
	return cel.NewEnv(options...)
}

// evaluation is the program configuration of the API server: its cost limit and its cost estimator.
type evaluation struct{}

func (evaluation) CompileOptions() []cel.EnvOption { return nil }

func (evaluation) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.CostTracking(&library.CostEstimator{}),
	}
}
