package apiserver

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// typedEnvironment sees the types that the API server's type checker sees, and more:
// that one forgets which object a variable is, and tells no names.
type typedEnvironment struct {
	env   *cel.Env
	check *checker.Env
	// types are those of all objects, by name.
	types map[string]*apiservercel.DeclType
	// variables is the type of the policy's variables; its fields are those declared so
	// far.
	variables *apiservercel.DeclType
}

func newTypedEnvironment(policy *admissionregistrationv1.ValidatingAdmissionPolicy, object kind.Kind, params *kind.Kind) (*typedEnvironment, error) {
	t := &typedEnvironment{types: map[string]*apiservercel.DeclType{}}
	var options []cel.EnvOption
	var declared []*apiservercel.DeclType
	declare := func(d *apiservercel.DeclType, names ...string) {
		declared = append(declared, d)
		maps.Copy(t.types, apiservercel.FieldTypeMap(d.TypeName(), d))
		for _, name := range names {
			options = append(options, cel.Variable(name, d.CelType()))
		}
	}
	declare(plugincel.BuildRequestType(), plugincel.RequestVarName)
	declare(plugincel.BuildNamespaceType(), plugincel.NamespaceVarName)
	declare(completeType(object), plugincel.ObjectVarName, plugincel.OldObjectVarName)
	switch {
	case params != nil:
		declare(completeType(*params), plugincel.ParamsVarName)
	case policy.Spec.ParamKind != nil:
		options = append(options, cel.Variable(plugincel.ParamsVarName, cel.DynType))
	}
	t.variables = apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})
	declare(t.variables, plugincel.VariableVarName)
	options = append(options, cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType))

	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: options, DeclTypes: declared,
	})
	if err != nil {
		return nil, err
	}
	t.env = set.StoredExpressionsEnv()
	if t.check, err = newChecker(t.env); err != nil {
		return nil, err
	}
	for _, v := range policy.Spec.Variables {
		t.declareVariable(v)
	}
	return t, nil
}

// completeType is the type of a kind's objects, named after the kind, with all fields.
// The API server leaves out those of which it has no type, such as the limits of
// containers, which are quantities.
func completeType(k kind.Kind) *apiservercel.DeclType {
	d := celcommon.SchemaDeclType(&openapi.Schema{Schema: k.Schema}, true)
	complete(d, k.Schema)
	return d.MaybeAssignTypeName(k.String())
}

func complete(d *apiservercel.DeclType, s *spec.Schema) {
	switch {
	case d.IsList():
		complete(d.ElemType, s.Items.Schema)
	case d.IsMap():
		complete(d.ElemType, s.AdditionalProperties.Schema)
	case d.IsObject():
		for name, property := range s.Properties {
			escaped, ok := apiservercel.Escape(name)
			if f, declared := d.Fields[escaped]; declared {
				complete(f.Type, &property)
			} else if ok {
				d.Fields[escaped] = apiservercel.NewDeclField(escaped, apiservercel.DynType, false, nil, nil)
			}
		}
	}
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
func (t *typedEnvironment) checked(text string) (*ast.AST, []*common.Error) {
	source := common.NewTextSource(text)
	parsed, issues := t.env.ParseSource(source)
	if issues != nil {
		return nil, issues.Errors()
	}
	tree, errs := checker.Check(parsed.NativeRep(), source, t.check)
	return tree, errs.GetErrors()
}

func (t *typedEnvironment) declareVariable(v admissionregistrationv1.Variable) {
	declared := apiservercel.DynType
	if tree, errs := t.checked(v.Expression); len(errs) == 0 {
		declared = t.declType(tree.GetType(tree.Expr().ID()))
	}
	t.variables.Fields[v.Name] = apiservercel.NewDeclField(v.Name, declared, true, nil, nil)
}

// plainTypes are the declarations of types without parameters.
var plainTypes = map[types.Kind]*apiservercel.DeclType{
	types.BoolKind:      apiservercel.BoolType,
	types.IntKind:       apiservercel.IntType,
	types.DoubleKind:    apiservercel.DoubleType,
	types.StringKind:    apiservercel.StringType,
	types.TimestampKind: apiservercel.TimestampType,
	types.DurationKind:  apiservercel.DurationType,
}

// declType is the declaration of a type of CEL; where there is none, anything goes.
func (t *typedEnvironment) declType(of *types.Type) *apiservercel.DeclType {
	if plain, ok := plainTypes[of.Kind()]; ok {
		return plain
	}
	if object, ok := t.types[of.TypeName()]; ok {
		return object
	}
	var parameters []*apiservercel.DeclType
	for _, p := range of.Parameters() {
		parameters = append(parameters, t.declType(p))
	}
	switch {
	case of.Kind() == types.ListKind:
		return apiservercel.NewListType(parameters[0], -1)
	case of.Kind() == types.MapKind:
		return apiservercel.NewMapType(parameters[0], parameters[1], -1)
	}
	return apiservercel.DynType
}
