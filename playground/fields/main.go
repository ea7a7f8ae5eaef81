// Fields writes the completion table of the page's editor to standard output, as JSON: the fields, values and
// descriptions of the kinds that podverdict reads. Kubernetes' kinds come from the Go types of the API, podverdict's
// kinds from docs/schemas.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// table holds the kinds and the fields of the types that they consist of. Versions lists the Kubernetes versions that
// podverdict supports, newest first.
type table struct {
	Versions []string                    `json:"versions"`
	Kinds    map[string]root             `json:"kinds"`
	Types    map[string]map[string]field `json:"types"`
}

// root is the apiVersion and the type of a kind.
type root struct {
	APIVersion string `json:"apiVersion"`
	Type       string `json:"type"`
}

// field describes a field of an object. If Type is set, the field holds an object or a list of objects. If Values is
// set, it holds one of these strings or a list of them.
type field struct {
	About    string            `json:"about,omitempty"`
	Type     string            `json:"type,omitempty"`
	List     bool              `json:"list,omitempty"`
	Required bool              `json:"required,omitempty"`
	Values   map[string]string `json:"values,omitempty"` // descriptions by value
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fields:", err)
		os.Exit(1)
	}
}

func run() error {
	t, err := newTable("docs/schemas")
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(t)
}

// newTable returns the table of Kubernetes' kinds and of the kinds with a schema in the given folder.
func newTable(schemas string) (table, error) {
	t := table{Kinds: map[string]root{}, Types: map[string]map[string]field{}}
	for v := kubeversion.Last; v.AtLeast(kubeversion.First); v = v.SubtractMinor(1) {
		t.Versions = append(t.Versions, v.String())
	}
	source := source{table: t, constants: map[string]map[string]string{}, read: map[string]bool{}}
	for apiVersion, objects := range map[string][]any{
		batchv1.SchemeGroupVersion.String(): {batchv1.Job{}, batchv1.CronJob{}},
		corev1.SchemeGroupVersion.String():  {corev1.Pod{}, corev1.Namespace{}},
	} {
		for _, object := range objects {
			if err := source.addKind(apiVersion, object); err != nil {
				return t, err
			}
		}
	}
	for _, file := range []string{"podfailurepolicy.json", "podfailurepolicybinding.json"} {
		if err := t.addSchema(schemas + "/" + file); err != nil {
			return t, err
		}
	}
	return t, nil
}
