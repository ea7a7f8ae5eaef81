package custom_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/compiler/custom"
)

// admittedAs is where a Job comes from, as an admission policy sees it.
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

// TestConditionsAreTheSameAtAdmission holds that the API server, asked by an admission
// policy when a Job or a CronJob is created, says of match conditions what the policy
// says of the Job later, errors included.
func TestConditionsAreTheSameAtAdmission(t *testing.T) {
	env := newEnvironment(t)
	jobSpec, _ := env.Schema().Type("JobSpec")
	for name, as := range map[string]admittedAs{"Job": asJob, "CronJob": asCronJob} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]int{}
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 5))
				a := &asker{Rand: r, schema: env.Schema()}
				question := a.ask("job.spec", jobSpec, 5)
				if r.IntN(3) == 0 {
					labels, _ := env.Schema().Type("ObjectMeta")
					field, _ := labels.Field(pick(r, []string{"labels", "annotations", "namespace"}))
					question = a.end("job.metadata."+field.Name, field.Type, 1) + pick(r, []string{" && ", " || "}) + question
				}
				as.compare(t, env, question, r, answers)
			}
			t.Log(answers)
			for _, answer := range []string{"true", "false", "error"} {
				if answers[answer] < 12 {
					t.Errorf("%d answers are %s: the questions are too much alike", answers[answer], answer)
				}
			}
		})
	}
}

// compare asks the policy and the API server of a few Jobs.
func (as admittedAs) compare(t *testing.T, env *custom.Environment, question string, r *rand.Rand, answers map[string]int) {
	t.Helper()
	spec := rules("true")
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "asked", Expression: question}}
	policy, err := env.Compile(spec)
	if err != nil {
		answers["refused"]++
		return
	}
	conditions, err := env.ForAdmission(spec, as.object)
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

// admissionServer is the API server with a policy that refuses what its match conditions are true of.
type admissionServer struct {
	*apiserver.Evaluator

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
	evaluator, err := apiserver.NewEvaluator(policy)
	if err != nil {
		tb.Fatal(err)
	}
	return admissionServer{evaluator, k}
}

// ask is whether the conditions are true, false, or an error.
func (s admissionServer) ask(tb testing.TB, object runtime.Object) string {
	tb.Helper()
	d, err := s.Evaluate(tb.Context(), apiserver.Review{Kind: s.kind, Operation: admission.Create, Object: object})
	switch {
	case err != nil:
		tb.Fatal(err)
	case len(d.Failures) == 1 && d.Failures[0].Errored:
		return "error"
	}
	return fmt.Sprint(d.Matched)
}

