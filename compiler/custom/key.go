package custom

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// prefixes returns the keys of a chain and of all its prefixes.
func prefixes(e ast.Expr) []string {
	var keys []string
	for e = orEmpty(e); operandOf(e) != nil; e = orEmpty(operandOf(e)) {
		if key, ok := keyOf(e); ok {
			keys = append(keys, key)
		}
	}
	if e.Kind() == ast.IdentKind {
		keys = append(keys, e.AsIdent())
	}
	return keys
}

// orEmpty returns x for x.orValue({}) and x.orValue([]), and any other expression unchanged. An
// element of such an expression is always an element of x.
func orEmpty(e ast.Expr) ast.Expr {
	if !isOrValue(e) {
		return e
	}
	otherwise := e.AsCall().Args()[0]
	if otherwise.Kind() == ast.MapKind && otherwise.AsMap().Size() == 0 || otherwise.Kind() == ast.ListKind && otherwise.AsList().Size() == 0 {
		return e.AsCall().Target()
	}
	return e
}

// operandOf returns the operand from which a field or key is selected, or nil.
func operandOf(e ast.Expr) ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand()
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return e.AsCall().Args()[0]
		}
	default:
	}
	return nil
}

// keyOf returns a canonical name for the target of a chain. It is the same for all chains with the
// same target: m.key, m['key'] and the optional forms.
func keyOf(e ast.Expr) (string, bool) {
	e = orEmpty(e)
	if e.Kind() == ast.IdentKind {
		return e.AsIdent(), true
	}
	operand := operandOf(e)
	if operand == nil {
		return "", false
	}
	key, ok := keyOf(operand)
	if !ok {
		return "", false
	}
	if e.Kind() == ast.SelectKind {
		return key + "." + e.AsSelect().FieldName(), true
	}
	return entryOf(key, e.AsCall().Args()[1])
}

// entryOf returns the name of an entry, indexed by a literal or a variable, of the value that a key
// names.
func entryOf(key string, index ast.Expr) (string, bool) {
	switch index.Kind() {
	case ast.IdentKind:
		return key + "[" + index.AsIdent() + "]", true
	case ast.LiteralKind:
		switch name := index.AsLiteral().(type) {
		case types.String:
			return key + "." + string(name), true
		case types.Int:
			return fmt.Sprintf("%s[%d]", key, name), true
		}
	default:
	}
	return "", false
}

// rootOf returns the variable at the start of a key.
func rootOf(key string) string {
	if end := slices.IndexFunc([]byte(key), func(b byte) bool { return b == '.' || b == '[' }); end >= 0 {
		return key[:end]
	}
	return key
}
