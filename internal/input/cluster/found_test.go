package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestWanted checks that Pods of other Jobs in a list response are ignored: Pods with the same labels, or of an
// earlier Job of the same name.
func TestWanted(t *testing.T) {
	own := failed("own", "1")
	earlier := failed("earlier", "2")
	earlier.OwnerReferences[0].UID = "earlier-uid"
	labelled := failed("labelled", "3")
	labelled.OwnerReferences, labelled.Labels = nil, map[string]string{batchv1.JobNameLabel: "demo"}
	elsewhere := failed("elsewhere", "4")
	elsewhere.Namespace = "other"
	replica := failed("replica", "5")
	replica.OwnerReferences[0].Kind, replica.Labels = "ReplicaSet", labelled.Labels
	nobodys := failed("nobodys", "6")
	nobodys.OwnerReferences = nil

	s := newSelection()
	s.add(demo(), true)
	var got []string
	for _, pod := range s.wanted([]*corev1.Pod{&own, &earlier, &labelled, &elsewhere, &replica, &nobodys}) {
		got = append(got, pod.Object.Name)
	}
	if diff := cmp.Diff([]string{"own", "labelled"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestWants checks that labels, names and controllers select the Jobs and Pods that are created later.
func TestWants(t *testing.T) {
	selector, err := labels.Parse("app=x")
	if err != nil {
		t.Fatal(err)
	}
	job, pod := demo(), failed("a", "1")
	made := demo()
	made.OwnerReferences = failed("a", "1").OwnerReferences
	made.OwnerReferences[0].UID = "cron-uid"
	matching := demo()
	matching.Labels = map[string]string{"app": "x"}
	labelled := failed("b", "2")
	labelled.Labels = matching.Labels
	single := newSelection()
	single.addPod(&pod)
	cron := newSelection()
	cron.cronJobs["cron-uid"] = true
	for name, test := range map[string]struct {
		selection *selection
		job       *batchv1.Job
		pod       corev1.Pod
		want      bool
	}{
		"nothing":             {newSelection(), job, pod, false},
		"the Pod":             {single, job, pod, true},
		"another Pod":         {single, job, labelled, false},
		"a Job's labels":      {&selection{laterJobs: selector}, matching, pod, true},
		"not the Job's":       {&selection{laterJobs: selector}, job, labelled, false},
		"a Pod's labels":      {&selection{laterPods: selector}, job, labelled, true},
		"not the Pod's":       {&selection{laterPods: selector}, matching, pod, false},
		"a CronJob's":         {cron, made, pod, true},
		"not of that CronJob": {cron, job, pod, false},
	} {
		if got := test.selection.wants(test.job, &test.pod); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
