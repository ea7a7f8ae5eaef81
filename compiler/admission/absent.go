package admission

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// AbsentMaps returns the labels and annotations fields that an admission expression reads without first testing that they
// exist, as in object.metadata.labels. Reading such a field fails on an object that lacks it. AbsentMaps returns nil for text
// that is not valid CEL.
func AbsentMaps(text string) []string {
	tree, err := syntaxTree(text)
	if err != nil {
		return nil
	}
	var asked, used []string
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if e.AsSelect().IsTestOnly() {
				asked = append(asked, fieldPath(e))
			}
			used = append(used, fieldPath(e.AsSelect().Operand()))
		case ast.CallKind:
			switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
			case operators.Index:
				used = append(used, fieldPath(args[0]))
			case operators.In:
				used = append(used, fieldPath(args[1]))
			}
		default:
		}
	}))
	used = slices.DeleteFunc(used, func(path string) bool {
		object := strings.HasPrefix(path, "object.") || strings.HasPrefix(path, "oldObject.")
		isMap := strings.HasSuffix(path, ".metadata.labels") || strings.HasSuffix(path, ".metadata.annotations")
		return !object || !isMap || slices.Contains(asked, path)
	})
	slices.Sort(used)
	return slices.Compact(used)
}

// fieldPath returns a chain of fields in source form, or "" for any other expression.
func fieldPath(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if before := fieldPath(e.AsSelect().Operand()); before != "" {
			return before + "." + e.AsSelect().FieldName()
		}
	default:
	}
	return ""
}
