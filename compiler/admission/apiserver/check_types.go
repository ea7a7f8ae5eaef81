package apiserver

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/didyoumean"
)

var (
	undefinedField      = regexp.MustCompile(`^undefined field '(.*)'$`)
	undeclaredReference = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	identifier          = regexp.MustCompile(`^[a-zA-Z][_a-zA-Z0-9]*$`)
)

// typedCompiler compiles expressions with the types of the objects they refer to. The API server's
// own type checker does the same, but returns a single text per expression, without the positions
// of errors and without the list of known names.
type typedCompiler struct {
	env *cel.Env
	// objects maps names to all object types.
	objects map[string]*apiservercel.DeclType
	// variables compiles a policy's variables with this compiler and declares them in it.
	variables *plugincel.CompositedCompiler
}

func newTypedCompiler(object kind.Kind) (*typedCompiler, error) {
	c := &typedCompiler{objects: map[string]*apiservercel.DeclType{}}
	options := []cel.EnvOption{cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType)}
	var declared []*apiservercel.DeclType
	declare := func(d *apiservercel.DeclType, names ...string) {
		declared = append(declared, d)
		maps.Copy(c.objects, apiservercel.FieldTypeMap(d.TypeName(), d))
		for _, name := range names {
			options = append(options, cel.Variable(name, d.CelType()))
		}
	}
	declare(plugincel.BuildRequestType(), plugincel.RequestVarName)
	declare(plugincel.BuildNamespaceType(), plugincel.NamespaceVarName)
	declare(typeOf(object), plugincel.ObjectVarName, plugincel.OldObjectVarName)
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: options, DeclTypes: declared,
	})
	if err != nil {
		return nil, err
	}
	if c.variables, err = plugincel.NewCompositedCompilerForTypeChecking(set); err != nil {
		return nil, err
	}
	c.variables.Compiler = c
	c.env, err = c.variables.Env(environment.StoredExpressions)
	return c, err
}

// typeOf returns the type of a kind's objects, named after the kind.
func typeOf(k kind.Kind) *apiservercel.DeclType {
	return celcommon.SchemaDeclType(&openapi.Schema{Schema: k.Schema}, true).MaybeAssignTypeName(k.String())
}

// CompileCELExpression type-checks an expression and accepts any result type.
func (c *typedCompiler) CompileCELExpression(a plugincel.ExpressionAccessor, _ plugincel.OptionalVariableDeclarations, _ environment.Type) plugincel.CompilationResult {
	checked, issues := c.env.Compile(a.GetExpression())
	if issues.Err() != nil {
		return plugincel.CompilationResult{ExpressionAccessor: a, Error: &apiservercel.Error{
			Type: apiservercel.ErrorTypeInvalid, Detail: issues.String(), Cause: apiservercel.NewCompilationError(issues),
		}}
	}
	return plugincel.CompilationResult{ExpressionAccessor: a, OutputType: checked.OutputType()}
}

// hint returns a suggestion for the name at a problem's position, or an empty string.
func (c *typedCompiler) hint(p Problem) string {
	if match := undefinedField.FindStringSubmatch(p.Message); match != nil {
		tree := compiler.PartlyChecked(c.env, p.Expression)
		object, ok := c.objects[didyoumean.OperandType(tree, p.node)]
		if !ok {
			return ""
		}
		fields := slices.Sorted(maps.Keys(object.Fields))
		if advice := didyoumean.Names(match[1], fields, ""); advice != "" {
			return advice
		}
		return "there are " + strings.Join(fields, ", ")
	}
	match := undeclaredReference.FindStringSubmatch(p.Message)
	if match == nil {
		return ""
	}
	if name := didyoumean.Name(match[1], c.names()); name != "" {
		return didyoumean.DidYouMean(name)
	}
	return ""
}

// names returns the names of all variables and functions. It skips operators, which are functions
// with names that cannot be written in CEL.
func (c *typedCompiler) names() []string {
	names := slices.Collect(maps.Keys(c.env.Functions()))
	for _, v := range c.env.Variables() {
		names = append(names, v.Name())
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !identifier.MatchString(name) })
}
