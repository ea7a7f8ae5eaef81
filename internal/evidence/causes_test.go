package evidence_test

import (
	stdcmp "cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/internal/testing/dataset"
)

// TestCorpus checks that in generated datasets with one planted cause and noise, that cause is reported first, and that nothing is reported
// for noise only.
func TestCorpus(t *testing.T) {
	judge, first, last := newJudge(t), *firstSeed, *firstSeed+4*uint64(*fleets)-1
	if testing.Short() {
		last = first + 39
	}
	sizes, noises := []int{1000, 1500, 2000}, []float64{0.01, 0.03, 0.06}
	quiet, alone, found := 0, 0, map[string]int{}
	for seed := first; seed <= last; seed++ {
		options := dataset.Options{Pods: sizes[seed/4%3], Noise: noises[seed/12%3]}
		if causes := foldOf(t, judge, dataset.Generate(seed, options).Records).Report(0).Causes; len(causes) == 0 {
			quiet++
		} else {
			t.Logf("seed %d, noise alone: %s", seed, causes[0].Text)
		}
		options.Plant = []string{kinds[seed%4]}
		fleet := dataset.Generate(seed, options)
		causes := foldOf(t, judge, fleet.Records).Report(0).Causes
		if len(causes) == 1 {
			alone++
		}
		if len(causes) > 0 && plantedAs(&causes[0]) == fleet.Planted[0] {
			found[options.Plant[0]]++
			continue
		}
		t.Logf("seed %d, planted %v: %d causes", seed, fleet.Planted, len(causes))
	}
	all, of := found["node"]+found["image"]+found["code"]+found["disruption"], int(last-first+1)
	t.Logf("of %d: %d first (%v), %d alone; of noise: %d without cause", of, all, found, alone, quiet)
	if all*100 < of*95 || alone*100 < of*95 || quiet*100 < of*95 {
		t.Error("not 95 in 100")
	}
}

// TestCausesTogether checks that exactly the four planted causes are reported, even if only failed Pods are known.
func TestCausesTogether(t *testing.T) {
	judge := newJudge(t)
	for seed := range uint64(6) {
		fleet := dataset.Generate(seed, dataset.Options{Pods: 2500, Noise: 0.01 * float64(1+seed), Plant: kinds})
		failed := slices.DeleteFunc(slices.Clone(fleet.Records), func(r gathering.Record) bool {
			return r.Pod != nil && r.Pod.Status.Phase == corev1.PodSucceeded
		})
		for of, records := range map[string][]gathering.Record{"all Pods": fleet.Records, "failed Pods": failed} {
			var got []dataset.Planted
			causes := foldOf(t, judge, records).Report(0).Causes
			for _, c := range causes {
				got = append(got, plantedAs(&c))
				if len(c.Text) > 120 || c.Failed == 0 || (c.Chance == 0) != (c.Kind == "disruption") {
					t.Errorf("seed %d, %s: %d failures, chance %v: %s", seed, of, c.Failed, c.Chance, c.Text)
				}
			}
			less := func(a, b dataset.Planted) bool { return a.Kind < b.Kind }
			if diff := cmp.Diff(fleet.Planted, got, cmpopts.SortSlices(less)); diff != "" {
				t.Errorf("seed %d, %s: planted (-) and named (+):\n%s", seed, of, diff)
			}
			if !slices.IsSortedFunc(causes, func(a, b evidence.Cause) int {
				return stdcmp.Or(b.Reserved["nvidia.com/gpu"].Compare(a.Reserved["nvidia.com/gpu"]), b.Reserved["cpu"].Compare(a.Reserved["cpu"]))
			}) {
				t.Errorf("seed %d, %s: the costliest is not first", seed, of)
			}
		}
	}
	if causes := new(evidence.Fold).Report(0).Causes; causes == nil || len(causes) > 0 {
		t.Errorf("causes of nothing: %v", causes)
	}
}

