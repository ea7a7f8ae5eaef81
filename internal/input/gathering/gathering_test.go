package gathering

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// someObjects returns Jobs, objects that create Jobs, and Pods of both, of missing Jobs, and of no Job.
func someObjects() []string {
	var lines []string
	add := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"batch",%s},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"batch","name":"pod-%d","uid":"p%d","resourceVersion":"%d","labels":{%s}},"spec":{},"status":{"phase":%q,` +
		`"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,"finishedAt":"2026-11-01T01:%02d:00Z"}}}]}}`
	for i := range 20 {
		add(job, fmt.Sprintf(`"name":"job-%d","uid":"u%d","resourceVersion":"1"`, i, i))
	}
	add(job, `"name":"job-3","uid":"u3","resourceVersion":"2"`)
	add(job, `"name":"job-4","uid":"later","resourceVersion":"30"`)
	add(job, `"generateName":"drawn-"`)
	add(job, `"name":"set-workers-0","uid":"child","labels":{"jobset.sigs.k8s.io/jobset-name":"set","jobset.sigs.k8s.io/replicatedjob-name":"workers"}`)
	add(`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"namespace":"batch","name":"nightly"},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}}}`)
	add(`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"namespace":"batch","name":"idle"},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}}}`)
	add(`{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"namespace":"batch","name":"set"},"spec":{"replicatedJobs":[{"name":"workers","template":{"spec":{"template":{"spec":{}}}}}]}}`)
	names := []string{`"job-name":"drawn-x7k2p"`, `"job-name":"nightly-29398740"`, `"job-name":"set-workers-0"`, `"job-name":"gone"`, ``, `"job-name":"job-4","batch.kubernetes.io/controller-uid":"later"`}
	for i := range 25 {
		names = append(names, fmt.Sprintf(`"job-name":"job-%d"`, i))
	}
	for i := range 300 {
		phase := [...]string{"Failed", "Failed", "Succeeded", "Running"}[i%4]
		add(pod, i, i, 5, names[i%len(names)], phase, i%60)
		if i%7 == 0 { // an earlier record
			add(pod, i, i, 4, names[i%len(names)], "Running", 0)
		}
	}
	add(pod, 144, 144, 4, names[144%len(names)], "Failed", 1) // pod-20 ended between this time and the end time in the later record
	return append(lines, lines[30:60]...)
}

// TestFamilies checks that families do not depend on the order of records or on whether they are in memory or in a file, and that a second
// reading gives the same result.
func TestFamilies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := someObjects()
	var want string
	for try := range 20 {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		set, err := manifest.Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(strings.Join(lines, "\n"))})
		if err != nil {
			t.Fatal(err)
		}
		g, dir := Of(set.Jobs, set.Pods), t.TempDir()
		if try%2 == 1 {
			g = spilled(t, set, dir, 1+random.IntN(5000))
		}
		first, second := text(t, g), text(t, g)
		if want == "" {
			want = first
		}
		if diff := cmp.Diff(want, first); diff != "" || first != second {
			t.Fatalf("try %d, limit %d: the second reading is the same: %v\n%s", try, g.limit, first == second, diff)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("Close leaves %v, %v", left, err)
		}
	}
	for line, n := range map[string]int{
		"job-3 u3 2 made by :": 1, "job-4 u4 1 made by :": 1, "job-4 later 30 made by :": 1, "drawn-x7k2p   made by drawn-:": 1,
		"nightly-29398740   made by nightly:": 1, "idle   made by :": 1, "nightly   made": 0, "set-workers-0 child  made by  of set:": 1, "set-workers  ": 0,
		"gone: no Job;": 1, "batch/: no Job;": 1, "job-4: no Job;": 1, "and the input has 2 Jobs of that name": 10, " pod-8 Failed5": 1, " pod-144 Failed5": 1, " pod-144 Failed4": 0, " pod-7 Running4": 0,
	} {
		if got := strings.Count(want, line); got != n {
			t.Errorf("%d of %q, want %d", got, line, n)
		}
	}
}

