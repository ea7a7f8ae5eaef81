package custom

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
)

// domain is a set of possible values of an operand. The zero domain contains all values.
type domain struct {
	// allowed is the set of possible values; nil allows all.
	allowed map[any]bool
	// excluded is the set of impossible values.
	excluded map[any]bool
	// low and high are the bounds of numbers, if set.
	low, high       int64
	hasLow, hasHigh bool
}

// only removes all values except these.
func (d *domain) only(values ...any) {
	narrowed := map[any]bool{}
	for _, v := range values {
		if d.allowed == nil || d.allowed[v] {
			narrowed[v] = true
		}
	}
	d.allowed = narrowed
}

func (d *domain) never(values ...any) {
	if d.excluded == nil {
		d.excluded = map[any]bool{}
	}
	for _, v := range values {
		d.excluded[v] = true
	}
}

func (d *domain) compare(operator string, n int64) {
	switch operator {
	case operators.Less, operators.LessEquals:
		if operator == operators.Less {
			if n == math.MinInt64 {
				d.only()
				return
			}
			n--
		}
		if !d.hasHigh || n < d.high {
			d.high, d.hasHigh = n, true
		}
	default:
		if operator == operators.Greater {
			if n == math.MaxInt64 {
				d.only()
				return
			}
			n++
		}
		if !d.hasLow || n > d.low {
			d.low, d.hasLow = n, true
		}
	}
}

// maxSpan is the largest range of numbers that empty enumerates.
const maxSpan = 1000

func (d *domain) empty() bool {
	if d.allowed != nil {
		for v := range d.allowed {
			if d.has(v) {
				return false
			}
		}
		return true
	}
	if !d.hasLow || !d.hasHigh {
		return false
	}
	if d.low > d.high {
		return true
	}
	if uint64(d.high)-uint64(d.low) > maxSpan { //nolint:gosec // the difference is right in two's complement
		return false
	}
	for n := d.low; ; n++ {
		if !d.excluded[n] {
			return false
		}
		if n == d.high {
			return true
		}
	}
}

func (d *domain) has(v any) bool {
	n, isNumber := v.(int64)
	return !d.excluded[v] && (!isNumber || (!d.hasLow || n >= d.low) && (!d.hasHigh || n <= d.high))
}

// domain returns the values that an operand can have in any pod, and a description of them.
func (r *reachability) domain(e ast.Expr) (d domain, said string) {
	switch {
	case e.Kind() == ast.IdentKind && e.AsIdent() == compiler.AttemptVariable:
		if _, local := r.locals[compiler.AttemptVariable]; local {
			return domain{}, ""
		}
		return domain{low: 1, hasLow: true}, "1 or more"
	case e.Kind() == ast.CallKind:
		return r.resultDomain(e.AsCall())
	case e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly():
		return domain{}, ""
	}
	operand, name := e.AsSelect().Operand(), e.AsSelect().FieldName()
	switch r.tree.GetType(operand.ID()).TypeName() {
	case cel.ContainerName:
		if r.steady && (name == "restarts" || name == "restartCount") {
			d.only(int64(0))
			return d, "0"
		}
		return containerDomain(name, r.hasFailed(operand))
	case cel.ConditionName:
		if name == "status" {
			return words("True", "False", "Unknown", "")
		}
	case "PodStatus":
		if key, _ := keyOf(e); key == "pod.status.phase" && r.phase != "" {
			if r.phase == v1alpha1.PhaseTerminating {
				return words(string(corev1.PodPending), string(corev1.PodRunning), string(corev1.PodUnknown))
			}
			return words(string(r.phase))
		}
	}
	return domain{}, ""
}

// phasesOf maps pod functions to the phases in which they may return more than 0 or false.
var phasesOf = map[string][]corev1.PodPhase{
	cel.PendingForFunction:     {corev1.PodPending},
	cel.UnschedulableFunction:  {corev1.PodPending, v1alpha1.PhaseTerminating},
	cel.RunningForFunction:     {corev1.PodRunning},
	cel.NotReadyForFunction:    {corev1.PodRunning},
	cel.TerminatingForFunction: {v1alpha1.PhaseTerminating},
}

// resultDomain returns the possible results of a function.
func (r *reachability) resultDomain(call ast.CallExpr) (d domain, said string) {
	phases, known := phasesOf[call.FunctionName()]
	switch {
	case r.steady && call.FunctionName() == cel.RestartsFunction:
		d.only(int64(0))
		return d, "0"
	case !known || r.phase == "" || slices.Contains(phases, r.phase):
		return domain{}, ""
	case call.FunctionName() == cel.UnschedulableFunction:
		d.only(false)
		return d, fmt.Sprintf("false in a pod that is %s", r.phase)
	}
	d.only(int64(0))
	return d, fmt.Sprintf("0 in a pod that is %s", r.phase)
}

// hasFailed reports whether an expression is an element of the failed containers.
func (r *reachability) hasFailed(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return r.locals[e.AsIdent()]
	case ast.CallKind:
		return e.AsCall().FunctionName() == operators.Index && isFailedContainers(e.AsCall().Args()[0])
	default:
		return false
	}
}

func containerDomain(field string, failed bool) (d domain, said string) {
	switch field {
	case "kind":
		if failed {
			return words(string(cel.KindContainer), string(cel.KindInit))
		}
		return words(string(cel.KindContainer), string(cel.KindInit), string(cel.KindSidecar))
	case "state":
		if failed {
			return words(cel.StateTerminated)
		}
		return words(cel.StateWaiting, cel.StateRunning, cel.StateTerminated)
	case "exitCode":
		if failed {
			return domain{excluded: map[any]bool{int64(0): true}}, "not 0 in a failed container"
		}
	case "signal", "restarts", "restartCount":
		return domain{low: 0, hasLow: true}, "0 or more"
	case "signalName":
		d, _ := words(append(cel.SignalNames(), "")...)
		return d, "a name of Linux, as 'SIGKILL'"
	}
	return domain{}, ""
}

func words(values ...string) (d domain, said string) {
	texts := make([]string, len(values))
	all := make([]any, len(values))
	for i, v := range values {
		texts[i], all[i] = fmt.Sprintf("'%s'", v), v
	}
	d.only(all...)
	if last := len(texts) - 1; last > 0 {
		return d, strings.Join(texts[:last], ", ") + " or " + texts[last]
	}
	return d, texts[0]
}
