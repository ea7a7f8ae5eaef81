package cluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestParseTargets(t *testing.T) {
	for _, test := range []struct {
		args []string
		want []Target
		err  string
	}{
		{nil, nil, ""},
		{[]string{"jobs"}, []Target{{Kind: Job}}, ""},
		{[]string{"Job.batch"}, []Target{{Kind: Job}}, ""},
		{[]string{"jobs,cj,job"}, []Target{{Kind: Job}, {Kind: CronJob}}, ""},
		{[]string{"job", "a", "b", "a"}, []Target{{Job, "a"}, {Job, "b"}}, ""},
		{[]string{"job,pod", "a"}, []Target{{Job, "a"}, {Pod, "a"}}, ""},
		{[]string{"job/a", "po/b", "jobs.v1.batch/a"}, []Target{{Job, "a"}, {Pod, "b"}}, ""},
		{[]string{"job/"}, nil, `argument "job/": must be TYPE/NAME, as the first one is`},
		{[]string{"job/a", "b"}, nil, `argument "b": must be TYPE/NAME, as the first one is`},
		{[]string{"job/a/b"}, nil, `argument "job/a/b": must be TYPE/NAME, as the first one is`},
		{[]string{"job", "pod/a"}, nil, `arguments "job" and "pod/a": give TYPE NAME..., or TYPE/NAME for each`},
		{[]string{"node/a"}, nil, `type "node" is not read here, there are job, cronjob, pod`},
		{[]string{"jobz,x", "a"}, nil, `no type "jobz", did you mean job?`},
		{[]string{""}, nil, `type "" is not read here, there are job, cronjob, pod`},
	} {
		got, err := ParseTargets(test.args, Job, CronJob, Pod)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", test.args, diff)
		}
		if message(err) != test.err {
			t.Errorf("%q: got %v, want %s", test.args, err, test.err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPodSelectors(t *testing.T) {
	labelled := func(uid string, match map[string]string) *batchv1.Job {
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)},
			Spec:       batchv1.JobSpec{Selector: &metav1.LabelSelector{MatchLabels: match}},
		}
	}
	generated := func(uid string) *batchv1.Job {
		return labelled(uid, map[string]string{batchv1.ControllerUidLabel: uid})
	}
	s := newSelection()
	s.add(generated("a"), true)
	s.add(labelled("own", map[string]string{"app": "x", "tier": "y"}), true)
	s.add(generated("only-some-pods"), false)
	s.add(labelled("old", map[string]string{"controller-uid": "old"}), true)
	s.add(generated("b"), true)
	s.add(generated("a"), true)
	want := []string{"app=x,tier=y", "batch.kubernetes.io/controller-uid in (a,b)", "controller-uid in (old)"}
	if diff := cmp.Diff(want, selectorTexts(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i := range maxValues {
		s.add(generated(fmt.Sprint("more-", i)), true)
	}
	want[1] = "batch.kubernetes.io/controller-uid"
	if diff := cmp.Diff(want, selectorTexts(s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func selectorTexts(s *selection) []string {
	var texts []string
	for _, selector := range podSelectors(s) {
		texts = append(texts, selector.String())
	}
	return texts
}
