package runtime

import (
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/parser"

	"github.com/podverdict/podverdict/compiler/cel"
)

// maxShown is the maximum number of list elements that are shown.
const maxShown = 8

// show returns a value as CEL if CEL has a literal for it.
func show(v ref.Val) string {
	switch v := v.(type) {
	case types.Timestamp:
		return fmt.Sprintf("timestamp('%v')", v.ConvertToType(types.StringType).Value())
	case types.Duration:
		return fmt.Sprintf("duration('%v')", v.Duration)
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Sprintf("double('%v')", f)
		}
	case *types.Optional:
		if !v.HasValue() {
			return "optional.none()"
		}
		return "optional.of(" + show(v.GetValue()) + ")"
	case traits.Mapper:
		return fmt.Sprintf("a map of %v", v.Size().Value())
	case traits.Lister:
		return showList(v)
	}
	if c, ok := v.Value().(cel.Container); ok {
		return "container " + c.Status.Name
	}
	if !types.IsPrimitiveType(v) {
		return v.Type().TypeName()
	}
	text, err := parser.Unparse(ast.NewExprFactory().NewLiteral(0, v), ast.NewSourceInfo(nil))
	if err != nil {
		return fmt.Sprint(v.Value())
	}
	return text
}

func showList(list traits.Lister) string {
	var elements []string
	n, _ := list.Size().(types.Int)
	for i := types.Int(0); i < min(n, maxShown); i++ {
		elements = append(elements, show(list.Get(i)))
	}
	if n > maxShown {
		elements = append(elements, fmt.Sprintf("%d more", n-maxShown))
	}
	return "[" + strings.Join(elements, ", ") + "]"
}
