package manifest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever the order in which Jobs and Pods come, and how many at a time, a Pod gets the Job that it has in the whole input.
func TestMembersOfAnyOrder(t *testing.T) {
	const jobs = 5
	var input strings.Builder
	for i := range jobs {
		fmt.Fprintf(&input, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job-%d","namespace":"a"}}`, i)
	}
	for i := range 30 {
		fmt.Fprintf(&input, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","namespace":"a","labels":{"job-name":"job-%d"}}}`, i, i%(jobs+2))
	}
	fmt.Fprint(&input, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare","namespace":"a"}}`)
	whole, err := Read(t.Context(), Options{Filenames: []string{"-"}, Stdin: strings.NewReader(input.String())})
	if err != nil {
		t.Fatal(err)
	}
	families, others, err := whole.Families()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range families {
		for _, p := range f.Pods {
			want[p.Object.Name] = f.Job.Object.Name
		}
	}
	if len(want) != 22 || len(others) != 9 {
		t.Fatalf("%d Pods of Jobs, %d others", len(want), len(others))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		stream := &Stream{collector: &collector{Set: &Set{}}}
		members, got := stream.Members(), map[string]string{}
		take := func(found map[int][]Pod) {
			for i, pods := range found {
				for _, p := range pods {
					got[p.Object.Name] = members.set.Jobs[i].Object.Name
				}
			}
		}
		var pods []Pod
		for _, i := range r.Perm(len(whole.Jobs) + len(whole.Pods)) {
			if i < len(whole.Jobs) {
				members.set.Jobs = append(members.set.Jobs, whole.Jobs[i])
			} else {
				pods = append(pods, whole.Pods[i-len(whole.Jobs)])
			}
			if r.IntN(3) == 0 {
				found, err := members.Of(pods)
				if err != nil {
					t.Fatal(err)
				}
				take(found)
				pods = nil
			}
		}
		found, err := members.Of(pods)
		if err != nil {
			t.Fatal(err)
		}
		take(found)
		take(members.Rest())
		if diff := cmp.Diff(want, got); diff != "" || members.Others != len(others) {
			t.Fatalf("%d others (-whole +stream)\n%s", members.Others, diff)
		}
	}
}
