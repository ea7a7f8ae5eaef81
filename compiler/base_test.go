package compiler

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// bases calls test with the environment of each version and the API server's own.
func bases(t *testing.T, test func(t *testing.T, ours, theirs *cel.Env)) {
	t.Helper()
	for v := kubeversion.First; !v.GreaterThan(kubeversion.Last); v = version.MajorMinor(v.Major(), v.Minor()+1) {
		t.Run(v.String(), func(t *testing.T) {
			ours, err := newBase(v)
			if err != nil {
				t.Fatal(err)
			}
			test(t, ours, environment.MustBaseEnvSet(v).NewExpressionsEnv())
		})
	}
}

// TestBaseIsTheAPIServersEnvironment compares whole environments: functions with their overloads, bindings and documentation,
// macros, types, libraries, validators, features, limits and options.
func TestBaseIsTheAPIServersEnvironment(t *testing.T) {
	bases(t, func(t *testing.T, ours, theirs *cel.Env) {
		t.Helper()
		for _, env := range []*cel.Env{ours, theirs} {
			compileText(t, env, "1 < 2") // creates the checker
		}
		if where := difference("env", reflect.ValueOf(ours), reflect.ValueOf(theirs), map[[2]unsafe.Pointer]bool{}); where != "" {
			t.Error(where)
		}
	})
}

// TestBaseEvaluatesAsTheAPIServer compares values, costs and the cost limit of expressions, because program options are functions
// that hide their settings.
func TestBaseEvaluatesAsTheAPIServer(t *testing.T) {
	numbers := "[1,2,3,4,5,6,7,8,9,10]"
	all := "true"
	for range 6 {
		all = numbers + ".all(x, " + all + ")"
	}
	expressions := []string{
		`has({"a": 1}.a) && "abc".matches("a.c")`, `url("https://a.b/c").getHost()`, `quantity("1Gi").isGreaterThan(quantity("1M"))`,
		`[3, 1].isSorted() || [1, 2].sum() == 3`, `"a,b".split(",").size()`, `duration("1h") < duration("61m")`, `"x".find("[a-z]")`,
		`timestamp("2026-01-01T00:00:00Z").getHours()`, all,
	}
	bases(t, func(t *testing.T, ours, theirs *cel.Env) {
		t.Helper()
		for _, text := range expressions {
			if got, want := evaluated(t, ours, text), evaluated(t, theirs, text); got != want {
				t.Errorf("%.60s: %s, the API server says %s", text, got, want)
			}
		}
	})
}

func compileText(t *testing.T, env *cel.Env, text string) *cel.Ast {
	t.Helper()
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	return checked
}

// evaluated returns the value of an expression, its cost or its error, and the estimate of its cost.
func evaluated(t *testing.T, env *cel.Env, text string) string {
	t.Helper()
	checked := compileText(t, env, text)
	program, err := env.Program(checked)
	if err != nil {
		t.Fatal(err)
	}
	estimate, err := env.EstimateCost(checked, costs)
	if err != nil {
		t.Fatal(err)
	}
	value, details, err := program.Eval(cel.NoVars())
	return fmt.Sprint(value, *details.ActualCost(), err, estimate)
}

// difference returns the path at which two values of one type differ, including unexported contents, or "". Functions are equal if
// they are defined in the same place.
func difference(path string, a, b reflect.Value, seen map[[2]unsafe.Pointer]bool) string {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return path + ": types"
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		pair := [2]unsafe.Pointer{a.UnsafePointer(), b.UnsafePointer()}
		if a.IsNil() != b.IsNil() {
			return path + ": nil"
		}
		if a.Kind() != reflect.Pointer && a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d elements", path, a.Len(), b.Len())
		}
		if pair[0] == pair[1] || a.Kind() != reflect.Slice && seen[pair] {
			return ""
		}
		seen[pair] = true
	case reflect.Func:
		if x, y := source(a), source(b); x != y {
			return fmt.Sprintf("%s: %s and %s", path, x, y)
		}
		return ""
	default:
	}
	return differenceWithin(path, a, b, seen)
}

// source returns the place where a function is defined. An inlined function has a different code pointer.
func source(function reflect.Value) string {
	if function.IsNil() {
		return "nil"
	}
	file, line := runtime.FuncForPC(function.Pointer()).FileLine(function.Pointer())
	return fmt.Sprintf("%s:%d", file, line)
}

func differenceWithin(path string, a, b reflect.Value, seen map[[2]unsafe.Pointer]bool) (where string) {
	switch a.Kind() {
	case reflect.Invalid:
	case reflect.Pointer, reflect.Interface:
		return difference(path, a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		for i := 0; i < a.NumField() && where == ""; i++ {
			name := a.Type().Field(i).Name
			if a.Type() == reflect.TypeFor[cel.Env]() && (name == "functionBindings" || name == "funcBindOnce") {
				continue // built from functions, in any order, when a program is created
			}
			where = difference(path+"."+name, a.Field(i), b.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < a.Len() && where == ""; i++ {
			where = difference(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i), seen)
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			if where = difference(fmt.Sprintf("%s[%v]", path, key), a.MapIndex(key), b.MapIndex(key), seen); where != "" {
				break
			}
		}
	case reflect.UnsafePointer, reflect.Chan:
	default:
		if !a.Equal(b) {
			return fmt.Sprintf("%s: %v and %v", path, a, b)
		}
	}
	return where
}
