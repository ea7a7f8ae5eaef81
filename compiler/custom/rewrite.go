package custom

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"

	"github.com/podverdict/podverdict/compiler"
)

// rewriteSelection returns a chain in which every link that may be absent is optional, followed by a default value. It returns an
// empty string if the chain needs a default and none is obvious.
func (g *guard) rewriteSelection(e ast.Expr, known facts) string {
	kind := g.tree.GetType(e.ID()).Kind()
	if kind == types.StructKind {
		return g.rewrite(e, known)
	}
	if empty, ok := emptyValues[kind]; ok && g.takesEmpty(e, kind) {
		return g.rewrite(e, known) + ".orValue(" + empty + ")"
	}
	return ""
}

// emptyValues maps types to obvious defaults for absent fields.
var emptyValues = map[types.Kind]string{
	types.StringKind: "''", types.IntKind: "0", types.BoolKind: "false", types.ListKind: "[]", types.MapKind: "{}",
}

// parsing lists functions that fail for an empty text.
var parsing = []string{
	"quantity", "duration", "timestamp", "int", "uint", "double", "bool", "url", "ip", "cidr", "semver", "asInteger", "asApproximateFloat",
}

// takesEmpty reports whether the empty value can replace an absent field without changing the expression's meaning: nothing
// fails, and nothing becomes true that would not be true for any value. Zero is an ordinary number and is only suitable in a
// comparison with another number: it would make failed * 2 >= completions true for a Job without completions.
func (g *guard) takesEmpty(e ast.Expr, kind types.Kind) bool {
	if g.around == nil {
		return kind != types.IntKind
	}
	name := g.around.AsCall().FunctionName()
	if kind != types.IntKind {
		return !slices.Contains(parsing, name)
	}
	args := g.around.AsCall().Args()
	if name != operators.Equals {
		return false
	}
	other := args[0]
	if other.ID() == e.ID() {
		other = args[1]
	}
	return other.Kind() == ast.LiteralKind && other.AsLiteral() != types.IntZero
}

// rewrite returns a chain with the optional forms of links: .?field and [?'key'].
func (g *guard) rewrite(e ast.Expr, known facts) string {
	test := e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
	if !g.isLink(e) && !test {
		return Unparse(g.tree, e)
	}
	before := g.rewrite(operandOf(e), known)
	key, ok := keyOf(e)
	optional := test || g.mayBeAbsent(e) && (!ok || !known[key])
	if e.Kind() == ast.CallKind {
		index := Unparse(g.tree, e.AsCall().Args()[1])
		if optional {
			return before + "[?" + index + "]"
		}
		return before + "[" + index + "]"
	}
	if optional {
		return before + ".?" + e.AsSelect().FieldName()
	}
	return before + "." + e.AsSelect().FieldName()
}

// instead returns an expression in which a text replaces one of its nodes.
func instead(tree *ast.AST, node ast.Expr, text string) string {
	const placeholder = "placeholder__"
	changed := ast.Copy(tree)
	put := func(root ast.Expr) {
		Visit(root, nil, func(e ast.Expr, _ []string) {
			if e.ID() == node.ID() {
				e.SetKindCase(ast.NewExprFactory().NewIdent(e.ID(), placeholder))
			}
		})
	}
	put(changed.Expr())
	for _, macro := range changed.SourceInfo().MacroCalls() {
		put(macro)
	}
	changed.SourceInfo().ClearMacroCall(node.ID())
	return strings.ReplaceAll(Unparse(changed, changed.Expr()), placeholder, "("+text+")")
}

// Unparse returns an expression as CEL text on one line, with single quotes as is usual in YAML.
func Unparse(tree *ast.AST, e ast.Expr) string {
	text, err := parser.Unparse(e, tree.SourceInfo(), parser.WrapOnColumn(compiler.OneLine))
	if err != nil {
		return "this"
	}
	if !strings.ContainsAny(text, `'\`) {
		text = strings.ReplaceAll(text, `"`, "'")
	}
	return text
}
