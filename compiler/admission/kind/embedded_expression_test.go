package kind

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi"
)

// TestEmbeddedExpressions checks the text of the expressions in a policy.
func TestEmbeddedExpressions(t *testing.T) {
	taskSet := readCRD(t, "taskset.yaml")
	for _, test := range []struct {
		kind               Kind
		path, specs, roots string
	}{
		{mustKind(t, Job), "spec", `object.spec`, `"spec"`},
		{mustKind(t, CronJob), "spec.jobTemplate.spec", `object.spec.jobTemplate.spec`, `"spec.jobTemplate.spec"`},
		{taskSet, "spec.cleanup.spec",
			`object.spec.?cleanup.?spec.hasValue() ? [object.spec.cleanup.spec] : []`,
			`object.spec.?cleanup.?spec.hasValue() ? ["spec.cleanup.spec"] : []`},
		{taskSet, "spec.items[*].template.spec",
			`object.spec.items.transformList(i, e, e.template.spec)`,
			`object.spec.items.transformList(i, e, "spec.items[" + string(i) + "].template.spec")`},
		{taskSet, "spec.tasks[*].template.spec",
			`object.spec.?tasks.orValue([]).transformList(i, e, e.?template.?spec.hasValue(), e.template.spec)`,
			`object.spec.?tasks.orValue([]).transformList(i, e, e.?template.?spec.hasValue(), "spec.tasks[" + string(i) + "].template.spec")`},
		{taskSet, "spec.jobs[*]",
			`optional.ofNonZeroValue(object.spec.?jobs.orValue([])).orValue([]).transformList(i, e, dyn(e) != null, e)`,
			`optional.ofNonZeroValue(object.spec.?jobs.orValue([])).orValue([]).transformList(i, e, dyn(e) != null, "spec.jobs[" + string(i) + "]")`},
		{taskSet, "spec.on-exit",
			`dyn(object.spec)[?"on-exit"].hasValue() ? [dyn(object.spec)["on-exit"]] : []`,
			`dyn(object.spec)[?"on-exit"].hasValue() ? ["spec.on-exit"] : []`},
	} {
		e := embedded(t, test.kind, test.path)
		if diff := cmp.Diff([]string{test.specs, test.roots}, []string{e.Specs(), e.Roots()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
	}
}

// TestEmbeddedExpressionsFindTheSpecs checks that the expressions pass the type checker, and that
// they find the specs in objects in which every part of the path may be missing.
func TestEmbeddedExpressionsFindTheSpecs(t *testing.T) {
	const full = `{"spec": {
		"main": {"spec": {"backoffLimit": 1}},
		"cleanup": {"spec": {"backoffLimit": 2}},
		"on-exit": {"backoffLimit": 3},
		"namespace": {"backoffLimit": 4},
		"later": {"backoffLimit": 5},
		"anything": {"at": {"all": {"backoffLimit": 6}}},
		"whatever": {"there": [{"is": {"backoffLimit": 7}}, {}, {"is": null}, {"is": {"backoffLimit": 8}}, null]},
		"items": [{"name": "a", "template": {"spec": {"backoffLimit": 9}}}, {"name": "b", "template": {"spec": {}}}],
		"tasks": [{"template": {}}, {"template": {"spec": {"backoffLimit": 10}}}, {}],
		"jobs": [null, {"backoffLimit": 11}],
		"byName": {"first": {"backoffLimit": 12}}
	}}`
	const bare = `{"spec": {"main": {"spec": {}}, "items": []}}`
	const nulls = `{"spec": {"main": {"spec": {}}, "items": [], "later": null, "anything": {"at": null}, "whatever": null, "jobs": null}}`
	const none = `[[], []]`
	for _, test := range []struct{ path, full, bare string }{
		{"spec.main.spec", `[{"backoffLimit":1},"spec.main.spec"]`, `[{},"spec.main.spec"]`},
		{"spec.cleanup.spec", `[[{"backoffLimit":2}],["spec.cleanup.spec"]]`, none},
		{"spec.on-exit", `[[{"backoffLimit":3}],["spec.on-exit"]]`, none},
		{"spec.namespace", `[[{"backoffLimit":4}],["spec.namespace"]]`, none},
		{"spec.later", `[[{"backoffLimit":5}],["spec.later"]]`, none},
		{"spec.anything.at.all", `[[{"backoffLimit":6}],["spec.anything.at.all"]]`, none},
		{"spec.whatever.there[*].is", `[[{"backoffLimit":7},{"backoffLimit":8}],["spec.whatever.there[0].is","spec.whatever.there[3].is"]]`, none},
		{"spec.items[*].template.spec", `[[{"backoffLimit":9},{}],["spec.items[0].template.spec","spec.items[1].template.spec"]]`, none},
		{"spec.tasks[*].template.spec", `[[{"backoffLimit":10}],["spec.tasks[1].template.spec"]]`, none},
		{"spec.jobs[*]", `[[{"backoffLimit":11}],["spec.jobs[1]"]]`, none},
		{"spec.byName.first", `[[{"backoffLimit":12}],["spec.byName.first"]]`, none},
	} {
		k := readCRD(t, "taskset.yaml")
		e := embedded(t, k, test.path)
		for object, want := range map[string]string{full: test.full, bare: test.bare, nulls: test.bare} {
			got := []any{evaluate(t, k, e.Specs(), object), evaluate(t, k, e.Roots(), object)}
			if diff := cmp.Diff(decode[any](t, want), decode[any](t, encode(t, got))); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", test.path, object, diff)
			}
		}
	}
}

// evaluate type-checks an expression with the object's type, and evaluates it on an object of
// unknown type, as the API server does.
func evaluate(t *testing.T, k Kind, text, object string) any {
	t.Helper()
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 33))
	declared := common.SchemaDeclType(&openapi.Schema{Schema: k.Schema}, true).MaybeAssignTypeName(k.Kind)
	typed, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("object", declared.CelType())},
		DeclTypes:         []*apiservercel.DeclType{declared},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, issues := typed.NewExpressionsEnv().Compile(text); issues != nil {
		t.Errorf("%s: %v", text, issues)
	}
	env, err := base.NewExpressionsEnv().Extend(cel.Variable("object", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Compile(text)
	if issues != nil {
		t.Fatalf("%s: %v", text, issues)
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(map[string]any{"object": decode[any](t, object)})
	if err != nil {
		t.Errorf("%s of %s: %v", text, object, err)
		return nil
	}
	native, err := value.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		t.Fatal(err)
	}
	return native.(*structpb.Value).AsInterface()
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
