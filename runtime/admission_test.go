package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
)

// admittedAs is the origin of a Job as an admission policy sees it.
type admittedAs struct {
	object custom.AdmittedObject
	read   func() (kind.Kind, error)
	from   func(*batchv1.Job) runtime.Object
}

var (
	asJob     = admittedAs{custom.AdmittedJob, kind.Job, func(job *batchv1.Job) runtime.Object { return job }}
	asCronJob = admittedAs{custom.AdmittedCronJob, kind.CronJob, func(job *batchv1.Job) runtime.Object {
		return &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: job.Namespace},
			Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: job.Labels, Annotations: job.Annotations}, Spec: job.Spec,
			}},
		}
	}}
)

// TestConditionsAreTheSameAtAdmission checks that the API server's admission policy, when a Job or a
// CronJob is created, evaluates match conditions to the same results, including errors, as the policy
// does later for the Job.
func TestConditionsAreTheSameAtAdmission(t *testing.T) {
	env := newEnvironment(t)
	jobSpec, _ := env.Schema.Type("JobSpec")
	for name, as := range map[string]admittedAs{"Job": asJob, "CronJob": asCronJob} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]int{}
			for seed := range uint64(draws(60, 12)) {
				r := rand.New(rand.NewPCG(seed, 5))
				a := &asker{Rand: r, schema: env.Schema}
				question := a.ask("job.spec", jobSpec, 5)
				if r.IntN(3) == 0 {
					labels, _ := env.Schema.Type("ObjectMeta")
					field, _ := labels.Field(pick(r, []string{"labels", "annotations", "namespace"}))
					question = a.end("job.metadata."+field.Name, field.Type, 1) + pick(r, []string{" && ", " || "}) + question
				}
				as.compare(t, env, question, r, answers)
			}
			t.Log(answers)
			for _, answer := range []string{"true", "false", "error"} {
				if answers[answer] < draws(12, 1) {
					t.Errorf("%d answers are %s: the questions are too much alike", answers[answer], answer)
				}
			}
		})
	}
}

// compare evaluates a question with the policy and with the API server for a few Jobs.
func (as admittedAs) compare(t *testing.T, env *compiler.Environment, question string, r *rand.Rand, answers map[string]int) {
	t.Helper()
	spec := rules("true")
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "asked", Expression: question}}
	policy, err := newPolicy(env, spec)
	if err != nil {
		answers["refused"]++
		return
	}
	conditions, err := custom.ForAdmission(env, spec, as.object)
	if err != nil {
		answers["not at admission"]++
		return
	}
	server := newAdmission(t, as, conditions)
	for range 4 {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "n"}, Spec: *randomObject[batchv1.JobSpec](r)}
		job.Labels, job.Annotations = *randomObject[map[string]string](r), *randomObject[map[string]string](r)
		want := "error"
		if applies, err := policy.Applies(t.Context(), job); err == nil {
			want = fmt.Sprint(applies)
		}
		if got := server.ask(t, as.from(job)); got != want {
			t.Fatalf("%s is %s of\n%+v\nand at admission\n%s is %s", question, want, job, conditions[0].Expression, got)
		}
		answers[want]++
	}
}

// admissionServer is the API server with a policy that rejects objects for which its match conditions
// are true.
type admissionServer struct {
	*evaluator.Evaluator

	kind kind.Kind
}

func newAdmission(tb testing.TB, as admittedAs, conditions []v1alpha1.MatchCondition) admissionServer {
	tb.Helper()
	k, err := as.read()
	if err != nil {
		tb.Fatal(err)
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{k.Group}, APIVersions: []string{k.Version}, Resources: []string{k.Resource},
				},
			},
		}}},
		Validations: []admissionregistrationv1.Validation{{Expression: "false"}},
	}}
	for _, c := range conditions {
		policy.Spec.MatchConditions = append(policy.Spec.MatchConditions, admissionregistrationv1.MatchCondition(c))
	}
	server := evaluator.New(policy)
	return admissionServer{server, k}
}

// ask returns whether the conditions are true, false, or an error.
func (s admissionServer) ask(tb testing.TB, object runtime.Object) string {
	tb.Helper()
	result, err := s.Evaluate(tb.Context(), apiserver.Review{Kind: s.kind, Operation: admission.Create, Object: object})
	switch {
	case err != nil:
		tb.Fatal(err)
	case len(result.Decisions) == 1 && result.Decisions[0].Evaluation == validating.EvalError:
		return "error"
	}
	return fmt.Sprint(len(result.Decisions) > 0)
}