// TestForAdmission names the Job in its conditions as an admission policy does, and
// nothing else.
func TestForAdmission(t *testing.T) {
	env := newEnvironment(t)
	for _, tc := range []struct{ condition, job, cronJob string }{
		{
			"job.metadata.?labels[?'team'].orValue('') == 'job.metadata' // job",
			"object.metadata.?labels[?'team'].orValue('') == 'job.metadata' // job",
			"object.spec.jobTemplate.metadata.?labels[?'team'].orValue('') == 'job.metadata' // job",
		},
		{
			"job.metadata.namespace.startsWith('gpu-') &&\n\tjob . spec.?activeDeadlineSeconds.orValue(0) > 60",
			"object.metadata.namespace.startsWith('gpu-') &&\n\tobject . spec.?activeDeadlineSeconds.orValue(0) > 60",
			"object.metadata.namespace.startsWith('gpu-') &&\n\tobject.spec.jobTemplate . spec.?activeDeadlineSeconds.orValue(0) > 60",
		},
		{
			"['ä'].exists(job, job == 'ä') || has(job.spec.podFailurePolicy)",
			"['ä'].exists(job, job == 'ä') || has(object.spec.podFailurePolicy)",
			"['ä'].exists(job, job == 'ä') || has(object.spec.jobTemplate.spec.podFailurePolicy)",
		},
		{ // the API server wants a bool, and does not know that these are some
			"job.spec.suspend // paused", "(object.spec.suspend // paused\n) == true", "",
		},
		{
			"job.?spec.template.?metadata.labels.optMap(l, l['a'] == job.metadata.namespace).orValue(false)",
			"object.?spec.template.?metadata.labels.optMap(l, l['a'] == object.metadata.namespace).orValue(false)",
			"object.spec.jobTemplate.?spec.template.?metadata.labels.optMap(l, l['a'] == object.metadata.namespace).orValue(false)",
		},
	} {
		spec := &v1alpha1.PodFailurePolicySpec{MatchConditions: []v1alpha1.MatchCondition{{Name: "a", Expression: tc.condition}}}
		for _, to := range []struct {
			object custom.AdmittedObject
			want   string
		}{{custom.AdmittedJob, tc.job}, {custom.AdmittedCronJob, tc.cronJob}} {
			if to.want == "" {
				continue
			}
			got, err := env.ForAdmission(spec, to.object)
			if err != nil {
				t.Errorf("%s: %v", tc.condition, err)
				continue
			}
			if diff := cmp.Diff([]v1alpha1.MatchCondition{{Name: "a", Expression: to.want}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
}

// TestForAdmissionRefuses what would mean something else.
func TestForAdmissionRefuses(t *testing.T) {
	env := newEnvironment(t)
	for _, tc := range []struct {
		to              custom.AdmittedObject
		condition, want string
	}{
		{custom.AdmittedJob, "job.status.?failed.orValue(0) < 3", `spec.matchConditions[0].expression:1:1: error: job.status is not known when a Job is created, or changes later (not-at-admission)
 | job.status.?failed.orValue(0) < 3
 | ^`},
		{custom.AdmittedJob, "job.metadata.generation == 1 || job == job", `spec.matchConditions[0].expression:1:1: error: job.metadata.generation is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.generation == 1 || job == job
 | ^
spec.matchConditions[0].expression:1:33: error: job is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.generation == 1 || job == job
 | ................................^
spec.matchConditions[0].expression:1:40: error: job is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.generation == 1 || job == job
 | .......................................^`},
		{custom.AdmittedJob, "job.metadata.creationTimestamp > timestamp(0)", `spec.matchConditions[0].expression:1:14: error: job.metadata.creationTimestamp is a string in admission policies, and not what it is here (not-at-admission)
 | job.metadata.creationTimestamp > timestamp(0)
 | .............^
spec.matchConditions[0].expression:1:1: error: job.metadata.creationTimestamp is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.creationTimestamp > timestamp(0)
 | ^`},
		{custom.AdmittedJob, "job.spec.template.metadata.?creationTimestamp.hasValue()", `spec.matchConditions[0].expression:1:29: error: job.spec.template.metadata.?creationTimestamp is a string in admission policies, and not what it is here (not-at-admission)
 | job.spec.template.metadata.?creationTimestamp.hasValue()
 | ............................^`},
		{custom.AdmittedJob, "['a'].exists(object, job.metadata.name == object)", `spec.matchConditions[0].expression:1:22: error: an admission policy calls the Job object, which is the name of a loop's variable here (not-at-admission)
 | ['a'].exists(object, job.metadata.name == object)
 | .....................^
   give that variable another name`},
		{custom.AdmittedJob, "dyn(job.spec.template) == {} || '%s'.format(job.spec.template.spec.containers) == ''", `spec.matchConditions[0].expression:1:14: error: job.spec.template is a map in admission policies, and no object as here: dyn() tells them apart (not-at-admission)
 | dyn(job.spec.template) == {} || '%s'.format(job.spec.template.spec.containers) == ''
 | .............^
spec.matchConditions[0].expression:1:68: error: job.spec.template.spec.containers is a map in admission policies, and no object as here: format() tells them apart (not-at-admission)
 | dyn(job.spec.template) == {} || '%s'.format(job.spec.template.spec.containers) == ''
 | ...................................................................^`},
		{custom.AdmittedJob, "job.?status.?active.optMap(n, n > 1).orValue(false)", `spec.matchConditions[0].expression:1:1: error: job.?status is not known when a Job is created, or changes later (not-at-admission)
 | job.?status.?active.optMap(n, n > 1).orValue(false)
 | ^`},
		{custom.AdmittedCronJob, "job.metadata.name == 'a'", `spec.matchConditions[0].expression:1:1: error: job.metadata.name is not known when a CronJob is created: its Jobs get theirs later (not-at-admission)
 | job.metadata.name == 'a'
 | ^`},
		{custom.AdmittedCronJob, "job.spec.backoffLimit > 3", `spec.matchConditions[0].expression:1:10: error: a CronJob may lack backoffLimit, which the API server sets in its Jobs (not-at-admission)
 | job.spec.backoffLimit > 3
 | .........^`},
		{custom.AdmittedJob, "job.", `spec.matchConditions[0].expression:1:5: error: "." is not expected here (syntax)
 | job.
 | ....^`},
	} {
		spec := &v1alpha1.PodFailurePolicySpec{MatchConditions: []v1alpha1.MatchCondition{{Name: "a", Expression: tc.condition}}}
		_, err := env.ForAdmission(spec, tc.to)
		if _, ok := errors.AsType[*custom.Error](err); !ok {
			t.Errorf("%s: %v", tc.condition, err)
			continue
		}
		if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.condition, diff)
		}
	}
}
