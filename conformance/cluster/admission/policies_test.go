//go:build cluster

package admission

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

var warn = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}

// everythingWarns reports all messages as warnings, so that one request shows all rules.
func everythingWarns() admission.Actions { return admission.Actions{"error": warn, "warning": warn} }

func selection(t *testing.T, pattern string) *admission.Selection {
	t.Helper()
	selections, err := admission.Select([]string{pattern}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(selections) != 1 {
		t.Fatalf("%s chooses from %d catalogues", pattern, len(selections))
	}
	return selections[0]
}

func builtInTargets(t *testing.T) []admission.Target {
	t.Helper()
	job, err := kind.Job()
	if err != nil {
		t.Fatal(err)
	}
	cronJob, err := kind.CronJob()
	if err != nil {
		t.Fatal(err)
	}
	return []admission.Target{target(t, job, "spec"), target(t, cronJob, "spec.jobTemplate.spec")}
}

func target(t *testing.T, k kind.Kind, path string) admission.Target {
	t.Helper()
	target, err := admission.NewTarget(k, path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func (s *server) policies(t *testing.T, chosen *admission.Selection, o admission.Options) []admission.Policy {
	t.Helper()
	o.Kubernetes, o.Failure = s.Cluster.Version, admissionregistrationv1.Fail
	all, err := chosen.Policies(o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// apply applies objects like kubectl apply --server-side, and removes cluster-scoped ones at the end.
func (s *server) apply(t *testing.T, objects ...any) {
	t.Helper()
	for _, o := range objects {
		object := content(t, o)
		gvk := object.GroupVersionKind()
		mapping, err := s.mapper(t).RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			t.Fatal(err)
		}
		resource := s.client.Resource(mapping.Resource)
		options := metav1.ApplyOptions{FieldManager: "test", Force: true}
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			_, err = resource.Namespace(object.GetNamespace()).Apply(t.Context(), object.GetName(), object, options)
		} else {
			_, err = resource.Apply(t.Context(), object.GetName(), object, options)
			t.Cleanup(func() { _ = resource.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{}) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s *server) mapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(controlplane.Start(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
}

func content(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return u
}

// create creates an object with dry-run, and returns the messages of the policies' warnings.
func (s *server) create(ctx context.Context, in dynamic.ResourceInterface, object map[string]any) ([]string, error) {
	s.client.Warned = nil
	_, err := in.Create(ctx, s.local(object), metav1.CreateOptions{DryRun: dryRun})
	return s.policyWarnings(), err
}

// policyWarnings returns the messages in the warnings of policies.
func (s *server) policyWarnings() []string {
	var messages []string
	for _, text := range s.client.Warned {
		if rest, ok := strings.CutPrefix(text, "Validation failed for ValidatingAdmissionPolicy '"); ok {
			_, message, _ := strings.Cut(rest, "': ")
			messages = append(messages, strings.Split(message, "; ")...)
		}
	}
	slices.Sort(messages)
	return messages
}
