package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// TestMembership: a Pod belongs to a Job when namespace, group, kind, name and uid of its controller say so. A label says so
// only of a Pod without a controller, in its own namespace.
func TestMembership(t *testing.T) {
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"demo","namespace":"a"%s}}`
	const other = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"other","namespace":"a","uid":"9"}}`
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"%s}}`
	owner := func(apiVersion, kind, name, uid string) string {
		return fmt.Sprintf(`,"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]`, apiVersion, kind, name, uid)
	}
	const live, a, b, label = `,"uid":"1"`, `,"namespace":"a"`, `,"namespace":"b"`, `,"labels":{"job-name":"demo"}`
	for _, c := range []struct {
		name, job, pod string
		want           bool
	}{
		{"all fits", live, a + owner("batch/v1", "Job", "demo", "1"), true},
		{"another version of the group", live, a + owner("batch/v2", "Job", "demo", "1"), true},
		{"a Job of a file has no uid", "", a + owner("batch/v1", "Job", "demo", "1"), true},
		{"another uid", live, a + owner("batch/v1", "Job", "demo", "2"), false},
		{"the uid of another Job", live, a + owner("batch/v1", "Job", "demo", "9"), false},
		{"no uid", live, a + owner("batch/v1", "Job", "demo", ""), false},
		{"another namespace", live, b + owner("batch/v1", "Job", "demo", "1"), false},
		{"the default namespace", live, owner("batch/v1", "Job", "demo", "1"), false},
		{"another group", live, a + owner("example.com/v1", "Job", "demo", "1"), false},
		{"no group", live, a + owner("v1", "Job", "demo", "1"), false},
		{"another kind", live, a + owner("batch/v1", "CronJob", "demo", "1"), false},
		{"another name", live, a + owner("batch/v1", "Job", "demo2", "1"), false},
		{"the label of a Pod with another controller", live, a + label + owner("apps/v1", "ReplicaSet", "demo", "1"), false},
		{"the label of a Pod with another uid", live, a + label + owner("batch/v1", "Job", "demo", "2"), false},
		{"label", live, a + label, true},
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
	set, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: strings.NewReader(input)})
	if err != nil {
		t.Fatal(err)
	}
	families, others, err := set.Families()
	if err == nil && len(families[0].Pods)+len(others) != 1 {
		t.Errorf("%s: %d Pods of the Job, %d others", name, len(families[0].Pods), len(others))
	}
	if got := err == nil && len(families[0].Pods) == 1; got != want {
		t.Errorf("%s: belongs to the Job: %t, %v, %v", name, got, others, err)
	}
}
