package custom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
)

// TestExpressions checks the type and the cost of every expression, and that the costs add up.
func TestExpressions(t *testing.T) {
	spec := rules("variables.codes.size() > 1", "true")
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "has(job.spec.suspend)"}}
	spec.Variables = []v1alpha1.Variable{{Name: "codes", Expression: "pod.failedContainers().map(c, c.exitCode)"}}
	spec.Rules[0].MessageExpression = "'so ' + 'it is'"
	policy := compile(t, newEnvironment(t), spec)
	var got []string
	total := uint64(0)
	for _, x := range policy.Expressions() {
		got = append(got, x.Field+" "+x.Type.String()+": "+x.Text)
		total += x.Cost
	}
	want := []string{
		"spec.matchConditions[0].expression bool: has(job.spec.suspend)",
		"spec.variables[0].expression list(int): pod.failedContainers().map(c, c.exitCode)",
		"spec.rules[0].when bool: variables.codes.size() > 1",
		"spec.rules[0].messageExpression string: 'so ' + 'it is'",
		"spec.rules[1].when bool: true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if total != policy.Cost {
		t.Errorf("costs are %d, together %d", total, policy.Cost)
	}
}

func TestAlways(t *testing.T) {
	pending := rules("pod.metadata.name == 'x'", "true")
	pending.Rules[1].Phase = corev1.PodPending
	for _, c := range []struct {
		spec *v1alpha1.PodFailurePolicySpec
		want int
	}{
		{rules("attempt > 2", "true"), 1},
		{rules("true", "true"), 0},
		{rules("attempt > 2"), compiler.NoRule},
		{pending, compiler.NoRule},
	} {
		if got := compile(t, newEnvironment(t), c.spec).AlwaysMatching(); got != c.want {
			t.Errorf("%v: rule %d always matches, want %d", c.spec.Rules, got, c.want)
		}
	}
}

func TestTypeChecking(t *testing.T) {
	env := newEnvironment(t)
	if got := custom.TypeChecking(nil); got != nil {
		t.Errorf("nothing to say is %v", got)
	}
	spec := rules("pod.status.reason == 'x'", "pod.fase == 'x'")
	got := custom.TypeChecking(findingsOf(t, env, spec))
	want := &v1alpha1.TypeChecking{Findings: []v1alpha1.Finding{
		{Rule: "r1", Field: "spec.rules[1].when", Message: "1:5: error: Pod has no field \"fase\" (expression-type)\n | pod.fase == 'x'\n | ....^\n   there are apiVersion, kind, metadata, spec, status"},
		{Rule: "r0", Field: "spec.rules[0].when", Message: "1:12: warning: pod.status.reason may be absent, which is an error here (unguarded-field)\n | pod.status.reason == 'x'\n | ...........^\n   write pod.status.?reason.orValue(''), or ask has(pod.status.reason) first"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := rules()
	for i := range 60 {
		many.Rules = append(many.Rules, v1alpha1.Rule{
			Name: fmt.Sprint("r", i), When: "pod.fase == '" + strings.Repeat("x", 4000) + "' && pod.fase == 'y'", MessageExpression: "pod.fase",
		})
	}
	got = custom.TypeChecking(findingsOf(t, env, many))
	if len(got.Findings) != 100 || !strings.HasSuffix(got.Findings[99].Message, "and 80 more findings, in all fields") {
		t.Errorf("%d findings, the last is %s", len(got.Findings), got.Findings[len(got.Findings)-1].Message)
	}
	policy := &v1alpha1.PodFailurePolicy{Status: v1alpha1.PodFailurePolicyStatus{TypeChecking: got}}
	for _, f := range policy.Status.TypeChecking.Findings {
		if len([]rune(f.Message)) > 2048 {
			t.Errorf("a message of %d characters", len([]rune(f.Message)))
		}
	}
}
