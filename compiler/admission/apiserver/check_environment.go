package apiserver

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// hinter knows which names there are at a place of an expression. The API server's type
// checker knows them too, but does not tell.
type hinter struct {
	env   *cel.Env
	check *checker.Env
	// types are those of all objects, by name.
	types map[string]*apiservercel.DeclType
}

func newHinter(object kind.Kind, params *kind.Kind) (*hinter, error) {
	h := &hinter{types: map[string]*apiservercel.DeclType{}}
	options := []cel.EnvOption{cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType)}
	var declared []*apiservercel.DeclType
	declare := func(d *apiservercel.DeclType, names ...string) {
		declared = append(declared, d)
		maps.Copy(h.types, apiservercel.FieldTypeMap(d.TypeName(), d))
		for _, name := range names {
			options = append(options, cel.Variable(name, d.CelType()))
		}
	}
	declare(plugincel.BuildRequestType(), plugincel.RequestVarName)
	declare(plugincel.BuildNamespaceType(), plugincel.NamespaceVarName)
	declare(typeOf(object), plugincel.ObjectVarName, plugincel.OldObjectVarName)
	if params != nil {
		declare(typeOf(*params), plugincel.ParamsVarName)
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: options, DeclTypes: declared,
	})
	if err != nil {
		return nil, err
	}
	h.env = set.StoredExpressionsEnv()
	h.check, err = newChecker(h.env)
	return h, err
}

// typeOf returns the type of a kind's objects, named after the kind.
func typeOf(k kind.Kind) *apiservercel.DeclType {
	return celcommon.SchemaDeclType(&openapi.Schema{Schema: k.Schema}, true).MaybeAssignTypeName(k.String())
}

// newChecker makes the checker that an environment has, which does not say what types it
// has found in expressions that are wrong.
func newChecker(env *cel.Env) (*checker.Env, error) {
	check, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(true))
	if err != nil {
		return nil, err
	}
	if err := check.AddIdents(env.Variables()...); err != nil {
		return nil, err
	}
	if err := check.AddFunctions(slices.Collect(maps.Values(env.Functions()))...); err != nil {
		return nil, err
	}
	return check, nil
}

// checked finds the types in an expression, as far as it has any, and what is wrong with
// it. The syntax tree is nil if the syntax is wrong.
func (h *hinter) checked(text string) (*ast.AST, []*common.Error) {
	source := common.NewTextSource(text)
	parsed, issues := h.env.ParseSource(source)
	if issues != nil {
		return nil, issues.Errors()
	}
	tree, errs := checker.Check(parsed.NativeRep(), source, h.check)
	return tree, errs.GetErrors()
}
