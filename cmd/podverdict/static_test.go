package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/manifest/loader"
)

// TestAPIServerLoadsStaticManifests loads the output of --static with the API server's own manifest loader, which rejects manifests that
// are not allowed in files.
func TestAPIServerLoadsStaticManifests(t *testing.T) {
	files := t.TempDir()
	write(t, filepath.Join(files, "defaults.yaml"), "apiVersion: batch/v1\nkind: Job\nspec: {ttlSecondsAfterFinished: 600}\n")
	write(t, filepath.Join(files, "custom.yaml"), `apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: training}
spec: {rules: [{name: bad-node, when: attempt > 3, action: FailIndex}]}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: training}
spec: {policyName: training, namespaceSelector: {matchLabels: {team: a}}}
`)
	write(t, filepath.Join(files, "crd.yaml"), read(t, "../../conformance/cluster/admission/testdata/workflow-crd.yaml"))
	t.Chdir(files)
	const guardrails = "vap --static --rules G-TTL --for job"
	for _, c := range []struct {
		name     string
		verbs    []string // each generates a file
		mutating bool
		want     string // policy names, each bound by a binding of the same name
		refused  string
	}{
		{
			name: "guardrails", verbs: []string{"vap --static --rules G-TTL,G-DISRUPTION-FIRST"},
			want: `podverdict-guardrails-cronjob-errors podverdict-guardrails-cronjob-warnings podverdict-guardrails-job-errors podverdict-guardrails-job-warnings`,
		},
		{name: "a List in JSON", verbs: []string{guardrails + " -o json"}, want: "podverdict-guardrails-job-warnings"},
		{
			name:  "several files",
			verbs: []string{"vap --static --rules P1 --at spec.groups[*].template.spec --crd crd.yaml", "vap --static --for job -f custom.yaml"},
			want:  "podverdict-constraints-workflow-errors podverdict-requirements-training-job-errors podverdict-requirements-training-job-warnings",
		},
		{name: "defaults", verbs: []string{"map --static -f defaults.yaml"}, mutating: true, want: "podverdict-defaults-cronjob podverdict-defaults-job"},
		{name: "for the API", verbs: []string{"vap --rules G-TTL --for job"}, refused: `must have a name ending with ".static.k8s.io"`},
		{name: "one name twice", verbs: []string{guardrails, guardrails + " --action warning=Warn+Audit"}, refused: "duplicate name"},
		{name: "the other plugin's", verbs: []string{"map --static -f defaults.yaml --for job"}, refused: "unsupported resource type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			for i, verb := range c.verbs {
				text := mustRun(t, append([]string{"generate"}, strings.Fields(verb)...)...)
				write(t, filepath.Join(folder, fmt.Sprint(i, ".yaml")), text) // JSON is YAML
			}
			got, err := loadValidating(folder)
			if c.mutating {
				got, err = loadMutating(folder)
			}
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Fatalf("refused with %v, want %q", err, c.refused)
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(got, ".static.k8s.io", "")); diff != "" {
				t.Errorf("policies (-want +got):\n%s", diff)
			}
		})
	}
}

func loadValidating(folder string) (string, error) {
	return load[*admissionregistrationv1.ValidatingAdmissionPolicy](folder,
		func(b *admissionregistrationv1.ValidatingAdmissionPolicyBinding) string { return b.Spec.PolicyName })
}

func loadMutating(folder string) (string, error) {
	return load[*admissionregistrationv1.MutatingAdmissionPolicy](folder,
		func(b *admissionregistrationv1.MutatingAdmissionPolicyBinding) string { return b.Spec.PolicyName })
}

// load returns the names of the policies in a folder.
func load[P, B metav1.Object](folder string, bound func(B) string) (string, error) {
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		return "", err
	}
	scheme.AddUnversionedTypes(metav1.SchemeGroupVersion, &metav1.List{})
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	policies, bindings, _, err := loader.LoadPolicyManifests(folder, decoder, accept[P], accept[B], bound)
	if err != nil {
		return "", err
	}
	var names []string
	for i, p := range policies {
		if i >= len(bindings) || bindings[i].GetName() != p.GetName() || bound(bindings[i]) != p.GetName() {
			return "", fmt.Errorf("%s has no binding of its name among %d", p.GetName(), len(bindings))
		}
		names = append(names, p.GetName())
	}
	return strings.Join(names, " "), nil
}

// accept accepts objects of one kind.
func accept[T metav1.Object](object runtime.Object) ([]T, error) {
	one, ok := object.(T)
	if !ok {
		return nil, loader.ErrUnrecognizedType
	}
	return []T{one}, nil
}
