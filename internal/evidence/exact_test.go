package evidence

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/input/gathering"
)

// oddPod returns a failed Pod of a Job with unusual times, names and requests, and its contribution to the sums by definition.
func oddPod(random *rand.Rand, job, i int) (gathering.Record, map[corev1.ResourceName]*big.Int) {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pick("a", "b\x1b[31m"), Name: fmt.Sprintf("%d-%d", job, i), Labels: map[string]string{batchv1.JobNameLabel: fmt.Sprint("job-", job)},
	}}
	pod.Spec.NodeName = pick("", "node\n", "node-"+fmt.Sprint(random.IntN(9)))
	requests := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "example.com/gpu"} {
		if text := pick("", "0", "1m", "1", "1n", "-5", "9223372036854775807", "1E30", "3Gi"); text != "" {
			requests[name] = apiresource.MustParse(text)
		}
	}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: pick("", "image\t", "other"), Resources: corev1.ResourceRequirements{Requests: requests}}}
	pod.Status.Phase = corev1.PodFailed
	start, ran := begin.Add(time.Duration(random.IntN(90))*time.Hour), time.Duration(random.Int64N(100_000)-20_000)*time.Second
	pod.Status.StartTime = new(metav1.NewTime(start))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(random.IntN(4)), Reason: pick("", "Error", "OOMKilled"), FinishedAt: metav1.NewTime(start.Add(ran)),
	}}}}
	sums := map[corev1.ResourceName]*big.Int{}
	for name, q := range requests {
		units := new(big.Rat).SetInt(big.NewInt(0))
		units.SetString(q.AsDec().String())
		milli := new(big.Rat).Mul(units, big.NewRat(1000, 1))
		rounded, rest := new(big.Int).QuoRem(milli.Num(), milli.Denom(), new(big.Int)) // MilliValue rounds up
		if rest.Sign() > 0 {
			rounded.Add(rounded, big.NewInt(1))
		}
		if most := big.NewInt(math.MaxInt64); rounded.Cmp(most) > 0 || units.Cmp(big.NewRat(math.MaxInt64/1000, 1)) >= 0 {
			rounded = most
		}
		if rounded.Sign() > 0 && ran > 0 {
			sums[name] = rounded.Mul(rounded, big.NewInt(ran.Milliseconds()))
		}
	}
	return gathering.Record{Pod: pod}, sums
}

// TestSumsAreExact checks that, in each dimension, the rows and the rest add up to the Pods' contributions, for any values.
func TestSumsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, top := range []int{0, 1, 3} {
		want, failed, fold := map[corev1.ResourceName]*big.Int{}, int64(0), &Fold{}
		for job := range 50 {
			byKey := map[string][]gathering.Record{}
			for i := range 1 + random.IntN(8) {
				r, sums := oddPod(random, job, i)
				byKey[r.Key()] = append(byKey[r.Key()], r)
				failed++
				for name, n := range sums {
					if want[name] == nil {
						want[name] = new(big.Int)
					}
					want[name].Add(want[name], n)
				}
			}
			for _, records := range byKey {
				for _, o := range outcomes(t, records) {
					fold.Add(&o)
				}
			}
		}
		report := fold.Report(top, Dimensions()...)
		check := func(what string, got Cell) {
			t.Helper()
			amounts := map[corev1.ResourceName]*big.Int{}
			for name, amount := range got.Reserved {
				amounts[name] = amount.big()
			}
			if got.Failed != failed || !cmp.Equal(amounts, want, cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })) {
				t.Errorf("%s, top %d: %d failed with %v, want %d with %v", what, top, got.Failed, amounts, failed, want)
			}
		}
		check("total", report.Total.Cell)
		for _, s := range report.Sections {
			sum := Cell{}
			for _, row := range s.Rows {
				sum.Merge(&row.Cell)
			}
			if s.Rest != nil {
				sum.Merge(&s.Rest.Cell)
			}
			check(s.By, sum)
		}
	}
}

// TestTableBeyondItsLimit checks that neither the values that share a cell nor any sum depend on the order or distribution of values.
func TestTableBeyondItsLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, values := range []int{3, 5, 6, 9, 10, 11, 40} {
		var want string
		for range 30 {
			tables := []*Table{{limit: 5}, {limit: 5}, {limit: 5}}
			for _, i := range random.Perm(values * 3) {
				tables[random.IntN(len(tables))].at(fmt.Sprint("value-", i%values)).Failed++
			}
			random.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
			tables[0].Merge(tables[1])
			tables[2].Merge(tables[0])
			all := tables[2]
			all.Shrink()
			text, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(text)
			}
			if diff := cmp.Diff(want, string(text)); diff != "" {
				t.Fatalf("%d values: %s", values, diff)
			}
			failed := int64(0)
			for _, cell := range all.Cells {
				failed += cell.Failed
			}
			if all.Others != nil {
				failed += all.Others.Failed
			}
			if failed != int64(values)*3 || len(all.Cells) > 5 {
				t.Fatalf("%d values: %d in %d cells", values, failed, len(all.Cells))
			}
		}
	}
}

// TestManyNodes checks that the report of 100,000 or more nodes has a bounded size.
func TestManyNodes(t *testing.T) {
	fold := &Fold{}
	for i := range 250_000 {
		fold.Add(&Outcome{Namespace: "a", Owner: "a/job/b", Attempts: []Attempt{{Node: fmt.Sprint("node-", i), Failed: true}}})
	}
	table := fold.By[ByNode]
	table.Shrink()
	s := fold.Report(10, ByNode).Sections[0]
	if len(table.Cells) > maxValues || len(s.Rows) != 10 || s.Rest.Failed != 250_000-10 {
		t.Errorf("%d cells, %d rows, %d in the rest", len(table.Cells), len(s.Rows), s.Rest.Failed)
	}
}

// TestIdleRules checks that rules that never decided are reported with the number of failed attempts that they could have decided.
func TestIdleRules(t *testing.T) {
	folds := []*Fold{{}, {}}
	for i := range 4 {
		o := Outcome{Owner: "a/cronjob/b", Known: true, Rules: true, InForce: []string{"podFailurePolicy[0]", "podFailurePolicy[1]", "net/dns"}}
		for range i + 1 {
			a := Attempt{Failed: true, Judged: true}
			if a.Verdict.Rule = 0; i == 2 {
				a.Verdict.Matched = true
			}
			o.Attempts = append(o.Attempts, a)
		}
		folds[i%2].Add(&o)
	}
	folds[0].Merge(folds[1])
	want := []IdleRule{{Rule: "podFailurePolicy[1]", Owner: "a/cronjob/b", Jobs: 4, Failed: 10}, {Rule: "net/dns", Jobs: 4, Failed: 10}}
	got, more := folds[0].idleRules(0)
	if diff := cmp.Diff(want, got); diff != "" || more != 0 {
		t.Error(diff, more)
	}
	if got, more := folds[0].idleRules(1); len(got) != 1 || more != 1 {
		t.Errorf("with a top of 1: %v and %d more", got, more)
	}
}