// TestNodeCauses checks that a node is reported if several Jobs fail there three times as often as the same image does elsewhere.
func TestNodeCauses(t *testing.T) {
	for _, test := range []struct {
		name  string
		bad   int  // one in this many attempts fails on node 0; one in 40 elsewhere
		gpus  bool // nodes 0 and 1 run another image, which fails equally often on both
		oneOf bool // all attempts on node 0 belong to one Job
		want  int
	}{
		{"as often", 40, false, false, 0},
		{"twice as often", 20, false, false, 0},
		{"ten times as often", 4, false, false, 1},
		{"one Job", 4, false, true, 0},
		{"an image that fails everywhere", 4, true, false, 0},
	} {
		fold := &evidence.Fold{}
		one := evidence.Outcome{Namespace: "n", Job: "one", State: evidence.Complete, Known: true}
		for i := range 8000 {
			node := i % 10
			a := evidence.Attempt{Pod: "p" + strconv.Itoa(i), Node: "node-" + strconv.Itoa(node), Image: "image", Judged: true, Recovered: true}
			often := 40
			if node == 0 || test.gpus && node < 2 {
				often = test.bad
			}
			if test.gpus && node < 2 {
				a.Image = "gpu image"
			}
			if a.Failed = i/10%often == 0; a.Failed {
				a.Code, a.Reason = strconv.Itoa(1+i/10%3), "Error"
			}
			if test.oneOf && node == 0 {
				one.Attempts = append(one.Attempts, a)
				continue
			}
			fold.Add(&evidence.Outcome{Namespace: "n", Job: a.Pod, State: evidence.Complete, Known: true, Attempts: []evidence.Attempt{a}})
		}
		fold.Add(&one)
		got := 0
		for _, c := range fold.Report(0).Causes {
			if c.Kind == "node" {
				got++
			}
		}
		if got != test.want {
			t.Errorf("%s: %d nodes are causes, want %d", test.name, got, test.want)
		}
	}
}

// TestCausesDoNotDependOnOrder checks that causes depend neither on the order of the input nor on the parts in which Jobs are counted, even
// if the parts are transferred as JSON.
func TestCausesDoNotDependOnOrder(t *testing.T) {
	judge, random := newJudge(t), rand.New(rand.NewPCG(1, 2))
	fleet := dataset.Generate(3, dataset.Options{Plant: kinds})
	want := foldOf(t, judge, fleet.Records).Report(0).Causes
	if len(want) != len(kinds) {
		t.Fatalf("%d causes", len(want))
	}
	byKey := map[string][]gathering.Record{}
	for _, r := range fleet.Records {
		byKey[r.Key()] = append(byKey[r.Key()], r)
	}
	for range 5 {
		parts := make([][]gathering.Record, 1+random.IntN(7))
		for _, records := range byKey { // in random order
			i := random.IntN(len(parts))
			parts[i] = append(parts[i], records...)
		}
		whole := &evidence.Fold{}
		for _, part := range parts {
			encoded, err := json.Marshal(foldOf(t, judge, part))
			if err != nil {
				t.Fatal(err)
			}
			fold := &evidence.Fold{}
			if err := json.Unmarshal(encoded, fold); err != nil {
				t.Fatal(err)
			}
			whole.Merge(fold)
		}
		if diff := cmp.Diff(want, whole.Report(0).Causes, cmp.AllowUnexported(evidence.Amount{})); diff != "" {
			t.Fatal(diff)
		}
	}
}

var kinds = []string{"node", "image", "code", "disruption"}

func plantedAs(c *evidence.Cause) dataset.Planted {
	return dataset.Planted{Kind: c.Kind, Value: c.Value, Code: c.Code, Reason: c.Reason}
}

func foldOf(t *testing.T, judge *snapshot.Rulebook, records []gathering.Record) *evidence.Fold {
	t.Helper()
	byKey := map[string][]gathering.Record{}
	for _, r := range records {
		byKey[r.Key()] = append(byKey[r.Key()], r)
	}
	fold := &evidence.Fold{}
	for _, some := range byKey {
		for f := range gathering.OfRecords(some).Families() {
			o, err := evidence.Of(t.Context(), f, judge)
			if err != nil {
				t.Fatal(err)
			}
			fold.Add(&o)
		}
	}
	return fold
}

