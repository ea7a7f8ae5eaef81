package custom

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	rulecel "github.com/podverdict/podverdict/compiler/cel"
)

// bounds estimates the sizes of values that are not literals in the expression.
type bounds struct {
	// variables are the sizes of the policy's variables and their contents, keyed by their paths.
	variables map[string]checker.SizeEstimate
}

func (bounds) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func (b bounds) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	if size, ok := b.variables[strings.Join(node.Path(), " ")]; ok {
		return &size
	}
	t := node.Type()
	if isOptional(t) {
		t = t.Parameters()[0]
	}
	size := sizeOfType(t, lastName(node))
	if e := node.Expr(); size != nil && isOrValue(e) {
		size.Max = max(size.Max, b.variable(e.AsCall().Target()), b.variable(e.AsCall().Args()[0]))
		if t.Kind() == types.StringKind { // the default of a name may be longer than a name
			size.Max = max(size.Max, MaxText)
		}
	}
	return size
}

// variable returns the size of a variable, or 0 for any other expression.
func (b bounds) variable(e ast.Expr) uint64 {
	if e.Kind() != ast.IdentKind {
		return 0
	}
	return b.variables[e.AsIdent()].Max
}

func sizeOfType(t *types.Type, name string) *checker.SizeEstimate {
	switch t.Kind() {
	case types.ListKind:
		switch e := t.Parameters()[0]; {
		case e.Kind() == types.StructKind && containerTypes[e.TypeName()]:
			return &checker.SizeEstimate{Max: MaxContainers}
		case e.TypeName() == rulecel.AttemptName:
			return &checker.SizeEstimate{Max: rulecel.MaxAttempts}
		}
		return &checker.SizeEstimate{Max: MaxEntries}
	case types.MapKind:
		return &checker.SizeEstimate{Max: MaxEntries}
	case types.StringKind:
		return &checker.SizeEstimate{Max: textSize(name)}
	case types.BytesKind, types.DynKind, types.AnyKind:
		return &checker.SizeEstimate{Max: MaxText}
	case types.StructKind: // CEL needs this size to compare two structs
		return &checker.SizeEstimate{Max: MaxEntries}
	default:
		return nil
	}
}

var containerTypes = map[string]bool{
	rulecel.ContainerName: true, "Container": true, "ContainerStatus": true, "EphemeralContainer": true,
}

func textSize(name string) uint64 {
	switch name {
	case "name", "namespace", "uid", "nodeName", "hostname", "subdomain", "serviceAccountName", "labels", "generateName",
		"node", "policy", "rule":
		return MaxName
	case "phase", "status", "kind", "state", "signalName", "reason", "restartPolicy", "apiVersion":
		return MaxWord
	case "annotations":
		return MaxAnnotation
	default:
		return MaxText
	}
}

// lastName returns the field that a node selects, or the field of which the node is a key or
// element.
func lastName(node checker.AstNode) string {
	if name := selected(node.Expr()); name != "" {
		return name
	}
	path := node.Path()
	for len(path) > 1 && (path[len(path)-1] == pathItems || path[len(path)-1] == pathValues) {
		path = path[:len(path)-1]
	}
	if len(path) > 0 {
		return path[len(path)-1]
	}
	return ""
}

// selected returns the last field of a selection, possibly through an optional, or an empty string.
func selected(e ast.Expr) string {
	switch {
	case e == nil:
	case isCall(e, operators.Index) || isCall(e, operators.OptIndex):
		return selected(e.AsCall().Args()[0])
	case isOrValue(e) || isCall(e, "value") && e.AsCall().IsMemberFunction():
		return selected(e.AsCall().Target())
	default:
		return fieldOf(e)
	}
	return ""
}

func isOrValue(e ast.Expr) bool {
	return e != nil && isCall(e, "orValue") && e.AsCall().IsMemberFunction()
}

// Names in CEL's paths for the elements of a list and the values of a map.
const (
	pathItems  = "@items"
	pathValues = "@values"
)

// measure records the maximum size of a variable and its contents, for the expressions that use it.
func (c *compilation) measure(path, text string, env *cel.Env, t *types.Type) {
	text = "(" + text + "\n)"
	switch t.Kind() {
	case types.StringKind, types.BytesKind, types.DynKind:
	case types.ListKind:
		c.measure(path+" "+pathItems, text+"[0]", env, t.Parameters()[0])
	case types.MapKind:
		c.measure(path+" "+pathValues, text+"['']", env, t.Parameters()[1])
	default:
		if isOptional(t) {
			c.measure(path, text+".value()", env, t.Parameters()[0])
		}
		return
	}
	checked, issues := env.Compile("size" + text)
	if issues.Err() != nil {
		return
	}
	m := &measuring{costEstimator: newCostEstimator(c.sizes)}
	if _, err := env.EstimateCost(checked, m); err == nil && m.size != nil {
		c.sizes[path] = *m.size
	}
}

// measuring records the size of the argument of the outermost call of size(), which is estimated
// last.
type measuring struct {
	*costEstimator

	size *checker.SizeEstimate
}

func (m *measuring) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if function == "size" && len(args) == 1 {
		m.size = args[0].ComputedSize()
	}
	return m.costEstimator.EstimateCallCost(function, overload, target, args)
}
