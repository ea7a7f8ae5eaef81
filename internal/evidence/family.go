package evidence

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime"
)

// Family is a Job with its Pods.
type Family struct {
	Namespace string
	// Name is the Job's name, which is empty for a Pod that says that it has none.
	Name string
	// Job has the API's defaults. It is nil if it is not in the input.
	Job *batchv1.Job
	// Pods are in the order in which they ended; those that have not, come last.
	Pods []*corev1.Pod
	// Recorded are the verdicts that were given when Pods failed, by the Pods' names.
	Recorded map[string]*runtime.Verdict
}

// Snapshot returns the Snapshot of the family's Pods as those of a Job, which has the API's defaults, with the rules of a book and with
// recorded verdicts by the Pods' names. The error is that of the book.
func (f *Family) Snapshot(
	ctx context.Context, job *batchv1.Job, book *snapshot.Rulebook, recorded map[string]*runtime.Verdict,
) (*snapshot.Snapshot, error) {
	rules, err := book.For(ctx, job)
	if err != nil {
		return nil, err
	}
	pods := make([]snapshot.Pod, len(f.Pods))
	for i, pod := range f.Pods {
		pods[i] = snapshot.Pod{Object: pod, Recorded: recorded[pod.Name]}
	}
	return snapshot.New(job, rules, time.Time{}, snapshot.Missing{}, pods...), nil
}

// Families returns the families that records of one Key are. There are several if Jobs of one name followed each other; these have
// different UIDs. A Pod whose Job is known by name alone belongs to the only Job of that name.
func Families(records []Record) []Family {
	jobs, pods := map[types.UID]Record{}, map[string]Record{}
	for _, r := range records {
		if r.Job != nil {
			keep(jobs, r.Job.UID, r)
		} else {
			keep(pods, podKey(r.Pod), r)
		}
	}
	families := map[types.UID]*Family{}
	at := func(uid types.UID, namespace, name string) *Family {
		if families[uid] == nil {
			families[uid] = &Family{Namespace: namespace, Name: name, Recorded: map[string]*runtime.Verdict{}}
		}
		return families[uid]
	}
	for uid, r := range jobs {
		f := at(uid, r.Job.Namespace, r.Job.Name)
		f.Job = r.Job.DeepCopy()
		jobdefaults.Set(f.Job)
	}
	for _, key := range slices.Sorted(maps.Keys(pods)) {
		r := pods[key]
		claim, _ := manifest.ClaimOf(r.Pod)
		f := at(jobUID(r.Pod, claim, jobs), r.Pod.Namespace, claim.Name)
		f.Pods = append(f.Pods, r.Pod)
		if r.Verdict != nil {
			f.Recorded[r.Pod.Name] = r.Verdict
		}
	}
	var all []Family
	for _, uid := range slices.Sorted(maps.Keys(families)) {
		slices.SortFunc(families[uid].Pods, compareEnd)
		all = append(all, *families[uid])
	}
	return all
}

func keep[K comparable](known map[K]Record, key K, r Record) {
	if other, there := known[key]; !there || r.better(other) {
		known[key] = r
	}
}

// podKey tells Pods of one Job apart: by their UID, or if they have none by their names and when they were created.
func podKey(pod *corev1.Pod) string {
	if pod.UID != "" {
		return string(pod.UID)
	}
	return "/" + pod.Name + "/" + pod.CreationTimestamp.UTC().String()
}

// jobUID returns the UID of a Pod's Job, as its controller or a label says, or else that of the only Job.
func jobUID(pod *corev1.Pod, claim manifest.Claim, jobs map[types.UID]Record) types.UID {
	uid := cmp.Or(claim.UID, types.UID(pod.Labels[batchv1.ControllerUidLabel]))
	if _, known := jobs[uid]; known || len(jobs) != 1 {
		return uid
	}
	for only := range jobs {
		if uid == "" || only == "" {
			return only
		}
	}
	return uid
}

func compareEnd(a, b *corev1.Pod) int {
	return cmp.Or(endOf(a).Compare(endOf(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
