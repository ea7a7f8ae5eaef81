package admission_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// mutationOptions returns the options of a policy for a kind.
func mutationOptions(k kind.Kind) admission.Options {
	return admission.Options{
		Name: "test", Kubernetes: compiler.DefaultVersion, Failure: admissionregistrationv1.Ignore, Target: admission.Target{Kind: k},
	}
}

func specOf(t testing.TB, text string) batchv1.JobSpec {
	t.Helper()
	var spec batchv1.JobSpec
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func defaultsOf(t testing.TB, text string) *batchv1.JobSpec {
	t.Helper()
	spec := specOf(t, text)
	if errs := admission.CheckDefaults(&spec); len(errs) > 0 {
		t.Fatal(errs)
	}
	return &spec
}

const allDefaults = `
backoffLimit: 3
backoffLimitPerIndex: 1
maxFailedIndexes: 5
activeDeadlineSeconds: 3600
ttlSecondsAfterFinished: 600
managedBy: example.com/controller
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
  - {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}
  - {action: FailIndex, onExitCodes: {containerName: main, operator: NotIn, values: [0, 1]}}
`

func TestIllegalDefaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"none":         {"parallelism: 3", "spec: Required value: at least one of podFailurePolicy, podReplacementPolicy, "},
		"negative":     {"backoffLimit: -1", "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"},
		"deadline":     {"activeDeadlineSeconds: -1", "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"},
		"indexes":      {"maxFailedIndexes: 100001", "spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000"},
		"replacement":  {"podReplacementPolicy: Never", `spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"`},
		"replacements": {"podReplacementPolicy: TerminatingOrFailed\npodFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: A}]}]}", `spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`},
		"manager":      {"managedBy: kueue", `spec.managedBy: Invalid value: "kueue": must be a domain-prefixed path (such as "acme.io/foo")`},
		"long manager": {"managedBy: a/" + strings.Repeat("b", 62), "spec.managedBy: Too long: may not be more than 63 bytes"},
		"no rules":     {"podFailurePolicy: {rules: []}", "spec.podFailurePolicy.rules: Required value: a policy without rules decides nothing"},
		"rule":         {"podFailurePolicy: {rules: [{action: Ignor, onPodConditions: [{type: A}]}]}", `spec.podFailurePolicy.rules[0].action: Unsupported value: "Ignor": supported values: "Count", "FailIndex", "FailJob", "Ignore"`},
		"container":    {"podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {containerName: '', operator: In, values: [1]}}]}", `spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "": a lowercase RFC 1123 label`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(t, c.spec)
			if err := admission.CheckDefaults(&spec).ToAggregate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestMutationVersions checks that the policy has the API version that the API server serves.
func TestMutationVersions(t *testing.T) {
	t.Parallel()
	for kubernetes, c := range map[string]struct {
		apiVersion string
		served     bool
	}{
		"1.32": {"v1alpha1", false}, "1.33": {"v1alpha1", false}, "1.34": {"v1beta1", false}, "1.35.2": {"v1beta1", false}, "1.36": {"v1", true},
	} {
		o := mutationOptions(kinds(t)[0])
		o.Kubernetes = kubernetes
		m, err := admission.NewMutation(defaultsOf(t, allDefaults), o)
		if err != nil {
			t.Fatalf("%s: %v", kubernetes, err)
		}
		if want := "admissionregistration.k8s.io/" + c.apiVersion; m.Policy.APIVersion != want || m.Binding.APIVersion != want {
			t.Errorf("%s: got %s and %s", kubernetes, m.Policy.APIVersion, m.Binding.APIVersion)
		}
		if api, err := apiserver.MutationAPIOf(kubernetes); err != nil || (api.Flags == "") != c.served {
			t.Errorf("%s: %q, %v", kubernetes, api.Flags, err)
		}
	}
	for _, kubernetes := range []string{"1.31", "1.99", "new"} {
		o := mutationOptions(kinds(t)[0])
		o.Kubernetes = kubernetes
		if _, err := admission.NewMutation(defaultsOf(t, allDefaults), o); err == nil {
			t.Errorf("%s is taken", kubernetes)
		}
	}
}

// TestMutationLeavesAlone checks that a Job with all fields set does not match, and is not changed.
func TestMutationLeavesAlone(t *testing.T) {
	t.Parallel()
	server := mutationServer(t, allDefaults)
	job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, Spec: specOf(t, `
template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
completionMode: Indexed
completions: 9
backoffLimit: 7
backoffLimitPerIndex: 0
maxFailedIndexes: 0
activeDeadlineSeconds: 1
ttlSecondsAfterFinished: 0
managedBy: example.com/own
podReplacementPolicy: Failed
podFailurePolicy: {rules: []}
`)}
	jobdefaults.SetSpec(&job.Spec)
	before, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	admitted, matched := server.admit(t, job)
	after, err := json.Marshal(admitted)
	if err != nil {
		t.Fatal(err)
	}
	if matched || !bytes.Equal(before, after) {
		t.Errorf("matched %v, %s became %s", matched, before, after)
	}
}

func mutationServer(t testing.TB, defaults string) *mutatingServer {
	t.Helper()
	k := kinds(t)[0]
	m, err := admission.NewMutation(defaultsOf(t, defaults), mutationOptions(k))
	if err != nil {
		t.Fatal(err)
	}
	return newMutatingServer(t, k, m)
}

// TestMutationKnowsWhatIsWritten checks that a field set by the user is not changed, even if it has the API
// server's default value.
func TestMutationKnowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	server := mutationServer(t, allDefaults)
	const fields = `{"f:spec":{"f:backoffLimit":{},"f:podReplacementPolicy":{}}}`
	for name, c := range map[string]struct {
		metadata metav1.ObjectMeta
		kept     bool
	}{
		"created": {metadata: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubectl-create", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(fields),
		}}}},
		"applied by the server": {kept: true, metadata: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
		}}}},
		"applied by the server without": {metadata: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`),
		}}}},
		"applied": {kept: true, metadata: metav1.ObjectMeta{Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: `{"spec":{"backoffLimit":6,"podReplacementPolicy":"TerminatingOrFailed"}}`,
		}}},
		"applied without": {metadata: metav1.ObjectMeta{Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: `{"spec":{"env":{"value":"\"backoffLimit\":\"podReplacementPolicy\":"}}}`,
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: c.metadata}
			job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}}
			want := job.DeepCopy()
			giveDefaults(defaultsOf(t, allDefaults), &want.Spec, true, c.kept)
			jobdefaults.SetSpec(&job.Spec)
			admitted, _ := server.admit(t, job)
			if diff := cmp.Diff(want.Spec, unwrapped(t, admitted).Spec); diff != "" {
				t.Errorf("-reference +policy:\n%s", diff)
			}
			if kept := *want.Spec.BackoffLimit == 6 && want.Spec.PodFailurePolicy == nil; kept != c.kept {
				t.Errorf("the reference keeps: %v", kept)
			}
		})
	}
}

// TestLargestMutation checks that the largest policy that the API accepts as a default can be compiled, checked and
// applied within the API server's limits.
func TestLargestMutation(t *testing.T) {
	t.Parallel()
	values := compiler.MaxValues
	if testing.Short() {
		values = 10
	}
	d := &batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}}
	random := rand.New(rand.NewPCG(1, 1))
	for range compiler.MaxRules {
		rule := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob}
		rule.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: new("main"), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn}
		value := int32(-1 << 31)
		for range values {
			rule.OnExitCodes.Values = append(rule.OnExitCodes.Values, value)
			value += 1 + random.Int32N(1<<20)
		}
		d.PodFailurePolicy.Rules = append(d.PodFailurePolicy.Rules, rule)
	}
	for _, k := range kinds(t) {
		m, err := admission.NewMutation(d, mutationOptions(k))
		if err != nil {
			t.Fatal(err)
		}
		job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}}
		job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}}
		admitted, _ := newMutatingServer(t, k, m).admit(t, wrapped(job, k.Kind == "Job"))
		if diff := cmp.Diff(d.PodFailurePolicy, unwrapped(t, admitted).Spec.PodFailurePolicy); diff != "" {
			t.Errorf("%s:\n%s", k.Kind, diff)
		}
	}
}

func TestMutationProblems(t *testing.T) {
	t.Parallel()
	d := defaultsOf(t, "backoffLimit: 3")
	for expression, want := range map[string]string{
		"object.spec.bakoffLimit > 1":   `spec.matchConditions[1].expression:1:12: undefined field 'bakoffLimit', did you mean "backoffLimit"?`,
		"object.spec.backoffLimit >":    "spec.matchConditions[1].expression:1:27: Syntax error",
		"object.spec.backoffLimit":      "spec.matchConditions[1].expression: must evaluate to bool but got",
		"variables.spec.backoffLimit>1": "spec.matchConditions[1].expression:1:1: undeclared reference to 'variables'",
	} {
		o := mutationOptions(kinds(t)[0])
		o.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "mine", Expression: expression}}
		_, err := admission.NewMutation(d, o)
		if _, ok := errors.AsType[*apiserver.CheckError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", expression, err, want)
		}
	}
	other := kinds(t)[0]
	other.Kind = "TaskSet"
	if _, err := admission.NewMutation(d, mutationOptions(other)); err == nil {
		t.Error("a TaskSet is given defaults")
	}
}
