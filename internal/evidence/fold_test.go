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
)

// TestFoldDoesNotDependOnOrder: duplicates, order and the way in which Jobs are spread over Folds change nothing.
func TestFoldDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	byKey := map[string][]Record{}
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
			for _, f := range Families(records) {
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

// someJob returns a Job whose Pods fail one after the other, and at times succeed.
func someJob(random *rand.Rand) []Record {
	name := string(rune('a'+random.IntN(20))) + "-job"
	uid := string(rune('0' + random.IntN(2)))
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name, UID: types.UID("uid of " + name)}}
	records := []Record{{Job: job}}
	at := begin
	for i := range 1 + random.IntN(6) {
		at = at.Add(time.Duration(1+random.IntN(600)) * time.Second)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "batch", Name: name + "-" + uid + string(rune('a'+i)), Labels: map[string]string{batchv1.JobNameLabel: name},
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
		records = append(records, Record{Pod: pod})
	}
	return records
}
