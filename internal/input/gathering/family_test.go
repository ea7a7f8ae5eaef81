package gathering

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// TestMembership checks that a Pod belongs to a Job if namespace, group, kind, name and uid of its controller match. A label counts only
// for a Pod without a controller, in its own namespace.
func TestMembership(t *testing.T) {
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"demo","namespace":"a"%s}}`
	const other = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"other","namespace":"a","uid":"9"}}`
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"%s}}`
	owner := func(apiVersion, kind, name, uid string) string {
		return fmt.Sprintf(`,"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]`, apiVersion, kind, name, uid)
	}
	const live, a, b, label = `,"uid":"1"`, `,"namespace":"a"`, `,"namespace":"b"`, `,"labels":{"batch.kubernetes.io/job-name":"demo"}`
	for _, c := range []struct {
		name, job, pod string
		want           bool
	}{
		{"all fits", live, a + owner("batch/v1", "Job", "demo", "1"), true},
		{"another version of the group", live, a + owner("batch/v2", "Job", "demo", "1"), true},
		{"a Job of a file has no uid", "", a + owner("batch/v1", "Job", "demo", "1"), true},
		{"another uid", live, a + owner("batch/v1", "Job", "demo", "2"), false},
		{"the uid of another Job", live, a + owner("batch/v1", "Job", "demo", "9"), false},
		{"a controller of a file has no uid", live, a + owner("batch/v1", "Job", "demo", ""), true},
		{"another namespace", live, b + owner("batch/v1", "Job", "demo", "1"), false},
		{"the default namespace", live, owner("batch/v1", "Job", "demo", "1"), false},
		{"another group", live, a + owner("example.com/v1", "Job", "demo", "1"), false},
		{"no group", live, a + owner("v1", "Job", "demo", "1"), false},
		{"another kind", live, a + owner("batch/v1", "CronJob", "demo", "1"), false},
		{"another name", live, a + owner("batch/v1", "Job", "demo2", "1"), false},
		{"the label of a Pod with another controller", live, a + label + owner("apps/v1", "ReplicaSet", "demo", "1"), false},
		{"the label of a Pod with another uid", live, a + label + owner("batch/v1", "Job", "demo", "2"), false},
		{"label", live, a + label, true},
		{"the label of old", live, a + strings.ReplaceAll(label, "batch.kubernetes.io/", ""), true},
		{"the label of a Pod with an owner that is no controller", live,
			a + label + strings.ReplaceAll(owner("batch/v1", "Job", "other", "9"), `true`, `false`), true},
		{"label in another namespace", live, b + label, false},
		{"label in the default namespace", live, label, false},
	} {
		for others, more := range map[string]string{"alone": "", "beside another": other} {
			input := fmt.Sprintf(job, c.job) + more + fmt.Sprintf(pod, c.pod)
			checkMembership(t, c.name+", "+others, input, c.want)
		}
	}
	for name, c := range map[string]struct {
		job, pod string
		want     bool
	}{
		"neither":                   {live, a, true},
		"neither, and no namespace": {live, "", true},
		"neither, and elsewhere":    {live, b, false},
	} {
		checkMembership(t, name, fmt.Sprintf(job, c.job)+fmt.Sprintf(pod, c.pod), c.want)
	}
}

func checkMembership(t *testing.T, name, input string, want bool) {
	t.Helper()
	families, others := read(t, input)
	got := len(others) == 0
	for _, f := range families {
		if len(f.Pods) > 0 && f.Job.Object.Name != "demo" {
			t.Errorf("%s: the Pod belongs to Job %s", name, f.Job.Object.Name)
		}
	}
	if got != want || len(others) > 1 {
		t.Errorf("%s: belongs to the Job: %t, %v", name, got, others)
	}
}

// TestMadeJobs checks that a Pod of a Job that is not in the input belongs to the Job that its CronJob, JobSet or generateName would
// create.
func TestMadeJobs(t *testing.T) {
	const cronJob = `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"nightly","namespace":"a"}}`
	const generated = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"nightly-","namespace":"a"}}`
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"nightly","namespace":"a"}}`
	const given = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"nightly-29398740","namespace":"a"}}`
	for name, c := range map[string]struct{ input, job, want string }{
		"a CronJob's":               {cronJob, "nightly-29398740", "nightly-29398740 of nightly"},
		"with generateName":         {generated, "nightly-x7k2p", "nightly-x7k2p of nightly-"},
		"of one of two makers":      {cronJob + generated, "nightly-29398740", "nightly-29398740 of nightly"},
		"of two of one name":        {generated + generated, "nightly-x7k2p", "none"},
		"that is there":             {cronJob + given, "nightly-29398740", "nightly-29398740 of "},
		"of no maker":               {job, "nightly-29398740", "none"},
		"of another name":           {cronJob, "hourly-29398740", "none"},
		"with an unlikely name":     {cronJob, "nightly-report", "none"},
		"in another namespace":      {strings.ReplaceAll(cronJob, `"a"`, `"b"`), "nightly-29398740", "none"},
		"whose name is that of one": {cronJob, "nightly", "nightly of "},
	} {
		pod := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","labels":{"job-name":%q}}}`, c.job)
		families, _ := read(t, c.input+pod+pod)
		got := "none"
		for _, f := range families {
			if len(f.Pods) == 2 {
				got = f.Job.Reference().Name + " of " + f.Job.MadeBy
			}
		}
		if got != c.want {
			t.Errorf("a Job %s: Pods belong to %s, want %s", name, got, c.want)
		}
	}
}

// read returns the Jobs of an input with their Pods, and the reasons why other Pods belong to no Job.
func read(t *testing.T, input string) (families []Family, others []error) {
	t.Helper()
	g, err := Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(input)}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range g.Families() {
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Job == nil:
			others = append(others, f.Others()...)
		default:
			families = append(families, f)
		}
	}
	return families, others
}
