package apiserver

import (
	"os"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// MustKind returns the kind that a function returns, and fails the test on an error.
func MustKind(t testing.TB, of func() (kind.Kind, error)) kind.Kind {
	t.Helper()
	k, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// readCRD reads the single kind that a file in the test data of package kind serves.
func readCRD(t testing.TB, file string) kind.Kind {
	t.Helper()
	data, err := os.ReadFile("../kind/testdata/crd/" + file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	kinds, wrong := kind.ServedKinds(crd)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return kinds[0]
}

// ReadPolicy reads a file of testdata/policy and applies replacements to its text.
func ReadPolicy(t testing.TB, file string, replacements ...string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	text, err := os.ReadFile("testdata/policy/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(string(text), replacements[i]) {
			t.Fatalf("%s does not hold %q", file, replacements[i])
		}
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer(replacements...).Replace(string(text))), policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

// JobObject decodes JSON as the API server does.
func JobObject(t testing.TB, metadata, spec string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(`{"apiVersion": "batch/v1", "kind": "Job", "metadata": ` + metadata + `, "spec": ` + spec + `}`)); err != nil {
		t.Fatal(err)
	}
	return o
}

// Specs that testdata/policy/job.yaml admits, and denies for all of its reasons.
const (
	GoodSpec = `{"backoffLimit": 6, "template": {"spec": {"restartPolicy": "Never"}}}`
	BadSpec  = `{"backoffLimit": 11, "template": {"spec": {"restartPolicy": "OnFailure"}},
		"podFailurePolicy": {"rules": [{"action": "Count"}, {"action": "Ignore"}]}}`
)
