package binding_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime/binding"
)

// TestCompile checks that the last good version of a policy that does not compile stays in effect: the version before, or else
// the one in its status.
func TestCompile(t *testing.T) {
	const good, bad = "true", "pod.nonsense"
	version := func(uid types.UID, generation int64, when string) *v1alpha1.PodFailurePolicy {
		p := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "oom", UID: uid, Generation: generation}}
		p.Spec.Rules = []v1alpha1.Rule{{Name: "always", When: when, Action: batchv1.PodFailurePolicyActionIgnore}}
		p.SetDefaults()
		return p
	}
	kept := func(p *v1alpha1.PodFailurePolicy, generation int64, when string) *v1alpha1.PodFailurePolicy {
		p.Status.LastGood = &v1alpha1.LastGood{Generation: generation, Spec: version("", 0, when).Spec}
		return p
	}
	for name, c := range map[string]struct {
		versions []*v1alpha1.PodFailurePolicy
		inForce  int64 // generation in force, 0 for none
		keeps    int64
		restored string // the reason why the version in the status is not in effect
	}{
		"good":                             {[]*v1alpha1.PodFailurePolicy{version("a", 1, good)}, 1, 1, ""},
		"bad":                              {[]*v1alpha1.PodFailurePolicy{version("a", 1, bad)}, 0, 0, ""},
		"bad after good":                   {[]*v1alpha1.PodFailurePolicy{version("a", 1, good), version("a", 2, bad), version("a", 3, bad)}, 1, 1, ""},
		"good after bad":                   {[]*v1alpha1.PodFailurePolicy{version("a", 1, bad), version("a", 2, good)}, 2, 2, ""},
		"bad after another of its name":    {[]*v1alpha1.PodFailurePolicy{version("a", 1, good), version("b", 2, bad)}, 0, 0, ""},
		"bad with a version in the status": {[]*v1alpha1.PodFailurePolicy{kept(version("a", 7, bad), 5, good)}, 5, 5, ""},
		"bad after a newer version than the status keeps": {[]*v1alpha1.PodFailurePolicy{version("a", 6, good), kept(version("a", 7, bad), 5, good)}, 6, 6, ""},
		"bad with a bad version in the status":            {[]*v1alpha1.PodFailurePolicy{kept(version("a", 7, bad), 5, bad)}, 0, 0, "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := language()
			if err != nil {
				t.Fatal(err)
			}
			var v *binding.Version
			for _, p := range c.versions {
				v = binding.Compile(e, p, v)
			}
			last := c.versions[len(c.versions)-1]
			if !v.Is(last) || v.Is(version("other", last.Generation, good)) || (v.Err == nil) != (v.InForceGeneration == last.Generation) {
				t.Errorf("of generation %d: %+v", last.Generation, v)
			}
			if v.InForceGeneration != c.inForce || (v.InForce != nil) != (c.inForce != 0) {
				t.Errorf("generation %d is in force (%v), want %d", v.InForceGeneration, v.InForce != nil, c.inForce)
			}
			if (v.LastGood != nil) != (c.keeps != 0) || v.LastGood != nil && v.LastGood.Generation != c.keeps {
				t.Errorf("the status keeps %+v, want generation %d", v.LastGood, c.keeps)
			}
			if got := fmt.Sprint(v.LastGoodErr); c.restored == "" && v.LastGoodErr != nil || !strings.Contains(got, c.restored) {
				t.Errorf("the version in the status: %s, want %q", got, c.restored)
			}
		})
	}
}