// spilled returns the Gathering of a long input with the objects of a Set.
func spilled(t *testing.T, set *manifest.Set, dir string, limit int) *Gathering {
	t.Helper()
	g := New("")
	g.Long, g.dir, g.limit = true, dir, limit
	for i := range set.Jobs {
		if job := &set.Jobs[i]; isModel(job) {
			g.Hold(job)
		} else if err := g.Add(Record{Job: job.Object, Origin: job.Origin}); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range set.Pods {
		if err := g.Add(Record{Pod: pod.Object, Origin: pod.Origin}); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// text returns a line for each Family, and for each Pod without a Job the reason.
func text(t *testing.T, g *Gathering) string {
	t.Helper()
	var out strings.Builder
	for f, err := range g.Families() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s/%s", f.Namespace, f.Name)
		if job := f.Job; job != nil {
			fmt.Fprintf(&out, " %s %s made by %s", job.Object.UID, job.Object.ResourceVersion, job.MadeBy)
			if job.JobSet != nil {
				fmt.Fprintf(&out, " of %s", job.JobSet.Name)
			}
		} else {
			out.WriteString(": no Job")
			for _, err := range f.Others() {
				_, why, _ := strings.Cut(err.Error(), "metadata")
				fmt.Fprintf(&out, "; %s", why)
			}
		}
		out.WriteString(": ")
		for _, pod := range f.Pods {
			fmt.Fprintf(&out, "%s %s%s ", pod.Object.Name, pod.Object.Status.Phase, pod.Object.ResourceVersion)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// TestTwice checks that two Jobs of the same name are an error that names both positions, and that it comes before any Family.
func TestTwice(t *testing.T) {
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":%q}}` + "\n"
	g, err := Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(fmt.Sprintf(job+job+job, "a", "b", "b"))}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for f, err := range g.Families() {
		got = append(got, fmt.Sprint(f.Name, err))
	}
	if diff := cmp.Diff([]string{"stdin:3:58: document 3: metadata.name: job default/b is given twice, first at stdin:2:58"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestParts checks that a Job with too many Pods comes in non-empty parts that Whole joins. Pods of no Job also come in parts, which Whole
// does not join.
func TestParts(t *testing.T) {
	for name, pods := range map[string]int{"many": 2*partPods + 1, "": 2 * partPods} {
		g := New("")
		g.Long, g.dir = true, t.TempDir()
		t.Cleanup(func() { _ = g.Close() })
		const pod = `{"metadata":{"name":"pod-%05d","ownerReferences":[{"apiVersion":%q,"kind":"Job","name":"many","uid":"%d","controller":true}]},"status":{"phase":"Failed"}}`
		owner := "example.com/v1"
		if name != "" {
			owner = "batch/v1"
			var job Record
			if err := errors.Join(json.Unmarshal([]byte(`{"metadata":{"name":"many"}}`), &job.Job), g.Add(job)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range pods {
			var one Record
			if err := errors.Join(json.Unmarshal(fmt.Appendf(nil, pod, pods-1-i, owner, i), &one.Pod), g.Add(one)); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{name + " 5000 pod-00000 true <nil>", name + " 5000 pod-05000 true <nil>", name + " 1 pod-10000 false <nil>"}
		if name == "" {
			want = []string{" 5000 pod-00000 true <nil>", " 5000 pod-05000 false <nil>"}
		}
		var parts []string
		for f, err := range g.Families() {
			parts = append(parts, fmt.Sprintf("%s %d %s %t %v", f.Name, len(f.Pods), f.Pods[0].Object.Name, f.More, err))
		}
		if diff := cmp.Diff(want, parts); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for f, err := range Whole(g.Families()) {
			if len(f.Pods) != pods && name != "" || len(f.Pods) > partPods && name == "" || f.More && name != "" || err != nil {
				t.Errorf("%d Pods, %v", len(f.Pods), err)
			}
		}
	}
}

// TestNoRoom checks that failing to create the temporary file is an error.
func TestNoRoom(t *testing.T) {
	g := New("")
	g.limit, g.dir = 1, filepath.Join(t.TempDir(), "missing")
	var job Record
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"a"}}`), &job.Job); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(job); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
