package admission

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
)

// boundPolicy returns a policy with a binding, from their specs in YAML.
func boundPolicy(t *testing.T, policy, binding string) Custom {
	t.Helper()
	c := Custom{
		Policy:  &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "training"}},
		Binding: &v1alpha1.PodFailurePolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}},
	}
	for _, part := range []struct {
		text string
		into any
	}{{policy, &c.Policy.Spec}, {binding, &c.Binding.Spec}} {
		if err := yaml.UnmarshalStrict([]byte(part.text), part.into); err != nil {
			t.Fatal(err)
		}
	}
	c.Policy.SetDefaults()
	c.Binding.SetDefaults()
	return c
}

func customTarget(t *testing.T, read func() (kind.Kind, error), path string) Target {
	t.Helper()
	k, err := read()
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewTarget(k, path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func jobTarget(t *testing.T) Target {
	t.Helper()
	return customTarget(t, kind.Job, "spec")
}

func cronJobTarget(t *testing.T) Target {
	t.Helper()
	return customTarget(t, kind.CronJob, "spec.jobTemplate.spec")
}

func customPolicies(t *testing.T, c Custom, o Options) []Policy {
	t.Helper()
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	o.Name, o.Kubernetes, o.Failure = "podverdict", compiler.DefaultVersion, admissionregistrationv1.Ignore
	if o.Actions == nil {
		o.Actions = DefaultActions()
	}
	all, err := c.Policies(environment, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// told returns the messages of policies about a Job, each after the resulting action.
func told(t *testing.T, all []Policy, target Target, object map[string]any, namespace *corev1.Namespace) []string {
	t.Helper()
	var messages []string
	for _, p := range all {
		if p.Binding.Spec.MatchResources != nil { // the evaluator does not support it
			text, err := json.Marshal(p.Binding.Spec.MatchResources)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, p.Definition.Spec.MatchConstraints); err != nil {
				t.Fatal(err)
			}
		}
		server := evaluator.New(p.Definition)
		result, err := server.Evaluate(t.Context(), apiserver.Review{
			Kind: target.Kind, Operation: admission.Create, Object: &unstructured.Unstructured{Object: object}, Namespace: namespace,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range result.Decisions {
			if d.Evaluation != validating.EvalAdmit {
				for message := range strings.SplitSeq(d.Message, "; ") {
					messages = append(messages, string(p.Binding.Spec.ValidationActions[0])+": "+message)
				}
			}
		}
	}
	return messages
}

// requiring is a policy that has every requirement on Jobs if it is enforced and pods are deleted.
const requiring = `
rules:
- {name: bad-node, when: "attempt > 3", action: FailIndex}
- {name: oom, when: "true", action: Ignore, budget: {limit: 3, per: Index, then: Count}}
- {name: evicted, when: "false", action: Count, budget: {limit: 3, then: FailIndex}}
- {name: image, phase: Pending, when: "pod.pendingFor(now) > duration('1h')", action: FailJob}
- {name: unschedulable, phase: Pending, when: "pod.unschedulable()", action: Count}
`

const (
	allFailed = "rules bad-node, oom, evicted of PodFailurePolicy training"

	wantRestart = "spec.template.spec.restartPolicy: Requirement C-RESTART-POLICY: OnFailure: must be Never for " + allFailed +
		": Pods restart their containers otherwise, and do not fail"
	wantLimit = "spec.backoffLimitPerIndex: Requirement C-LIMIT-PER-INDEX: must be set for rules bad-node, evicted of " +
		"PodFailurePolicy training: FailIndex only counts the failure otherwise"
	wantIndexed = "spec.completionMode: Requirement C-INDEXED: must be Indexed for rule oom of PodFailurePolicy training, " +
		"whose budget is for each index: there is one for the Job otherwise"
	wantManaged = "spec.managedBy: Requirement C-MANAGED-BY: must be podverdict.io/job-controller for " + allFailed +
		": other controllers do not know of it"
	wantManagedOther = "spec.managedBy: Requirement C-MANAGED-BY: example.com/a: must be podverdict.io/job-controller for " + allFailed +
		": other controllers do not know of it"
	wantPending = "spec.podFailurePolicy.rules: Requirement C-CONDITION-RULE: must have one for the Pod condition " +
		"podverdict.io/FailingToStart for rule image of PodFailurePolicy training: Kubernetes only counts the failure otherwise"
)

const ready = `{completionMode: Indexed, completions: 3, backoffLimitPerIndex: 1, managedBy: podverdict.io/job-controller, template: {spec: {restartPolicy: Never}}}`

// TestRequirements evaluates Jobs that meet and violate each requirement with the API server's
// evaluator.
func TestRequirements(t *testing.T) {
	const pending = "{livingPods: [Pending]}"
	for _, tc := range []struct {
		name, policy, binding, spec string
		want                        []string
	}{
		{name: "a Job that has everything", policy: requiring, binding: pending, spec: ready},
		{
			name: "a Job that has nothing", policy: requiring, binding: pending, spec: `{template: {spec: {restartPolicy: OnFailure}}}`,
			want: []string{"Deny: " + wantRestart, "Deny: " + wantLimit, "Deny: " + wantIndexed, "Warn: " + wantManaged, "Warn: " + wantPending},
		},
		{
			name: "an audit denies nothing, and asks for no controller", policy: requiring, binding: "{livingPods: [Pending], mode: Audit}",
			spec: `{template: {spec: {restartPolicy: OnFailure}}}`, want: []string{"Warn: " + wantRestart, "Warn: " + wantLimit, "Warn: " + wantIndexed},
		},
		{
			name: "Pending Pods that are left alone", policy: requiring, binding: "{}",
			spec: `{completionMode: Indexed, backoffLimitPerIndex: 0, template: {spec: {restartPolicy: Never}}}`, want: []string{"Warn: " + wantManaged},
		},
		{
			name: "another controller", policy: requiring, binding: pending,
			spec: `{completionMode: Indexed, backoffLimitPerIndex: 0, managedBy: example.com/a, template: {spec: {restartPolicy: Never}}}`,
			want: []string{"Warn: " + wantManagedOther},
		},
		{
			name: "Kubernetes' own controller, told", policy: requiring, binding: pending,
			spec: `{completionMode: Indexed, backoffLimitPerIndex: 0, managedBy: kubernetes.io/job-controller, template: {spec: {restartPolicy: Never}},
				podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: In, values: [1]}}, {action: FailJob, onPodConditions: [{type: DisruptionTarget}, {type: podverdict.io/FailingToStart, status: "True"}]}]}}`,
			want: []string{"Warn: " + strings.Replace(wantManaged, "C-MANAGED-BY: must", "C-MANAGED-BY: kubernetes.io/job-controller: must", 1)},
		},
		{
			name: "Kubernetes' own controller, told of the opposite", policy: requiring, binding: pending,
			spec: `{completionMode: Indexed, backoffLimitPerIndex: 0, managedBy: kubernetes.io/job-controller, template: {spec: {restartPolicy: Never}},
				podFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: podverdict.io/FailingToStart, status: "False"}]}]}}`,
			want: []string{
				"Warn: " + strings.Replace(wantManaged, "C-MANAGED-BY: must", "C-MANAGED-BY: kubernetes.io/job-controller: must", 1), "Warn: " + wantPending,
			},
		},
		{
			name: "Kubernetes' own controller, without rules", policy: requiring, binding: pending,
			spec: `{completionMode: Indexed, backoffLimitPerIndex: 0, template: {spec: {restartPolicy: Never}}, podFailurePolicy: {rules: null}}`,
			want: []string{"Warn: " + wantManaged, "Warn: " + wantPending},
		},
		{
			name: "rules that need little", policy: `{rules: [{name: a, when: "true", action: Ignore}]}`, binding: pending, spec: ready,
		},
		{
			name: "rules on Pending alone", policy: `{rules: [{name: a, phase: Pending, when: "true", action: Count}]}`, binding: pending,
			spec: `{template: {spec: {restartPolicy: OnFailure}}}`,
		},
		{
			name: "rules on Pending that fail an index", policy: `{rules: [{name: a, phase: Pending, when: "true", action: FailIndex}]}`, binding: pending,
			spec: `{managedBy: podverdict.io/job-controller, template: {spec: {restartPolicy: OnFailure}}}`,
			want: []string{"Deny: spec.backoffLimitPerIndex: Requirement C-LIMIT-PER-INDEX: must be set for rule a of " +
				"PodFailurePolicy training: FailIndex only counts the failure otherwise"},
		},
		{
			name: "many rules", binding: pending, spec: `{managedBy: podverdict.io/job-controller, template: {spec: {restartPolicy: OnFailure}}}`,
			policy: `{rules: [{name: a, when: a, action: Count}, {name: b, when: a, action: Count}, {name: c, when: a, action: Count}, {name: d, when: a, action: Count},
				{name: e, when: a, action: Count}, {name: f, when: a, action: Count}, {name: g, when: a, action: Count}]}`,
			want: []string{"Deny: spec.template.spec.restartPolicy: Requirement C-RESTART-POLICY: OnFailure: must be Never for " +
				"rules a, b, c, d, e and 2 more of PodFailurePolicy training: Pods restart their containers otherwise, and do not fail"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := boundPolicy(t, tc.policy, tc.binding)
			targets := []Target{jobTarget(t)}
			if !testing.Short() {
				targets = append(targets, cronJobTarget(t))
			}
			for _, target := range targets {
				var want []string
				for _, message := range tc.want {
					if !target.isJob() {
						message = strings.Replace(message, ": spec.", ": spec.jobTemplate.spec.", 1)
					}
					want = append(want, message)
				}
				got := told(t, customPolicies(t, c, Options{Target: target}), target, embedding(t, target, tc.spec, nil), nil)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", target.Kind.Kind, diff)
				}
			}
		})
	}
}

// embedding returns an object of the target's kind that embeds a Job with a spec and labels.
func embedding(t *testing.T, target Target, spec string, jobLabels map[string]any) map[string]any {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	object := target.object(content)
	object["metadata"] = map[string]any{"name": "training-7", "namespace": "gpu"}
	labelled := object["metadata"]
	if !target.isJob() {
		template := object["spec"].(map[string]any)["jobTemplate"].(map[string]any)
		template["metadata"] = map[string]any{}
		labelled = template["metadata"]
	}
	if jobLabels != nil {
		labelled.(map[string]any)["labels"] = jobLabels
	}
	return object
}

// TestRequirementsOfSelectedJobs checks that only Jobs to which the policy applies are validated.
func TestRequirementsOfSelectedJobs(t *testing.T) {
	c := boundPolicy(t, `
matchConditions:
- {name: parallel, expression: "job.spec.?activeDeadlineSeconds.orValue(0) < 100 || job.metadata.labels.team == 'web'"}
rules: [{name: a, when: "true", action: Count}]
`, `
namespaceSelector: {matchLabels: {gpu: "true"}}
jobSelector: {matchLabels: {app: training}, matchExpressions: [{key: size, operator: NotIn, values: [small]}]}
`)
	const one, long = `{template: {spec: {restartPolicy: OnFailure}}}`, `{activeDeadlineSeconds: 100, template: {spec: {restartPolicy: OnFailure}}}`
	training := map[string]any{"app": "training"}
	gpu := map[string]string{"gpu": "true", "stage": "test"}
	stage := &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "test"}}
	type guarded struct {
		Target
		policies []Policy
	}
	var targets []guarded
	for _, target := range []Target{jobTarget(t), cronJobTarget(t)} {
		targets = append(targets, guarded{target, customPolicies(t, c, Options{Target: target, Namespaces: stage})})
	}
	for _, tc := range []struct {
		name, spec string
		labels     map[string]any
		namespace  map[string]string
		want       bool
	}{
		{"selected", one, training, gpu, true},
		{"labels", one, map[string]any{"app": "web"}, gpu, false},
		{"no labels", one, nil, gpu, false},
		{"an expression of labels", one, map[string]any{"app": "training", "size": "small"}, gpu, false},
		{"namespace", one, training, map[string]string{"stage": "test"}, false},
		{"the namespaces of an option", one, training, map[string]string{"gpu": "true"}, false},
		{"match condition", long, map[string]any{"app": "training", "team": "a"}, gpu, false},
		{"match condition that is met otherwise", long, map[string]any{"app": "training", "team": "web"}, gpu, true},
		{"match condition that fails", long, training, gpu, false},
	} {
		for _, target := range targets {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gpu", Labels: tc.namespace}}
			got := told(t, target.policies, target.Target, embedding(t, target.Target, tc.spec, tc.labels), namespace)
			if asked := len(got) > 0; asked != tc.want {
				t.Errorf("%s: the %s is told %q", tc.name, target.Kind.Kind, got)
			}
		}
	}
}

// TestCustomRefuses checks that conditions which cannot be evaluated at admission are rejected.
func TestCustomRefuses(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Name: "podverdict", Kubernetes: compiler.DefaultVersion, Target: jobTarget(t), Actions: DefaultActions(), Failure: admissionregistrationv1.Ignore,
	}
	c := boundPolicy(t, `
matchConditions: [{name: failed, expression: "job.status.?failed.orValue(0) < 3"}]
rules: [{name: a, when: "true", action: Count}]`, "{}")
	_, err = c.Policies(environment, o)
	if e, ok := errors.AsType[*custom.Error](err); !ok || e.Findings[0].Check != custom.CheckAdmission {
		t.Errorf("a match condition about the status: %v", err)
	}
	o.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "mine", Expression: "object.spec.paralelism > 3"}}
	c.Policy.Spec.MatchConditions = nil
	_, err = c.Policies(environment, o)
	if _, ok := errors.AsType[*apiserver.CheckError](err); !ok {
		t.Errorf("a condition of the user's with a field that is not there: %v", err)
	}
	o.Kubernetes = "1.31"
	if _, err = c.Policies(environment, o); err == nil || !strings.Contains(err.Error(), "1.33") {
		t.Errorf("an old API server: %v", err)
	}
}
