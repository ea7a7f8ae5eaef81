package admission

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
)

// TestDenial denies Jobs with the API server's evaluator. Users see the message of the first decision that
// denies.
func TestDenial(t *testing.T) {
	const pages = "https://podverdict.github.io/podverdict/rules/"
	job := func(changes map[string]any) map[string]any {
		pod := map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "app"}}}
		spec := map[string]any{
			"backoffLimit": int64(3), "activeDeadlineSeconds": int64(60), "ttlSecondsAfterFinished": int64(86400),
			"template":         map[string]any{"spec": pod},
			"podFailurePolicy": map[string]any{"rules": []any{map[string]any{"action": "Ignore", "onPodConditions": []any{map[string]any{"type": "DisruptionTarget"}}}}},
		}
		maps.Copy(spec, changes)
		return spec
	}
	conditions := func(n int, name string) map[string]any {
		var rules []any
		for range n {
			rules = append(rules, map[string]any{"action": "Ignore", "onPodConditions": []any{map[string]any{"type": name, "status": name}}})
		}
		return map[string]any{"podFailurePolicy": map[string]any{"rules": rules}}
	}
	guardrails, constraints := denying(t, "G-*"), denying(t, "F*")
	for _, test := range []struct {
		name   string
		policy Policy
		spec   map[string]any
		want   string
	}{
		{"nothing is wrong", guardrails, job(nil), ""},
		{
			"several rules, each with its page", guardrails,
			job(map[string]any{"backoffLimit": int64(1000), "parallelism": int64(1_000_000), "activeDeadlineSeconds": nil, "ttlSecondsAfterFinished": int64(1)}),
			"spec.backoffLimit: Guardrail G-BACKOFF-LIMIT: 1000: must be at most 10 (" + pages + "backoff-limit-too-high); " +
				"spec.activeDeadlineSeconds: Guardrail G-DEADLINE: must be set, from 1 to 604800 (" + pages + "deadline-out-of-bounds); " +
				"spec.parallelism: Guardrail G-PARALLELISM: 1000000: must be at most 1000 (" + pages + "parallelism-too-high); " +
				"spec.ttlSecondsAfterFinished: Guardrail G-TTL: 1: must be set, from 60 to 604800 (" + pages + "ttl-out-of-bounds)",
		},
		{
			"a value of two lines", guardrails, job(map[string]any{"managedBy": "a\nb"}),
			`spec.managedBy: Guardrail G-MANAGED-BY: "a b": must be one of kubernetes.io/job-controller, kueue.x-k8s.io/multikueue, ` +
				"podverdict.io/job-controller (" + pages + "managed-by-unknown)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, deniedBecause(t, test.policy, test.spec)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("one rule is broken, and another cannot be evaluated", func(t *testing.T) {
		got := deniedBecause(t, guardrails, map[string]any{"backoffLimit": int64(1000)})
		if !strings.HasPrefix(got, "broken, one or several of these guardrails: G-BACKOFF-LIMIT, ") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("longer than the API server takes, in bytes", func(t *testing.T) {
		got := deniedBecause(t, constraints, job(conditions(20, strings.Repeat("é", 300))))
		if !strings.HasPrefix(got, "spec.podFailurePolicy.rules[0].") || !strings.HasSuffix(got, " ... and more") {
			t.Errorf("got %q", got)
		}
	})
}

// denying returns a policy that denies violations of the matching rules.
func denying(t *testing.T, pattern string) Policy {
	t.Helper()
	selections, err := Select([]string{pattern}, nil)
	if err != nil {
		t.Fatal(err)
	}
	deny := []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	all, err := selections[0].Policies(Options{
		Name: "test", Kubernetes: "1.37", Target: jobTarget(t), Failure: admissionregistrationv1.Ignore, Actions: Actions{"error": deny, "warning": deny},
	})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// deniedBecause returns the message of the first decision that denies a Job.
func deniedBecause(t *testing.T, p Policy, spec map[string]any) string {
	t.Helper()
	server := evaluator.New(p.Definition)
	target := jobTarget(t)
	result, err := server.Evaluate(t.Context(), apiserver.Review{
		Kind: target.Kind, Operation: admission.Create, Object: &unstructured.Unstructured{Object: target.object(spec)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Decisions {
		if d.Action == validating.ActionDeny {
			return d.Message
		}
	}
	return ""
}
