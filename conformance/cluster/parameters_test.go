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

// Settings in an object of their own kind change while the policy is in force; the kind's schema refuses nonsense.
func TestCustomResourceParameters(t *testing.T) {
	s := newServer(t)
	o := admission.Options{
		Name: "typed", Target: builtInTargets(t)[0], Actions: admission.DefaultActions(),
		Parameters: admission.Parameters{Source: admission.FromCustomResource, Name: s.namespace},
		Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
	}
	catalogue := selection(t, "G-*")
	objects := s.defineParameters(t, catalogue)
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

// defineParameters installs the kind of the settings, and returns where its objects are.
func (s *server) defineParameters(t *testing.T, catalogue *admission.Selection) dynamic.ResourceInterface {
	t.Helper()
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
	return objects
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
