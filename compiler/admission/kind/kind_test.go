package kind

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
)

// mustKind is for the functions that return a kind or an error.
func mustKind(t testing.TB, of func() (Kind, error)) Kind {
	t.Helper()
	k, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// readCRD reads the one kind that a file of testdata/crd serves.
func readCRD(t testing.TB, file string) Kind {
	t.Helper()
	data, err := os.ReadFile("testdata/crd/" + file)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := ReadCRD(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(kinds) != 1 {
		t.Fatalf("%s serves %d kinds, want 1", file, len(kinds))
	}
	return kinds[0]
}

func TestBuiltinKinds(t *testing.T) {
	for name, k := range map[string]Kind{
		"batch/v1, Kind=Job jobs":         mustKind(t, Job),
		"batch/v1, Kind=CronJob cronjobs": mustKind(t, CronJob),
		"/v1, Kind=ConfigMap configmaps":  mustKind(t, ConfigMap),
	} {
		if got := k.String() + " " + k.Resource; got != name {
			t.Errorf("got %s, want %s", got, name)
		}
	}
}

// The fields lie behind references of several depths, and have the types that the API
// server gives them.
func TestBuiltinSchemaIsResolved(t *testing.T) {
	for path, want := range map[string]string{
		"metadata.creationTimestamp":                          "google.protobuf.Timestamp",
		"metadata.labels":                                     "map(string, string)",
		"spec.jobTemplate.spec.backoffLimit":                  "int",
		"spec.jobTemplate.spec.selector.matchLabels":          "map(string, string)",
		"spec.jobTemplate.spec.podFailurePolicy.rules":        "list(CronJob.spec.jobTemplate.spec.podFailurePolicy.rules.@idx)",
		"spec.jobTemplate.spec.template.spec.overhead":        "",
		"spec.jobTemplate.spec.template.metadata.name":        "string",
		"spec.jobTemplate.spec.podReplacementPolicy":          "string",
		"spec.jobTemplate.spec.successPolicy.rules":           "list(CronJob.spec.jobTemplate.spec.successPolicy.rules.@idx)",
		"spec.jobTemplate.spec.template.spec.initContainers":  "list(CronJob.spec.jobTemplate.spec.template.spec.initContainers.@idx)",
		"spec.jobTemplate.spec.template.spec.restartPolicy":   "string",
		"spec.jobTemplate.spec.ttlSecondsAfterFinished":       "int",
		"spec.jobTemplate.spec.template.spec.unheardOf":       "",
		"spec.jobTemplate.spec.template.spec.securityContext": "CronJob.spec.jobTemplate.spec.template.spec.securityContext",
	} {
		if got := celType(t, mustKind(t, CronJob), path); got != want {
			t.Errorf("%s has type %q, want %q", path, got, want)
		}
	}
}

// celType returns the type that the type checker gives to a field; empty when it shows none.
func celType(t *testing.T, k Kind, path string) string {
	t.Helper()
	p, err := ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	declared := common.SchemaDeclType(&openapi.Schema{Schema: k.Schema}, true).MaybeAssignTypeName(k.Kind)
	for _, step := range p.steps {
		f, ok := declared.Fields[step.name]
		if !ok {
			return ""
		}
		declared = f.Type
	}
	return declared.CelType().String()
}

func TestReadCRDPublishesMetadata(t *testing.T) {
	k := readCRD(t, "taskset.yaml")
	if got, want := k.String()+" "+k.Resource, "example.com/v1, Kind=TaskSet tasksets"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got := map[string]string{}
	for _, path := range []string{"apiVersion", "kind", "metadata.labels", "metadata.deletionTimestamp", "spec.note", "spec.port", "spec.main.spec.backoffLimit"} {
		got[path] = celType(t, k, path)
	}
	want := map[string]string{
		"apiVersion": "string", "kind": "string", "metadata.labels": "map(string, string)", "metadata.deletionTimestamp": "google.protobuf.Timestamp",
		"spec.note": "string", "spec.port": "dyn", "spec.main.spec.backoffLimit": "int",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}
