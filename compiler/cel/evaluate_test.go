package cel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	googlecel "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/cel"
)

// environment returns an environment with the types, functions and variables of rules, and without the
// API server's libraries.
func environment() (*googlecel.Env, error) {
	s := cel.Load()
	base, err := googlecel.NewEnv(googlecel.OptionalTypes())
	if err != nil {
		return nil, err
	}
	return base.Extend(append(cel.Options(s.Pod.CEL, s.Job.CEL, s.Node.CEL),
		googlecel.CustomTypeProvider(s.Provider(base.CELTypeProvider())), googlecel.CustomTypeAdapter(s.Adapter(base.CELTypeAdapter())),
		googlecel.Variable("pod", s.Pod.CEL), googlecel.Variable("job", s.Job.CEL),
		googlecel.Variable("node", types.NewOptionalType(s.Node.CEL)), googlecel.Variable("now", types.TimestampType))...)
}

// now is the time of evaluation.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// on returns the variables of a Pod on a Node. A nil Node is absent.
func on(pod *corev1.Pod, node *corev1.Node) map[string]any {
	optional := types.OptionalNone
	if value, ok := cel.Load().Value(node); ok && node != nil {
		optional = types.OptionalOf(value)
	}
	return map[string]any{"pod": pod, "node": optional, "now": now}
}

// evaluate returns the value of an expression, or its error, as text.
func evaluate(t *testing.T, expression string, variables map[string]any) string {
	t.Helper()
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	checked, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(checked)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(variables)
	if err != nil {
		return err.Error()
	}
	list, ok := value.Value().([]ref.Val)
	if !ok {
		return fmt.Sprint(value.Value())
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v.Value())
	}
	return strings.Join(texts, " ")
}
