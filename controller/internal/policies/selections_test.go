package policies

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/internal/recorder"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// TestMatchConditionsAreEvaluatedOnce checks that match conditions are evaluated once for each version of the Job, its
// namespace and the policies, and that a problem is evaluated again after a while. Each evaluation returns a new problem,
// which shows that it took place.
func TestMatchConditionsAreEvaluatedOnce(t *testing.T) {
	r := registryOf(t, 8)
	clock := clocktesting.NewFakeClock(time.Now())
	r.clock = clock
	change := func(expression string) {
		p := scalePolicy("team-7", "Ignore")
		p.Generation = r.versions["team-7"].Generation + 1
		p.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "broken", Expression: expression}}
		fixtures.Put(t, r.policies.GetIndexer().Update(p))
		r.build(t.Context())
	}
	r.build(t.Context())
	change("int(job.metadata.annotations['long']) > 0")
	job := scaleJob()
	job.UID, job.ResourceVersion = "a", "1"
	job.Annotations = map[string]string{"long": strings.Repeat("x", 200_000)}
	ask := func(job *batchv1.Job) any {
		t.Helper()
		s := selectionOf(t, r, job)
		if len(s.Problems) != 1 || len(s.Problems[0].Err.Error()) > recorder.MaxNote {
			t.Fatalf("the problems: %v", s.Problems)
		}
		return s.Problems[0]
	}
	last := ask(job)
	for _, step := range []struct {
		name  string
		do    func()
		again bool
	}{
		{"nothing changes", func() {}, false},
		{"half a minute later", func() { clock.Step(30 * time.Second) }, false},
		{"a minute later", func() { clock.Step(31 * time.Second) }, true},
		{"the Job changes", func() {
			job = job.DeepCopy()
			job.ResourceVersion = "2"
		}, true},
		{"another Job of the name", func() {
			job = job.DeepCopy()
			job.UID = "b"
		}, true},
		{"the namespace changes", func() {
			fixtures.Put(t, r.namespaces.GetIndexer().Update(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: "default", ResourceVersion: "2", Labels: map[string]string{"team": "team-7"},
			}}))
		}, true},
		{"a policy changes", func() { change("int(job.metadata.annotations['long']) > 1") }, true},
		{"the Job is gone", func() { r.JobGone(job) }, true},
	} {
		step.do()
		if next := ask(job); (next != last) != step.again {
			t.Errorf("%s: evaluated again: %t", step.name, next != last)
		} else {
			last = next
		}
	}
	if n := r.selections.cache().Len(); n != 1 {
		t.Errorf("%d selections are kept, want that of one Job", n)
	}
}