func newJudge(t *testing.T) *snapshot.Rulebook {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := effective.New(environment, &effective.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.NewRulebook(environment, policies.For)
}

// TestPodsThatEndWithTheirJob checks that Pods that the Job controller deletes because their Job has failed are counted, but are neither a
// cause nor evidence for a rule.
func TestPodsThatEndWithTheirJob(t *testing.T) {
	judge := newJudge(t)
	for seed := range uint64(6) {
		alone := dataset.Generate(seed, dataset.Options{Pods: 1500, Plant: kinds[seed%4 : seed%4+1]})
		stopped := stoppedPods(alone.Records)
		records := slices.Concat(alone.Records, stopped)
		want, got, added := foldOf(t, judge, alone.Records), foldOf(t, judge, records), foldOf(t, nil, stopped)
		if len(stopped) == 0 || got.Total.Failed != want.Total.Failed+added.Total.Failed || got.Total.Stopped != added.Total.Failed {
			t.Errorf("seed %d: %d Pods, %d failed, %d of these stopped, before %d", seed, len(stopped), got.Total.Failed, got.Total.Stopped, want.Total.Failed)
		}
		sum := want.Total.Reserved
		sum.Add(added.Total.Reserved)
		if diff := cmp.Diff(sum, got.Total.Reserved, cmp.AllowUnexported(evidence.Amount{})); diff != "" {
			t.Errorf("seed %d: hours:\n%s", seed, diff)
		}
		named := func(f *evidence.Fold) (all []string) {
			for _, c := range f.Report(0).Causes {
				all = append(all, fmt.Sprint(plantedAs(&c), c.Failed-c.Stopped))
			}
			return all
		}
		if diff := cmp.Diff(named(want), named(got)); diff != "" || len(named(want)) == 0 {
			t.Errorf("seed %d: causes without them (-) and with them (+):\n%s", seed, diff)
		}
		for _, custom := range []bool{false, true} {
			o := evidence.Suggesting{Custom: custom}
			ignored := cmpopts.IgnoreFields(evidence.SuggestedRule{}, "Text", "Effect.Saved", "Effect.Reserved") // these Pods would not have begun, either
			if diff := cmp.Diff(suggest(t, alone.Records, o).Rules, suggest(t, records, o).Rules, ignored,
				cmpopts.IgnoreUnexported(evidence.SuggestedRule{})); diff != "" {
				t.Errorf("seed %d: rules without them (-) and with them (+):\n%s", seed, diff)
			}
		}
	}
}

// stoppedPods returns three Pods on one node for each failed Job, deleted when the Job failed.
func stoppedPods(records []gathering.Record) (stopped []gathering.Record) {
	template := map[string]*corev1.Pod{}
	for _, r := range records {
		if r.Pod != nil {
			template[r.Key()] = r.Pod
		}
	}
	for _, r := range records {
		if r.Job == nil || r.Job.Status.Conditions[0].Type == batchv1.JobSuccessCriteriaMet {
			continue
		}
		at := r.Job.Status.Conditions[0].LastTransitionTime
		for i := range 3 {
			pod := template[r.Key()].DeepCopy()
			pod.Name += "-stopped-" + strconv.Itoa(i)
			pod.UID = types.UID(pod.Name)
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = new(metav1.NewTime(at.Add(30*time.Second))), new(int64(30))
			pod.Spec.NodeName = "worker-0"
			pod.Status.Phase, pod.Status.Reason, pod.Status.Conditions = corev1.PodFailed, "", nil
			pod.Status.StartTime = new(metav1.NewTime(at.Add(-time.Hour)))
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error", FinishedAt: metav1.NewTime(at.Add(time.Duration(i) * time.Second))},
			}}}
			stopped = append(stopped, gathering.Record{Pod: pod})
		}
	}
	return stopped
}
