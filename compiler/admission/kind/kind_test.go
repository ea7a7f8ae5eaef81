package kind

import (
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// mustKind returns the kind that a function returns, and fails the test on an error.
func mustKind(t testing.TB, of func() (Kind, error)) Kind {
	t.Helper()
	k, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// readCRD reads the single kind that a file of testdata/crd serves.
func readCRD(t testing.TB, file string) Kind {
	t.Helper()
	kinds, wrong := ServedKinds(definition(t, file))
	if len(wrong) > 0 || len(kinds) != 1 {
		t.Fatalf("%s serves %d kinds, %v", file, len(kinds), wrong)
	}
	return kinds[0]
}

// definition reads a file of testdata/crd and applies replacements to its text.
func definition(t testing.TB, file string, replacements ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("testdata/crd/" + file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer(replacements...).Replace(string(text))), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func TestBuiltinKinds(t *testing.T) {
	for name, k := range map[string]Kind{
		"batch/v1, Kind=Job jobs":         mustKind(t, Job),
		"batch/v1, Kind=CronJob cronjobs": mustKind(t, CronJob),
	} {
		if got := k.String() + " " + k.Resource; got != name {
			t.Errorf("got %s, want %s", got, name)
		}
	}
}
