package evidence

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/input/gathering"
)

// TestFoldDoesNotDependOnOrder checks that duplicates, order and the distribution of Jobs over Folds do not change the result.
func TestFoldDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	byKey := map[string][]gathering.Record{}
	for range 40 {
		for _, r := range someJob(random) {
			byKey[r.Key()] = append(byKey[r.Key()], r)
		}
	}
	var want []byte
	for range 20 {
		folds := []*Fold{{}, {}, {}}
		for _, records := range byKey {
			records = slices.Concat(records, records[:random.IntN(len(records))])
			random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			for f := range gathering.OfRecords(records).Families() {
				o, err := Of(t.Context(), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				folds[random.IntN(len(folds))].Add(&o)
			}
		}
		random.Shuffle(len(folds), func(i, j int) { folds[i], folds[j] = folds[j], folds[i] })
		folds[0].Merge(folds[1])
		folds[2].Merge(folds[0])
		got, err := json.Marshal(folds[2].Report(0, ByNode, ByCode, ByOwner, ByDay))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatal(diff)
		}
	}
}

var begin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// someJob returns a Job whose Pods fail one after the other, and sometimes succeed.
func someJob(random *rand.Rand) []gathering.Record {
	name := string(rune('a'+random.IntN(20))) + "-job"
	uid := string(rune('0' + random.IntN(2)))
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name, UID: types.UID("uid of " + name)}}
	records := []gathering.Record{{Job: job}}
	at := begin
	for i := range 1 + random.IntN(6) {
		at = at.Add(time.Duration(1+random.IntN(600)) * time.Second)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "batch", Name: name + "-" + uid + string(rune('a'+i)), UID: types.UID(name + uid + string(rune('a'+i))), Labels: map[string]string{batchv1.JobNameLabel: name},
		}}
		pod.Spec.NodeName = "node-" + string(rune('0'+random.IntN(3)))
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")},
		}}}
		pod.Status.Phase = corev1.PodFailed
		pod.Status.StartTime = new(metav1.NewTime(at))
		at = at.Add(time.Duration(random.IntN(600)) * time.Second)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(1 + random.IntN(3)), FinishedAt: metav1.NewTime(at)},
		}}}
		records = append(records, gathering.Record{Pod: pod})
	}
	return records
}

// TestStopped covers the criteria for a Pod that the Job controller deleted because its Job was decided.
func TestStopped(t *testing.T) {
	decided := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(begin)}}}}
	}
	failed := decided(batchv1.JobFailureTarget, corev1.ConditionTrue)
	for _, test := range []struct {
		name       string
		job        *batchv1.Job
		asked, end int // seconds after begin; asked -100 means never
		want       bool
	}{
		{"deleted when the Job fails", failed, 0, 30, true},
		{"at once", failed, 0, 0, true},
		{"deleted before the condition is written", failed, -2, 0, true},
		{"the Job succeeds", decided(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), 0, 30, true},
		{"an older Kubernetes", decided(batchv1.JobFailed, corev1.ConditionTrue), 0, 30, true},
		{"fails by itself", failed, -100, 1, false},
		{"what fails the Job, deleted later with it", failed, 3600, 0, false},
		{"deleted by somebody else before", failed, -60, -30, false},
		{"no condition that decides", decided(batchv1.JobSuspended, corev1.ConditionTrue), 0, 30, false},
		{"a condition that is not true", decided(batchv1.JobFailed, corev1.ConditionFalse), 0, 30, false},
		{"an unknown Job", nil, 0, 30, false},
	} {
		pod := &corev1.Pod{}
		if test.asked != -100 {
			pod.DeletionGracePeriodSeconds = new(int64(30))
			pod.DeletionTimestamp = new(metav1.NewTime(begin.Add(time.Duration(test.asked+30) * time.Second)))
		}
		if got := stopped(test.job, pod, begin.Add(time.Duration(test.end)*time.Second)); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
