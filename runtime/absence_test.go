package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podverdict/podverdict/compiler"
	rulecel "github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
)

// TestAbsentFieldsAreThoseOfTheAPIServer checks that the schema's fields and their absence equal
// what the API server's CEL sees of the same objects, which it converts to maps. It evaluates
// questions about all kinds of fields on objects with random content, with the fast path and with
// the interpreter.
func TestAbsentFieldsAreThoseOfTheAPIServer(t *testing.T) {
	env := newEnvironment(t)
	reference := newReference(t)
	answers := map[string]int{}
	for seed := range uint64(draws(60, 12)) {
		r := rand.New(rand.NewPCG(seed, 2))
		asker := &asker{Rand: r, schema: env.Schema}
		pod, job := randomPod(r), randomObject[batchv1.Job](r)
		activation := reference.activation(t, pod, job)
		in := runtime.Input{Pod: pod, Job: job, Attempt: 1}
		for range 20 {
			question := asker.question()
			policy, err := newPolicy(env, rules(question))
			if err != nil {
				if strings.Contains(err.Error(), "("+custom.CheckCost+")") {
					continue // too deeply nested lists
				}
				t.Fatal(err)
			}
			want := reference.answer(t, question, activation)
			for name, p := range map[string]*runtime.Policy{"fast path": policy, "interpreter": policy.Interpreted()} {
				m, err := p.Evaluate(t.Context(), in)
				if got := answer(m, err); got != want {
					t.Fatalf("seed %d: %s\n%s: got %s, want %s", seed, question, name, got, want)
				}
			}
			answers[strings.SplitN(want, ":", 2)[0]]++
		}
	}
	t.Log(answers)
	for _, kind := range []string{"true", "false", "error"} {
		if answers[kind] < draws(40, 1) {
			t.Errorf("%d answers are %s: the questions are too much alike", answers[kind], kind)
		}
	}
}

func answer(m runtime.Match, err error) string {
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return "error: " + reason
	}
	return fmt.Sprint(m.Rule == 0)
}

// reference is the API server's environment over objects converted to maps, as in
// ValidatingAdmissionPolicy.
type reference struct{ *cel.Env }

func newReference(tb testing.TB) reference {
	tb.Helper()
	base := environment.MustBaseEnvSet(version.MustParseGeneric(compiler.DefaultVersion)).NewExpressionsEnv()
	env, err := base.Extend(cel.Variable("pod", types.DynType), cel.Variable("job", types.DynType))
	if err != nil {
		tb.Fatal(err)
	}
	return reference{env}
}

func (r reference) activation(tb testing.TB, pod *corev1.Pod, job *batchv1.Job) map[string]any {
	tb.Helper()
	pod, job = pod.DeepCopy(), job.DeepCopy()
	pod.APIVersion, pod.Kind = "v1", "Pod"
	job.APIVersion, job.Kind = "batch/v1", "Job"
	return map[string]any{"pod": converted(tb, pod), "job": converted(tb, job)}
}

func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if field == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNulls(field)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return value
}

func (r reference) answer(tb testing.TB, expression string, activation map[string]any) string {
	tb.Helper()
	checked, issues := r.Compile(expression)
	if issues.Err() != nil {
		tb.Fatal(issues.Err())
	}
	program, err := r.Program(checked)
	if err != nil {
		tb.Fatal(err)
	}
	value, _, err := program.Eval(activation)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(value.Value())
}

// asker generates questions about fields of the schema.
type asker struct {
	*rand.Rand

	schema *rulecel.Schema
}

// question descends from a root to a field and tests something about it. Questions can be joined,
// to include errors that do not affect the result.
func (a *asker) question() string {
	switch a.IntN(5) {
	case 0:
		return "(" + a.simple() + " && " + a.simple() + ")"
	case 1:
		return "(" + a.simple() + " || !(" + a.simple() + "))"
	default:
		return a.simple()
	}
}

func (a *asker) simple() string {
	if a.IntN(2) == 0 {
		return a.ask("pod", a.schema.Pod, 6)
	}
	return a.ask("job", a.schema.Job, 6)
}

func (a *asker) ask(path string, t *rulecel.Type, depth int) string {
	field := pick(a.Rand, t.Fields)
	next := path + "." + field.Name
	if a.IntN(8) == 0 {
		return "has(" + next + ")"
	}
	if a.IntN(5) == 0 { // nothing fails from here on
		next = path + ".?" + field.Name
	}
	return a.end(next, field.Type, depth)
}

func (a *asker) end(path string, t *types.Type, depth int) string {
	optional := strings.Contains(path, ".?")
	switch t.Kind() {
	case types.StructKind:
		if typ, ok := a.schema.Type(t.TypeName()); ok && depth > 0 && len(typ.Fields) > 0 {
			return a.ask(path, typ, depth-1)
		}
	case types.ListKind:
		if optional {
			path += ".orValue([])"
		}
		return a.list(path, t.Parameters()[0], depth)
	case types.StringKind:
		if optional {
			path += ".orValue('none')"
		}
		return path + " == '" + pick(a.Rand, fillStrings) + "'"
	case types.IntKind:
		if optional {
			path += ".orValue(-1)"
		}
		return fmt.Sprintf("%s > %d", path, pick(a.Rand, fillNumbers))
	case types.BoolKind:
		if optional {
			return path + ".orValue(true)"
		}
		return path
	case types.MapKind:
		if optional {
			return path + "[?'main'].hasValue()"
		}
		return pick(a.Rand, []string{"has(" + path + ".main)", "'a' in " + path, path + "['a'] == 'b'", path + ".size() > 1", path + ".all(k, k != 'a')"})
	case types.DynKind:
		if optional {
			path += ".orValue(5)"
		}
		return path + pick(a.Rand, []string{" == 137", " == 'main'"})
	default: // times and durations
	}
	if optional {
		return path + ".hasValue()"
	}
	return path + " == " + path
}

func (a *asker) list(path string, element *types.Type, depth int) string {
	typ, ok := a.schema.Type(element.TypeName())
	if a.IntN(3) == 0 || !ok || depth == 0 {
		return path + ".size() > 1"
	}
	name := fmt.Sprintf("x%d", depth)
	return fmt.Sprintf("%s.%s(%s, %s)", path, pick(a.Rand, []string{"exists", "all", "exists_one"}), name, a.ask(name, typ, depth-1))
}
