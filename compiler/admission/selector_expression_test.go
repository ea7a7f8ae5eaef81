package admission

import (
	"math/rand/v2"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
)

// TestSelectorsAsExpressions checks that a label selector converted to CEL selects the same labels.
func TestSelectorsAsExpressions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	target := cronJobTarget(t)
	values := []string{"", "a", "b"}
	operators := []metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}
	some := func() map[string]string {
		labels := map[string]string{}
		for _, key := range []string{"app", "example.com/team"} {
			if r.IntN(2) == 0 {
				labels[key] = values[r.IntN(3)]
			}
		}
		return labels
	}
	selected := 0
	const selectors, jobs = 40, 6
	for range selectors {
		s := &metav1.LabelSelector{}
		if r.IntN(2) == 0 {
			s.MatchLabels = some()
		}
		for range r.IntN(3) {
			e := metav1.LabelSelectorRequirement{Key: []string{"app", "example.com/team"}[r.IntN(2)], Operator: operators[r.IntN(4)]}
			if e.Operator == "In" || e.Operator == "NotIn" {
				e.Values = values[r.IntN(3):]
			}
			s.MatchExpressions = append(s.MatchExpressions, e)
		}
		want, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			t.Fatal(err)
		}
		server := selecting(t, target, selects(s, "object.spec.jobTemplate.metadata.?labels"))
		for range jobs {
			given := some()
			cron := &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: given}}}}
			result, err := server.Evaluate(t.Context(), apiserver.Review{Kind: target.Kind, Operation: admission.Create, Object: cron})
			if err != nil {
				t.Fatal(err)
			}
			isSelected := len(result.Decisions) > 0
			if isSelected != want.Matches(labels.Set(given)) || isSelected && result.Decisions[0].Evaluation == validating.EvalError {
				t.Errorf("%v and labels %v: %+v", s, given, result.Decisions)
			}
			if isSelected {
				selected++
			}
		}
	}
	if selected < selectors*jobs/5 || selected > selectors*jobs*4/5 {
		t.Errorf("%d of %d are selected: the selectors are too much alike", selected, selectors*jobs)
	}
}

func selecting(t *testing.T, target Target, condition string) *evaluator.Evaluator {
	t.Helper()
	p := (&Selection{catalogue: &Catalogue{Name: "tests"}}).policy(Options{}, nil, nil, matching{
		constraints: target.matchResources(admissionregistrationv1.Create), conditions: []admissionregistrationv1.MatchCondition{{Name: "selected", Expression: condition}},
	})
	p.Definition.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "false"}}
	p.Definition.Spec.AuditAnnotations = nil
	server := evaluator.New(p.Definition)
	return server
}
