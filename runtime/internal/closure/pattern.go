package closure

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// stringTest compiles a method of strings that returns a bool.
func (s *scope) stringTest(call ast.CallExpr) boolean {
	if len(call.Args()) != 1 {
		return nil
	}
	value, argument := s.text(call.Target()), s.text(call.Args()[0])
	if value == nil || argument == nil {
		return nil
	}
	switch call.FunctionName() {
	case "startsWith":
		return tested(value, argument, strings.HasPrefix)
	case "endsWith":
		return tested(value, argument, strings.HasSuffix)
	case "contains":
		return tested(value, argument, strings.Contains)
	case "matches":
		return matches(value, call.Args()[0])
	default:
		return nil
	}
}

func tested(value, argument text, test func(value, argument string) bool) boolean {
	return func(f *Frame) Truth {
		v, ok1 := value(f)
		a, ok2 := argument(f)
		ok := ok1 && ok2 && f.read(v)
		return decided(ok && test(v, a), ok)
	}
}

// matches compiles the method matches of a literal regular expression.
func matches(value text, pattern ast.Expr) boolean {
	text, ok := literal[types.String](pattern)
	expression, err := regexp.Compile(string(text))
	if !ok || err != nil {
		return nil
	}
	return func(f *Frame) Truth {
		v, ok := value(f)
		ok = ok && f.look(1+len(v)*(piece/4+len(text))/piece)
		return decided(ok && expression.MatchString(v), ok)
	}
}
