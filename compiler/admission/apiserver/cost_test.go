package apiserver

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// TestCostOfWhatDoesNotMatch checks that Cost ignores match conditions, although the API server
// evaluates nothing if they are false.
func TestCostOfWhatDoesNotMatch(t *testing.T) {
	m, err := NewMeter(ReadPolicy(t, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r := Review{Kind: MustKind(t, kind.Job), Operation: admission.Create, Object: JobObject(t, `{"labels": {"exempt": ""}}`, BadSpec)}
	if cost, err := m.Cost(t.Context(), r); err != nil || cost == 0 {
		t.Errorf("got %d, error %v", cost, err)
	}
}

func TestNewMeterNamesWhatDoesNotCompile(t *testing.T) {
	_, err := NewMeter(ReadPolicy(t, "job.yaml",
		"object.spec.backoffLimit <= 10", "objekt.spec.backoffLimit <= 10",
		`object.spec.template.spec.restartPolicy == "Never"`, "1 + 1"))
	if err == nil || !strings.Contains(err.Error(), "undeclared reference to 'objekt'") || !strings.Contains(err.Error(), "must evaluate to bool") {
		t.Errorf("got error %v", err)
	}
}
