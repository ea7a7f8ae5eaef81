package custom

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/didyoumean"
)

// words returns findings about literals that a Pod's status almost never contains: words similar to those that Kubernetes uses,
// and exit codes that no process has.
func (p place) words(tree *ast.AST) []compiler.Finding {
	w := wording{place: p, tree: tree}
	visitCalls(tree.Expr(), func(_ ast.Expr, call ast.CallExpr) { w.call(call) })
	return w.findings
}

// wording collects findings about the literals in an expression's comparisons.
type wording struct {
	place    place
	tree     *ast.AST
	findings []compiler.Finding
}

func (w *wording) call(call ast.CallExpr) {
	switch args := call.Args(); {
	case call.FunctionName() == cel.HasConditionFunction && len(args) > 0 && w.tree.GetType(call.Target().ID()).TypeName() == "Pod":
		w.compare(args[0], compiler.ConditionTypes)
	case call.FunctionName() == operators.In && args[1].Kind() != ast.ListKind:
		w.compare(args[0], w.known(args[1])) // 'ImagePullBackOff' in pod.waitingReasons()
	}
	comparisons(call, func(operand, value ast.Expr) {
		w.compare(value, w.known(operand))
		w.exitCode(operand, value)
	})
}

// comparisons calls see for both sides of == and !=, and for each element of a literal list on the right of in.
func comparisons(call ast.CallExpr, see func(operand, value ast.Expr)) {
	switch args := call.Args(); call.FunctionName() {
	case operators.Equals, operators.NotEquals:
		see(args[0], args[1])
		see(args[1], args[0])
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			for _, element := range args[1].AsList().Elements() {
				see(args[0], element)
			}
		}
	}
}

// withoutDefault returns the target of an orValue call, or the node itself.
func withoutDefault(e ast.Expr) ast.Expr {
	if isOrValue(e) {
		return e.AsCall().Target()
	}
	return e
}

// known returns the words that Kubernetes writes into a field, or nil.
func (w *wording) known(e ast.Expr) []string {
	e = withoutDefault(e)
	if isCall(e, cel.WaitingReasonsFunction) {
		return compiler.ContainerReasons
	}
	field := fieldOf(e)
	if field != "reason" && field != "type" && field != waitingReason {
		return nil
	}
	switch owner := w.owner(e); owner + "." + field {
	case cel.ContainerName + ".reason", cel.ContainerName + "." + waitingReason, "ContainerStateTerminated.reason", "ContainerStateWaiting.reason":
		return compiler.ContainerReasons
	case cel.AttemptName + ".reason":
		return slices.Concat(compiler.ContainerReasons, compiler.PodReasons, compiler.ConditionReasons)
	case cel.ConditionName + ".reason", "PodCondition.reason":
		return compiler.ConditionReasons
	case cel.ConditionName + ".type", "PodCondition.type":
		return compiler.ConditionTypes
	case "PodStatus.reason":
		return compiler.PodReasons
	}
	return nil
}

// owner returns the type of the object from which a field is selected.
func (w *wording) owner(e ast.Expr) string {
	operand := operandOf(e)
	if operand == nil {
		return ""
	}
	return objectOf(w.tree.GetType(operand.ID())).TypeName()
}

func (w *wording) compare(e ast.Expr, known []string) {
	if e.Kind() != ast.LiteralKind || known == nil {
		return
	}
	word, ok := e.AsLiteral().(types.String)
	if meant := compiler.Misspelt(string(word), known); ok && word != "" && meant != "" {
		w.report(compiler.CheckMisspelt, e, fmt.Sprintf("Kubernetes writes no %q there", string(word)), didyoumean.DidYouMean(meant))
		w.findings[len(w.findings)-1].Instead = instead(w.tree, e, strconv.Quote(meant))
	}
}

func (w *wording) exitCode(field, e ast.Expr) {
	if fieldOf(withoutDefault(field)) != "exitCode" || e.Kind() != ast.LiteralKind {
		return
	}
	if code, ok := e.AsLiteral().(types.Int); ok && (code < 0 || code > compiler.MaxExitCode) {
		w.report(compiler.CheckExitCode, e, fmt.Sprintf("no process on Linux exits with %d: exit codes are from 0 to %d", code, compiler.MaxExitCode), "")
	}
}

func (w *wording) report(check string, e ast.Expr, message, advice string) {
	w.findings = append(w.findings, w.place.warning(check, w.place.locate(w.tree, e), message, advice))
}

const waitingReason = "waitingReason"

// waiting returns findings for rules on failed Pods that use properties only waiting Pods have.
func (p place) waiting(tree *ast.AST, phase corev1.PodPhase) (found []compiler.Finding) {
	if phase != corev1.PodFailed {
		return nil
	}
	w := wording{place: p, tree: tree}
	Visit(tree.Expr(), nil, func(e ast.Expr, _ []string) {
		name, phases := waitingReason, "Pending or Running"
		switch {
		case isCall(e, cel.UnschedulableFunction):
			name, phases = cel.UnschedulableFunction+"()", "Pending"
		case isCall(e, cel.WaitingReasonsFunction):
			name = cel.WaitingReasonsFunction + "()"
		case fieldOf(e) == waitingReason && w.owner(e) == cel.ContainerName:
		default:
			return
		}
		found = append(found, p.warning(CheckWaiting, p.locate(tree, e),
			name+" is about Pods that wait, and the rule is asked when a Pod has failed", "set phase: "+phases+" in the rule"))
	})
	return found
}

// Literal is a text in an expression, and its position.
type Literal struct {
	Text         string
	Line, Column int
}

// Attempts returns the numbers that an expression compares or combines with the attempt.
func (x *Expression) Attempts() []int64 {
	_, tree, err := x.Check()
	if err != nil {
		return nil
	}
	var found []int64
	visitCalls(tree.Expr(), func(e ast.Expr, call ast.CallExpr) {
		for _, arg := range call.Args() {
			value, _ := plain(arg)
			if n, isNumber := value.(int64); isNumber && mentions(e, compiler.AttemptVariable) {
				found = append(found, n)
			}
		}
	})
	return found
}

func mentions(e ast.Expr, name string) (found bool) {
	Visit(e, nil, func(e ast.Expr, _ []string) { found = found || e.Kind() == ast.IdentKind && e.AsIdent() == name })
	return found
}

// ContainerNames returns the literals with which an expression compares container names.
func (x *Expression) ContainerNames() []Literal {
	_, tree, err := x.Check()
	if err != nil {
		return nil
	}
	var found []Literal
	w := wording{place: place{text: x.Text}, tree: tree}
	visitCalls(tree.Expr(), func(_ ast.Expr, call ast.CallExpr) {
		if call.FunctionName() == operators.NotEquals {
			return
		}
		comparisons(call, func(field, value ast.Expr) {
			if fieldOf(field) != "name" || w.owner(field) != cel.ContainerName || value.Kind() != ast.LiteralKind {
				return
			}
			if text, ok := value.AsLiteral().(types.String); ok {
				at := w.place.locate(tree, value)
				found = append(found, Literal{string(text), at.Line(), at.Column() + 1})
			}
		})
	})
	return found
}
