package admission_test

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	admissionpolicies "github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// mutatingServer mutates objects as the API server's MutatingAdmissionPolicy plugin does, with the server's own packages.
// It evaluates conditions, and then applies each mutation to the result of the preceding one, with defaulting after each.
type mutatingServer struct {
	kind      kind.Kind
	compiler  *plugincel.CompositedCompiler
	matcher   matchconditions.Matcher
	mutations []patch.Patcher
	types     managedfields.TypeConverter
}

func newMutatingServer(t testing.TB, k kind.Kind, m *admissionpolicies.Mutation) *mutatingServer {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	s := &mutatingServer{kind: k, compiler: compiler, types: applyconfigurations.NewTypeConverter(scheme.Scheme)}
	options := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range m.Policy.Spec.Variables {
		s.compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.StoredExpressions)
	}
	var conditions []plugincel.ExpressionAccessor
	for i := range m.Policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&m.Policy.Spec.MatchConditions[i]))
	}
	s.matcher = matchconditions.NewMatcher(s.compiler.CompileCondition(conditions, options, environment.StoredExpressions),
		m.Policy.Spec.FailurePolicy, "policy", "validate", m.Policy.Name)
	options.HasPatchTypes = true
	for _, mutation := range m.Policy.Spec.Mutations {
		s.mutations = append(s.mutations, s.patcher(mutation, options))
	}
	return s
}

func (s *mutatingServer) patcher(m admissionregistrationv1.Mutation, options plugincel.OptionalVariableDeclarations) patch.Patcher {
	if m.PatchType == admissionregistrationv1.PatchTypeJSONPatch {
		return patch.NewJSONPatcher(s.compiler.CompileMutatingEvaluator(
			&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, options, environment.StoredExpressions))
	}
	return patch.NewApplyConfigurationPatcher(s.compiler.CompileMutatingEvaluator(
		&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, options, environment.StoredExpressions))
}

// admit returns the object after the policy, and reports whether the policy matched it.
func (s *mutatingServer) admit(t testing.TB, object runtime.Object) (admitted runtime.Object, matched bool) {
	t.Helper()
	metadata, err := meta.Accessor(object)
	if err != nil {
		t.Fatal(err)
	}
	gvr := s.kind.GroupVersion().WithResource(s.kind.Resource)
	attributes := &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(object, nil, s.kind.GroupVersionKind, metadata.GetNamespace(), metadata.GetName(), gvr, "",
			admission.Create, &metav1.CreateOptions{}, false, nil),
		VersionedObject: admission.NewLazyObject(object.DeepCopyObject()), VersionedKind: s.kind.GroupVersionKind,
	}
	ctx := s.compiler.CreateContext(t.Context())
	match := s.matcher.Match(ctx, attributes, nil, nil)
	if match.Error != nil {
		t.Fatalf("match conditions: %v", match.Error)
	}
	if !match.Matches {
		return object, false
	}
	interfaces := admission.NewObjectInterfacesFromScheme(scheme.Scheme)
	for i, mutation := range s.mutations {
		patched, err := mutation.Patch(ctx, patch.Request{
			MatchedResource: gvr, VersionedAttributes: attributes, ObjectInterfaces: interfaces,
			Namespace: &corev1.Namespace{}, TypeConverter: s.types,
		}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			t.Fatalf("mutation %d: %v", i, err)
		}
		if patched, err = interfaces.GetObjectConvertor().ConvertToVersion(patched, s.kind.GroupVersion()); err != nil {
			t.Fatalf("mutation %d: %v", i, err)
		}
		patched.GetObjectKind().SetGroupVersionKind(s.kind.GroupVersionKind)
		attributes.UpdateObject(patched)
	}
	return attributes.VersionedObject.Object(), true
}
