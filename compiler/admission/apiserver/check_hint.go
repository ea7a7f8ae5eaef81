package apiserver

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/compiler/internal/hint"
)

var (
	undefinedField      = regexp.MustCompile(`^undefined field '(.*)'$`)
	undeclaredReference = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	identifier          = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
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
	h.check, err = compiler.NewChecker(h.env)
	return h, err
}

// typeOf returns the type of a kind's objects, named after the kind.
func typeOf(k kind.Kind) *apiservercel.DeclType {
	return celcommon.SchemaDeclType(&openapi.Schema{Schema: k.Schema}, true).MaybeAssignTypeName(k.String())
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

// hint is what may have been meant at the place of a problem, or empty.
func (h *hinter) hint(p Problem) string {
	if match := undefinedField.FindStringSubmatch(p.Message); match != nil {
		return meant(match[1], h.fieldsAt(p))
	}
	match := undeclaredReference.FindStringSubmatch(p.Message)
	if match == nil {
		return ""
	}
	if name := hint.Name(match[1], h.names()); name != "" {
		return didYouMean(name)
	}
	return ""
}

// names are those of all variables and functions; operators are functions too, but have
// no names that one can write.
func (h *hinter) names() []string {
	var names []string
	for _, v := range h.env.Variables() {
		names = append(names, v.Name())
	}
	for name := range h.env.Functions() {
		if identifier.MatchString(name) && name[0] != '_' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fieldsAt are the fields of what the problem's expression selects from, at its place.
func (h *hinter) fieldsAt(p Problem) []string {
	tree, errs := h.checked(p.Expression)
	for _, e := range errs {
		if tree == nil || e.Location.Line() != p.Line || e.Location.Column()+1 != p.Column || e.Message != p.Message {
			continue
		}
		if object, ok := h.types[operandType(tree, e.ExprID)]; ok {
			return slices.Sorted(maps.Keys(object.Fields))
		}
	}
	return nil
}

// operandType is the name of the type that the expression of this id selects from.
func operandType(tree *ast.AST, id int64) string {
	name := ""
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		var operand ast.Expr
		switch {
		case e.ID() != id:
			return
		case e.Kind() == ast.SelectKind:
			operand = e.AsSelect().Operand()
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.OptSelect:
			operand = e.AsCall().Args()[0]
		default:
			return
		}
		t := tree.GetType(operand.ID())
		if t.TypeName() == types.OptionalType.TypeName() {
			t = t.Parameters()[0]
		}
		name = t.TypeName()
	}))
	return name
}

// meant says which of the names may have been meant, or all of them.
func meant(wrong string, names []string) string {
	if name := hint.Name(wrong, names); name != "" {
		return didYouMean(name)
	}
	if len(names) == 0 {
		return ""
	}
	return "there are " + strings.Join(names, ", ")
}

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }
