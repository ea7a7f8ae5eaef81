package admission

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podverdict/podverdict/compiler/custom"
)

// builtinNames lists CEL's own functions and types, and the request and its objects, which rules for a single kind can use.
var builtinNames = []string{"optional", "sets", "math", "lists", "strings", "format", "type", "int", "string", "list", "map", "request", "object", "oldObject"}

// expression is a CEL text with the positions of the names to be replaced. The rest of the text stays as its author wrote it,
// because people read the generated policies. Every target defines these names: the Job's spec, its path (root), whether the
// Job is removed when it finishes (owned), the object's metadata, the old spec in updates, and the rule's own settings. The CEL
// around an expression declares the loop variables n and field.
type expression struct {
	text  []rune
	names []name
}

// name is an identifier other than a loop variable. The name of a setting includes the selected field: settings.max.
type name struct {
	start, end     int // offsets in the text
	ident, setting string
}

// syntaxTree returns the syntax tree of a CEL expression, with its macros expanded.
func syntaxTree(text string) (*ast.AST, error) {
	tree, issues := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).NewExpressionsEnv().Parse(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return tree.NativeRep(), nil
}

// parse parses a CEL expression and finds its names. Types are checked later, in the generated policy.
func parse(text string) (expression, error) {
	text = strings.TrimSpace(text)
	tree, err := syntaxTree(text)
	if err != nil {
		return expression{}, err
	}
	e := expression{text: []rune(text)}
	selected := map[int64]string{} // field selected from an identifier, by the identifier's node id
	custom.Visit(tree.Expr(), nil, func(x ast.Expr, locals []string) {
		switch x.Kind() {
		case ast.SelectKind:
			selected[x.AsSelect().Operand().ID()] = x.AsSelect().FieldName()
		case ast.IdentKind:
			if !slices.Contains(locals, x.AsIdent()) && !slices.Contains(builtinNames, x.AsIdent()) {
				e.names = append(e.names, e.name(x, tree.SourceInfo(), selected[x.ID()]))
			}
		default:
		}
	})
	slices.SortFunc(e.names, func(a, b name) int { return a.start - b.start })
	e.names = slices.Compact(e.names) // the expansion of a macro can contain a part twice
	return e, nil
}

func (e expression) name(x ast.Expr, info *ast.SourceInfo, field string) name {
	at, _ := info.GetOffsetRange(x.ID())
	n := name{start: int(at.Start), ident: x.AsIdent()}
	n.end = n.start + len([]rune(n.ident))
	if n.ident == "settings" {
		n.setting = field
		n.end += strings.Index(string(e.text[n.end:]), field) + len(field)
	}
	return n
}

// isEmpty reports whether the expression is empty.
func (e expression) isEmpty() bool { return len(e.text) == 0 }

// literal returns the string value of an expression that is a single string literal.
func (e expression) literal() (string, bool) {
	if len(e.text) == 0 || e.text[0] != '"' {
		return "", false
	}
	text, err := strconv.Unquote(string(e.text))
	return text, err == nil
}

// meaning returns the CEL that replaces a name.
type meaning func(name) string

// rewrite replaces each name with its meaning. Adjacent string literals are merged: root + ".parallelism" becomes
// "spec.parallelism", and "at most " + string(settings.max) becomes "at most 10".
func (e expression) rewrite(m meaning) string {
	out, rest := "", e.text
	at := 0
	for _, n := range e.names {
		out += string(rest[:n.start-at])
		rest, at = e.text[n.end:], n.end
		var taken int
		out, taken = join(out, m(n), string(rest))
		rest, at = rest[taken:], at+taken
	}
	return out + string(rest)
}

const (
	plusString   = ` + "`
	stringOf     = `" + string(`
	endOfLiteral = `"`
)

// join appends text to before, merging adjacent string literals. It returns the number of bytes of after that the result
// already contains.
func join(before, text, after string) (joined string, taken int) {
	_, err := strconv.ParseUint(text, 10, 63)
	switch {
	case err == nil && strings.HasSuffix(before, stringOf) && strings.HasPrefix(after, ")"):
		joined, taken, after = strings.TrimSuffix(before, stringOf)+text+endOfLiteral, 1, after[1:]
	case strings.HasSuffix(text, endOfLiteral):
		joined = before + text
	default:
		return before + text, 0
	}
	if strings.HasPrefix(after, plusString) {
		return strings.TrimSuffix(joined, endOfLiteral), taken + len(plusString)
	}
	return joined, taken
}
