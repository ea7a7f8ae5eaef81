package manifest

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLive checks that an object from a cluster has a name for errors, and no line numbers.
func TestLive(t *testing.T) {
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "batch"}}
	job := LiveCronJob(cronJob)
	if !job.Origin.Live() || !job.Whole().Live() {
		t.Error("not live")
	}
	err := job.Origin.Error("spec.podFailurePolicy", "is odd")
	want := "cronjob/nightly in namespace batch: spec.jobTemplate.spec.podFailurePolicy: is odd"
	if err.Error() != want || err.Excerpt() != "" {
		t.Errorf("got %v with %q, want %s", err, err.Excerpt(), want)
	}
	if field := job.Whole().Field("spec.schedule"); field != "spec.schedule" {
		t.Errorf("got %s", field)
	}
}
