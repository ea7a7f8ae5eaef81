package compiler

import (
	"os"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// The text of a rule has the same meaning wherever it is used in the API server, where objects have
// type dyn: over plain maps, as in a validating admission policy, and over values that know their
// OpenAPI schema.

// platform is how a part of the API server passes an object to CEL.
type platform struct {
	name string
	pod  func(form map[string]any) any
}

func TestTextIsPortable(t *testing.T) {
	schema := podSchema(t)
	platforms := []platform{
		{"map", func(form map[string]any) any { return form }},
		{"schema", func(form map[string]any) any { return openapi.UnstructuredToVal(form, schema) }},
	}
	for _, v := range supportedVersions() {
		t.Run(v, func(t *testing.T) {
			env := newEnvironment(t, v)
			untyped := extend(t, expressions(v), cel.Variable(PodVariable, cel.DynType))
			rapid.Check(t, func(t *rapid.T) {
				rule := compileMatch(t, env, Matches.Draw(t, "match"))
				text, err := rule.Source()
				if err != nil {
					t.Fatal(err)
				}
				ours, theirs := program(t, env.FailedRules, rule), portable(t, untyped, text)
				pods := rapid.SliceOfN(Pods, 1, 4).Draw(t, "pods")
				for _, p := range platforms {
					p.agrees(t, text, ours, theirs, pods)
				}
			})
		})
	}
}

// portable returns a program of a text in another environment.
func portable(t *rapid.T, env *cel.Env, text string) cel.Program {
	t.Helper()
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatalf("%s\n%v", text, issues.Err())
	}
	if checked.OutputType() != cel.BoolType {
		t.Fatalf("%s is a %s", text, checked.OutputType())
	}
	p, err := env.Program(checked)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return p
}

func (p platform) agrees(t *rapid.T, text string, ours, theirs cel.Program, pods []*corev1.Pod) {
	t.Helper()
	for _, pod := range pods {
		want := evaluate(t, ours, pod)
		form, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []map[string]any{form, withoutEmpty(form)} {
			if got := evaluate(t, theirs, p.pod(form)); got != want {
				t.Fatalf("%s: %s\nis %v over %v, %v over the typed pod", p.name, text, got, form, want)
			}
		}
	}
}

func evaluate(t *rapid.T, p cel.Program, pod any) ref.Val {
	t.Helper()
	value, _, err := p.Eval(map[string]any{PodVariable: pod})
	if err != nil {
		t.Fatalf("%v over %v", err, pod)
	}
	return value
}

// TestSchemaTypesSuit type-checks expressions with the schema that the API server uses for custom
// resources and for warnings about admission policies. In it, the elements of the two container
// lists have two different types.
func TestSchemaTypesSuit(t *testing.T) {
	declared := openapi.SchemaDeclType(podSchema(t), true).MaybeAssignTypeName("io.k8s.api.core.v1.Pod")
	base := expressions(DefaultVersion)
	options, err := apiservercel.NewDeclTypeProvider(declared).EnvOptions(base.CELTypeProvider())
	if err != nil {
		t.Fatal(err)
	}
	typed := extend(t, base, append(options, cel.Variable(PodVariable, declared.CelType()))...)
	env := newEnvironment(t, DefaultVersion)
	rapid.Check(t, func(t *rapid.T) {
		text, err := compileMatch(t, env, Matches.Draw(t, "match")).Source()
		if err != nil {
			t.Fatal(err)
		}
		if _, issues := typed.Compile(text); issues.Err() != nil {
			t.Fatalf("%s\n%v", text, issues.Err())
		}
	})
}

func extend(t *testing.T, base *cel.Env, options ...cel.EnvOption) *cel.Env {
	t.Helper()
	env, err := base.Extend(options...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func expressions(kubernetes string) *cel.Env {
	return environment.MustBaseEnvSet(version.MustParseGeneric(kubernetes)).NewExpressionsEnv()
}

func podSchema(t *testing.T) *spec.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/pod.openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var schema spec.Schema
	if err := yaml.UnmarshalStrict(text, &schema); err != nil {
		t.Fatal(err)
	}
	return &schema
}

// withoutEmpty returns the form that a client may send: no status: {}, no state: {}.
func withoutEmpty(form map[string]any) map[string]any {
	kept := map[string]any{}
	for name, value := range form {
		if value := pruned(value); value != nil {
			kept[name] = value
		}
	}
	return kept
}

func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if kept := withoutEmpty(value); len(kept) > 0 {
			return kept
		}
		return nil
	case []any:
		kept := make([]any, len(value))
		for i, v := range value {
			kept[i] = withoutEmpty(v.(map[string]any))
		}
		return kept
	default:
		return value
	}
}

func program(t rapid.TB, env *cel.Env, r CompiledRule) cel.Program {
	t.Helper()
	p, err := env.PlanProgram(r.AST)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCostsStayWithinTheEstimate checks that the static cost holds for every pod within the bounds:
// the API server never counts more during evaluation. The minimum is not guaranteed, because
// optional selections that end early count less than cel-go estimates.
func TestCostsStayWithinTheEstimate(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	large := largePod()
	rapid.Check(t, func(t *rapid.T) {
		rule := compileMatch(t, env, Matches.Draw(t, "match"))
		p := program(t, env.FailedRules, rule)
		for _, pod := range []*corev1.Pod{Pods.Draw(t, "pod"), {}, large} {
			_, details, err := p.Eval(map[string]any{PodVariable: pod})
			if err != nil {
				t.Fatal(err)
			}
			if cost := details.ActualCost(); *cost > rule.Cost {
				t.Fatalf("costs %d, at most %d were estimated", *cost, rule.Cost)
			}
		}
	})
}

// largePod returns a pod of the maximum size within the bounds that satisfies no rule.
func largePod() *corev1.Pod {
	pod := &corev1.Pod{}
	for range MaxContainers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name:  "longest-legal-name-of-a-container-is-a-label-of-63-characters--x",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 77}},
		})
	}
	pod.Status.InitContainerStatuses = pod.Status.ContainerStatuses
	for range MaxConditions {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: "example.com/some-condition-that-nobody-asks-for-in-any-policy-of-all", Status: corev1.ConditionTrue,
		})
	}
	return pod
}
