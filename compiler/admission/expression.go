package admission

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// given are the names that have a meaning in every target: the Job's spec, its path, whether something removes the Job
// when it is done, the object's metadata, in updates the old spec, and the rule's own settings.
var given = []string{"spec", "root", "owned", "metadata", "old", "settings"}

// reserved are the loop variables of the CEL that is written around an expression.
var reserved = []string{"n", "field"}

// builtinNames are names of CEL's own functions and types, and the request with its objects, for rules of one kind.
var builtinNames = []string{"optional", "sets", "math", "lists", "strings", "format", "type", "int", "string", "list", "map", "request", "object", "oldObject"}

// expression is a CEL text with the positions of the names that stand for something else. The text stays as its author
// wrote it, because people read the policies.
type expression struct {
	text  []rune
	names []name
	loops []string // the variables of its comprehensions
}

// name is an identifier other than a loop variable. That of a setting includes the selection: settings.max.
type name struct {
	start, end     int // in the text
	ident, setting string
}

// parse reads a CEL expression as far as its names. Types are checked later, in the policy that it becomes part of.
func parse(text string) (expression, error) {
	text = strings.TrimSpace(text)
	// Macros stay calls, so that each name occurs once and where its author put it.
	p, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
	if err != nil {
		return expression{}, err
	}
	parsed, errs := p.Parse(common.NewTextSource(text))
	if len(errs.GetErrors()) > 0 {
		return expression{}, errors.New(errs.ToDisplayString())
	}
	e := expression{text: []rune(text)}
	e.loops = loops(parsed)
	selected := map[int64]string{} // the field that is selected of an identifier
	ast.PreOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		switch x.Kind() {
		case ast.SelectKind:
			selected[x.AsSelect().Operand().ID()] = x.AsSelect().FieldName()
		case ast.IdentKind:
			if !slices.Contains(e.loops, x.AsIdent()) && !slices.Contains(builtinNames, x.AsIdent()) {
				e.names = append(e.names, e.name(x, parsed.SourceInfo(), selected[x.ID()]))
			}
		default:
		}
	}))
	slices.SortFunc(e.names, func(a, b name) int { return a.start - b.start })
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

// comprehensions are the macros with loop variables, by the number of variables that stand before the last arguments.
var comprehensions = map[string]func(arguments int) int{
	"all":               one2,
	"exists":            one2,
	"exists_one":        one2,
	"existsOne":         one2,
	"filter":            func(int) int { return 1 },
	"map":               func(int) int { return 1 },
	"transformList":     func(int) int { return 2 },
	"transformMap":      func(int) int { return 2 },
	"transformMapEntry": func(int) int { return 2 },
	"optMap":            func(int) int { return 1 },
	"optFlatMap":        func(int) int { return 1 },
}

// one2 returns the number of loop variables of a macro that takes one variable before one argument, or two.
func one2(arguments int) int { return arguments - 1 }

func loops(parsed *ast.AST) []string {
	found := map[string]bool{}
	ast.PreOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() != ast.CallKind || !x.AsCall().IsMemberFunction() {
			return
		}
		call := x.AsCall()
		variables, ok := comprehensions[call.FunctionName()]
		if !ok {
			return
		}
		for _, argument := range call.Args()[:min(variables(len(call.Args())), len(call.Args()))] {
			if argument.Kind() == ast.IdentKind {
				found[argument.AsIdent()] = true
			}
		}
	}))
	return slices.Sorted(maps.Keys(found))
}

// checkNames refuses a name that is not known, and a loop variable that hides one.
func (e expression) checkNames(known []string, settings Settings) error {
	for _, loop := range e.loops {
		if slices.Contains(known, loop) || slices.Contains(reserved, loop) {
			return errNameTaken(loop, string(e.text))
		}
	}
	for _, n := range e.names {
		if !slices.Contains(known, n.ident) {
			return fmt.Errorf("%s stands for nothing: %s", n.ident, string(e.text))
		}
		if _, ok := settings[n.setting]; n.ident == "settings" && !ok {
			return fmt.Errorf("settings.%s is not a setting of this rule: %s", n.setting, string(e.text))
		}
	}
	return nil
}

// isEmpty reports whether there is no expression.
func (e expression) isEmpty() bool { return len(e.text) == 0 }

// literal returns the string that the expression is, if it is nothing but one.
func (e expression) literal() (string, bool) {
	if len(e.text) == 0 || e.text[0] != '"' {
		return "", false
	}
	text, err := strconv.Unquote(string(e.text))
	return text, err == nil
}

// meaning returns the CEL that takes the place of a name.
type meaning func(name) string

// rewrite puts the meaning of each name in its place. Literals that meet strings are joined with them: what was
// root + ".parallelism" reads "spec.parallelism", and "at most " + string(settings.max) reads "at most 10".
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

// join appends a text to what is before it, and returns how much of what is after it the result has taken in.
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
