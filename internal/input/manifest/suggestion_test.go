package manifest

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func TestSuggestion(t *testing.T) {
	for field, want := range map[string]string{
		"spec.podFailurePolcy":  "podFailurePolicy",
		"spec.podfailurepolicy": "podFailurePolicy",
		"Spec":                  "spec",
		"spec.podFailurePolicy.rules[3].onPodCondition":    "onPodConditions",
		"spec.podFailurePolicy.rules[3].onExitCodes.value": "values",
		"spec.template.spec.containers[0].imagePullPolice": "imagePullPolicy",
		"metadata.labels.x.y":                              "",
		"spec.suspend":                                     "",
		"spec.color":                                       "",
		"apiversion":                                       "apiVersion",
		"":                                                 "",
	} {
		if got := suggestion(&batchv1.Job{}, field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}
