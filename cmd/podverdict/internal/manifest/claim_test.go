package manifest

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestClaimOf(t *testing.T) {
	owner := func(apiVersion, kind string, controller bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "owner", UID: "uid", Controller: &controller}}
	}
	today, before := map[string]string{"batch.kubernetes.io/job-name": "labelled"}, map[string]string{"job-name": "labelled"}
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		labels map[string]string
		want   Claim
		ok     bool
	}{
		"controller before label": {owner("batch/v1", "Job", true), today, Claim{"owner", "uid"}, true},
		"an owner that is none":   {owner("batch/v1", "Job", false), today, Claim{Name: "labelled"}, true},
		"a controller without uid": {
			[]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "owner", Controller: new(true)}}, today, Claim{Name: "owner"}, true,
		},
		"another controller": {owner("apps/v1", "ReplicaSet", true), today, Claim{}, true},
		"another Job":        {owner("example.com/v1", "Job", true), nil, Claim{}, true},
		"label":              {nil, today, Claim{Name: "labelled"}, true},
		"label of before":    {nil, before, Claim{Name: "labelled"}, true},
		"nothing":            {nil, nil, Claim{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ClaimOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners, Labels: test.labels}})
			if ok != test.ok || got != test.want {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}

func TestClaimFits(t *testing.T) {
	live := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: "1"}}
	file := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	for _, test := range []struct {
		claim Claim
		job   *batchv1.Job
		want  bool
	}{
		{Claim{"demo", "1"}, live, true},
		{Claim{"demo", "2"}, live, false},
		{Claim{"demo", ""}, live, true},
		{Claim{"demo", "2"}, file, true},
		{Claim{"other", "1"}, live, false},
	} {
		if got := test.claim.Fits(test.job); got != test.want {
			t.Errorf("%v: got %v", test.claim, got)
		}
	}
}

// An object of a cluster has a name for errors, and no line to show.
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
