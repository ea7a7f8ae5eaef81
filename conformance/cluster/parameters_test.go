//go:build cluster

package cluster

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/internal/installed"
)

// Settings in a ConfigMap change while the policy is in force; what cannot be used is refused.
func TestConfigMapParameters(t *testing.T) {
	s := newServer(t)
	o := admission.Options{
		Name: "live", Target: builtInTargets(t)[0], Actions: admission.DefaultActions(), Kubernetes: s.kubernetes, Failure: "Fail",
		Parameters: admission.Parameters{Source: admission.FromConfigMap, Namespace: s.namespace, Name: "guardrails"},
		Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
	}
	catalogue := selection(t, "G-*")
	guard, err := catalogue.ParameterPolicy(o)
	if err != nil {
		t.Fatal(err)
	}
	s.apply(t, catalogue.ConfigMap(o.Parameters), guard.Definition, guard.Binding)
	for _, p := range s.policies(t, catalogue, o) {
		s.apply(t, p.Definition, p.Binding)
	}
	maps := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(s.namespace)
	s.liveSettings(t, func(parallelism string) error {
		return patch(t, maps, "guardrails", `{"data": {"G-PARALLELISM.max": "`+parallelism+`"}}`)
	})
	for _, tc := range []struct{ data, want string }{
		{`{"G-PARALLELISM.max": "-1"}`, "data[G-PARALLELISM.max]: must be a whole number, 0 or more"},
		{`{"G-PARALELISM.max": "1"}`, "data[G-PARALELISM.max]: is not a parameter of a guardrail"},
		{`{"G-TTL.enabled": "yes"}`, "data[G-TTL.enabled]: must be true or false"},
		{`{"G-TTL.min": "7", "G-TTL.max": "6"}`, "data[G-TTL.min]: must be less than or equal to data[G-TTL.max]"},
		{`{"G-KILL-CODES.codes": ""}`, "data[G-KILL-CODES.codes]: must be a list of whole numbers, one at least, with commas between them"},
		{`{"G-DISRUPTION-ACTION.actions": "Count,Restart"}`,
			"data[G-DISRUPTION-ACTION.actions]: must be one or more of FailJob, FailIndex, Ignore, Count, with commas between them"},
		{`{"G-INDEX-FAILED-MAX.maxPercent": "101"}`, "data[G-INDEX-FAILED-MAX.maxPercent]: must be a whole number from 0 to 100"},
		{`{"G-KILL-CODES.codes": "137, 143", "G-TTL.enabled": "false", "G-MANAGED-BY.allowed": "example.com/one, example.com/two"}`, ""},
	} {
		if got := denial(patch(t, maps, "guardrails", `{"data": `+tc.data+`}`)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.data, got, tc.want)
		}
	}
}

// Settings in an object of their own kind change while the policy is in force; the kind's schema refuses nonsense.
func TestCustomResourceParameters(t *testing.T) {
	s := newServer(t)
	o := admission.Options{
		Name: "typed", Target: builtInTargets(t)[0], Actions: admission.DefaultActions(),
		Parameters: admission.Parameters{Source: admission.FromCustomResource, Name: s.namespace},
		Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
	}
	catalogue := selection(t, "G-*")
	definition := catalogue.Definition()
	s.apply(t, map[string]any{
		"apiVersion": definition.APIVersion, "kind": definition.Kind,
		"metadata": map[string]any{"name": definition.Name}, "spec": definition.Spec,
	})
	objects := s.client.Resource(schema.GroupVersionResource{Group: "podverdict.io", Version: "v1alpha1", Resource: "guardrailparameters"})
	installed.Eventually(t, "the new kind", func(ctx context.Context) (bool, error) {
		_, err := objects.List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
	s.apply(t, catalogue.CustomResource(o.Parameters))
	for _, p := range s.policies(t, catalogue, o) {
		s.apply(t, p.Definition, p.Binding)
	}
	s.liveSettings(t, func(parallelism string) error {
		return patch(t, objects, o.Parameters.Name, `{"spec": {"parallelism": {"max": `+parallelism+`}}}`)
	})
	for _, tc := range []struct{ spec, want string }{
		{`{"parallelism": {"max": -1}}`, "spec.parallelism.max: Invalid value: -1: spec.parallelism.max in body should be greater than or equal to 0"},
		{`{"ttl": {"min": 7, "max": 6}}`, "min must be less than or equal to max"},
		{`{"disruptionAction": {"actions": ["Restart"]}}`, `Unsupported value: "Restart"`},
		{`{"killCodes": {"codes": []}}`, "should have at least 1 items"},
		{`{"killCodes": {"codes": [1]}}`, ""},
	} {
		err := patch(t, objects, o.Parameters.Name, `{"spec": `+tc.spec+`}`)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.spec, err, tc.want)
		}
	}
}

func patch(t *testing.T, in dynamic.ResourceInterface, name, patch string) error {
	t.Helper()
	_, err := in.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// liveSettings changes the highest parallelism and sees the policy follow.
func (s *server) liveSettings(t *testing.T, set func(parallelism string) error) {
	t.Helper()
	job := careless("Job")
	job["spec"].(map[string]any)["backoffLimit"] = int64(1)
	job["spec"].(map[string]any)["parallelism"] = int64(20)
	job["spec"].(map[string]any)["podFailurePolicy"].(map[string]any)["rules"] = []any{
		map[string]any{"action": "Ignore", "onPodConditions": []any{map[string]any{"type": "DisruptionTarget"}}},
	}
	for _, tc := range []struct{ max, want string }{
		{"10", "spec.parallelism: Guardrail G-PARALLELISM: 20: must be at most 10"},
		{"19", "spec.parallelism: Guardrail G-PARALLELISM: 20: must be at most 19"},
		{"20", ""},
		{"0", "spec.parallelism: Guardrail G-PARALLELISM: 20: must be at most 0"},
	} {
		if err := set(tc.max); err != nil {
			t.Fatal(err)
		}
		var got string
		installed.Eventually(t, "a maximum of "+tc.max, func(ctx context.Context) (bool, error) {
			_, err := s.create(ctx, s.resource(job), job)
			if d := denial(err); d != got {
				t.Log(d)
				got = d
			}
			return got == "" && tc.want == "" || got == withPage("G-PARALLELISM", tc.want), nil
		})
	}
}
