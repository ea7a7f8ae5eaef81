package conformance_test

import (
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/evaluator"
	"github.com/podverdict/podverdict/internal/testing/generators"
	"github.com/podverdict/podverdict/runtime/rego"
)

var (
	guardedJobs   = flag.Int("guarded-jobs", 1200, "compare the guardrails in CEL and in Rego on that many Jobs and CronJobs")
	leastFindings = flag.Int("least-findings", 10, "each guardrail must find something in that many of them")
)

// guardedAlike is the number of objects that are evaluated with one configuration.
const guardedAlike = 200

// TestGuardrailsInCEL checks that the guardrails have the same findings, in the same words, in CEL as
// evaluated by the API server and in Rego.
func TestGuardrailsInCEL(t *testing.T) {
	catalogue, err := admission.Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	g, found := guardGenerator{generators.NewJobs(1, false), rand.New(rand.NewPCG(1, 0))}, map[string]int{}
	batches := *guardedJobs / guardedAlike
	if testing.Short() {
		batches = 1
	}
	for batch := range batches {
		configuration := admission.Configuration{}
		if batch%2 == 1 {
			configuration = g.configuration(catalogue.Rules)
		}
		guards := newGuards(t, catalogue, configuration)
		for range slice(guardedAlike) {
			object := g.object()
			want := guards.inRego(t, object, found)
			if diff := cmp.Diff(want, guards.inCEL(t, object)); diff != "" {
				t.Fatalf("-Rego +CEL:\n%s\nobject: %s\nconfiguration: %v", diff, asJSON(t, object), configuration)
			}
		}
	}
	for _, r := range catalogue.Rules {
		if found[r.ID] < *leastFindings && !testing.Short() {
			t.Errorf("%s found something in %d of %d objects", r.ID, found[r.ID], *guardedJobs)
		}
	}
}

// guards holds the guardrails with one configuration: in Rego, and as policies keyed by kind.
type guards struct {
	validator *rego.Validator
	policies  map[string]guardPolicy
}

type guardPolicy struct {
	kind      kind.Kind
	evaluator *evaluator.Evaluator
	decider   *apiserver.Decider
}

// newGuards generates the policies with the configuration.
func newGuards(t *testing.T, c *admission.Catalogue, configuration admission.Configuration) guards {
	t.Helper()
	validator, err := rego.New(t.Context(), rego.Options{Guardrails: true, Settings: plain(configuration)})
	if err != nil {
		t.Fatal(err)
	}
	written := selectGuards(t, c, configuration)
	all := guards{validator: validator, policies: map[string]guardPolicy{}}
	for path, read := range map[string]func() (kind.Kind, error){
		"spec": kind.Job, "spec.jobTemplate.spec": kind.CronJob,
	} {
		k, err := read()
		if err != nil {
			t.Fatal(err)
		}
		all.policies[k.Kind] = newGuardPolicy(t, written, k, path)
	}
	return all
}

func selectGuards(t *testing.T, c *admission.Catalogue, configuration admission.Configuration) *admission.Selection {
	t.Helper()
	s, err := c.Select([]string{"G-*"}, configuration)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newGuardPolicy(t *testing.T, s *admission.Selection, k kind.Kind, path string) guardPolicy {
	t.Helper()
	target, err := admission.NewTarget(k, path)
	if err != nil {
		t.Fatal(err)
	}
	policy, server := onePolicy(t, s, target)
	decider, err := apiserver.NewDecider(policy.Definition, policy.Binding)
	if err != nil {
		t.Fatal(err)
	}
	return guardPolicy{k, server, decider}
}

// onePolicy returns a policy that warns about every violation of the selection's rules, with a validation for
// each rule.
func onePolicy(t *testing.T, s *admission.Selection, target admission.Target) (admission.Policy, *evaluator.Evaluator) {
	t.Helper()
	warn := []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
	policies, err := s.Policies(admission.Options{
		Name: "test", Kubernetes: "1.37", Target: target, Failure: admissionregistrationv1.Fail,
		Actions: admission.Actions{"error": warn, "warning": warn},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(policies) != 1 {
		t.Fatalf("%d policies for one set of actions", len(policies))
	}
	server := evaluator.New(policies[0].Definition)
	return policies[0], server
}

// inRego returns the messages from Rego, and counts in found the guardrails with findings.
func (g guards) inRego(t *testing.T, object runtime.Object, found map[string]int) []string {
	t.Helper()
	document, err := rego.Object(object)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := g.validator.Validate(t.Context(), document, nil)
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	ids := map[string]bool{}
	for _, f := range findings {
		if f.Type == "Guardrail" {
			messages = append(messages, f.Message)
			ids[f.ID] = true
		}
	}
	for id := range ids {
		found[id]++
	}
	slices.Sort(messages)
	return messages
}

func (g guards) inCEL(t *testing.T, object runtime.Object) []string {
	t.Helper()
	policy := g.policies[object.GetObjectKind().GroupVersionKind().Kind]
	review := apiserver.Review{Kind: policy.kind, Operation: "CREATE", Object: object}
	result, err := policy.evaluator.Evaluate(t.Context(), review)
	if err != nil {
		t.Fatal(err)
	}
	failures, err := policy.decider.Decide(t.Context(), review)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Decisions) == 0 {
		t.Fatal("the policy does not look at the object")
	}
	var messages []string
	for _, d := range result.Decisions {
		if d.Evaluation != validating.EvalAdmit {
			messages = append(messages, strings.Split(d.Message, "; ")...)
		}
	}
	slices.Sort(messages)
	var decided []string
	for _, f := range failures {
		if !strings.Contains(f.Message, f.Rule) {
			t.Errorf("rule %s says %q", f.Rule, f.Message)
		}
		decided = append(decided, strings.Split(f.Message, "; ")...)
	}
	slices.Sort(decided)
	if diff := cmp.Diff(messages, decided); diff != "" {
		t.Errorf("decider (-API server +decider):\n%s", diff)
	}
	return messages
}

// plain returns a configuration as data of a Rego bundle.
func plain(c admission.Configuration) map[string]any {
	data := map[string]any{}
	for id, settings := range c {
		data[id] = settings
	}
	return data
}

func asJSON(t *testing.T, object any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// guardGenerator draws Jobs and CronJobs with the fields that guardrails read.
type guardGenerator struct {
	*generators.Jobs
	random *rand.Rand
}

// one reports true one time in n.
func (g guardGenerator) one(n int) bool { return g.random.IntN(n) == 0 }

func pick[T any](g guardGenerator, words []T) T { return words[g.random.IntN(len(words))] }

func (g guardGenerator) object() runtime.Object {
	if g.one(4) {
		cron := g.CronJob()
		g.spec(&cron.Spec.JobTemplate.Spec)
		return cron
	}
	job := g.Job()
	g.spec(&job.Spec)
	if g.one(4) {
		job.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "a"},
			{APIVersion: "v1", Kind: "ConfigMap", Name: "b", Controller: new(g.one(2))},
		}
	}
	return job
}

func (g guardGenerator) spec(s *batchv1.JobSpec) {
	for _, change := range []func(*batchv1.JobSpec){g.policy, g.bounds, g.indexes, g.replacement, g.success, g.pods} {
		if !g.one(4) {
			change(s)
		}
	}
}

func (g guardGenerator) policy(s *batchv1.JobSpec) {
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	if g.one(8) {
		return // null at admission
	}
	for range 1 + g.random.IntN(5) {
		s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, g.rule())
	}
}

func (g guardGenerator) rule() batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: pick(g, []batchv1.PodFailurePolicyAction{"FailJob", "FailIndex", "Ignore", "Count"})}
	if g.one(2) {
		for range 1 + g.random.IntN(2) {
			r.OnPodConditions = append(r.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
				Type:   pick(g, []corev1.PodConditionType{corev1.DisruptionTarget, corev1.DisruptionTarget, "ConfigIssue"}),
				Status: pick(g, []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, "", corev1.ConditionFalse}),
			})
		}
		return r
	}
	r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
		ContainerName: pick(g, []*string{nil, nil, nil, new("main"), new("setup"), new("fetch")}),
		Operator:      pick(g, []batchv1.PodFailurePolicyOnExitCodesOperator{"In", "NotIn"}),
		Values:        pick(g, [][]int32{{0}, {0}, {1}, {137}, {1, 137, 143}, {0, 42, 143}, {2, 3, 200}}),
	}
	return r
}

func (g guardGenerator) bounds(s *batchv1.JobSpec) {
	s.BackoffLimit = pick(g, []*int32{nil, new(int32(6)), new(int32(10)), new(int32(11))})
	s.Parallelism = pick(g, []*int32{nil, new(int32(1000)), new(int32(1001))})
	s.ActiveDeadlineSeconds = pick(g, []*int64{nil, nil, new(int64(0)), new(int64(1)), new(int64(604_800)), new(int64(604_801))})
	s.TTLSecondsAfterFinished = pick(g, []*int32{nil, nil, new(int32(59)), new(int32(60)), new(int32(604_800)), new(int32(604_801))})
	s.ManagedBy = new(pick(g, []string{"kubernetes.io/job-controller", "kueue.x-k8s.io/multikueue", "example.com/a&b", "a.b/c"}))
}

func (g guardGenerator) indexes(s *batchv1.JobSpec) {
	s.CompletionMode = new(batchv1.IndexedCompletion)
	s.Completions = new(pick(g, []int32{1, 2, 10, 99, 100, 101}))
	s.BackoffLimitPerIndex = pick(g, []*int32{nil, new(int32(0)), new(int32(6)), new(int32(7))})
	s.MaxFailedIndexes = pick(g, []*int32{nil, new(*s.Completions / 2), new(*s.Completions/2 + 1)})
}

func (g guardGenerator) replacement(s *batchv1.JobSpec) {
	s.PodReplacementPolicy = pick(g, []*batchv1.PodReplacementPolicy{nil, new(batchv1.Failed), new(batchv1.TerminatingOrFailed)})
}

func (g guardGenerator) success(s *batchv1.JobSpec) {
	s.SuccessPolicy = &batchv1.SuccessPolicy{}
	for range 1 + g.random.IntN(2) {
		s.SuccessPolicy.Rules = append(s.SuccessPolicy.Rules, batchv1.SuccessPolicyRule{
			SucceededCount: pick(g, []*int32{nil, new(int32(0)), new(int32(1))}),
		})
	}
}

func (g guardGenerator) pods(s *batchv1.JobSpec) {
	pod := &s.Template.Spec
	pod.RestartPolicy = pick(g, []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure})
	pod.ActiveDeadlineSeconds = pick(g, []*int64{nil, new(int64(60))})
	pod.ResourceClaims = pick(g, [][]corev1.PodResourceClaim{nil, nil, nil, {{Name: "device"}}})
	for i, name := range []string{"main", "setup", "sidecar", "fetch"} {
		list := []*[]corev1.Container{&pod.Containers, &pod.InitContainers}[i%2]
		if g.one(2) && !slices.ContainsFunc(*list, func(c corev1.Container) bool { return c.Name == name }) {
			*list = append(*list, corev1.Container{Name: name, Image: name + ":1"})
		}
	}
	for _, list := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range list {
			g.container(&list[i])
		}
	}
}

func (g guardGenerator) container(c *corev1.Container) {
	c.RestartPolicy = pick(g, []*corev1.ContainerRestartPolicy{
		nil, new(corev1.ContainerRestartPolicyNever), new(corev1.ContainerRestartPolicyOnFailure), new(corev1.ContainerRestartPolicyAlways),
	})
	c.RestartPolicyRules = pick(g, [][]corev1.ContainerRestartRule{nil, {}, {{Action: corev1.ContainerRestartRuleActionRestart}}})
	for _, quantities := range []*corev1.ResourceList{&c.Resources.Requests, &c.Resources.Limits} {
		if g.one(4) {
			name := pick(g, []corev1.ResourceName{"nvidia.com/gpu", "example.com/fpga", corev1.ResourceCPU})
			*quantities = corev1.ResourceList{name: resource.MustParse(pick(g, []string{"0", "1"}))}
		}
	}
}

// guardSettings lists some values for the settings of each name.
var guardSettings = map[string][]any{
	"severity":                {"error", "warning"},
	"min":                     {int64(0), int64(1), int64(2), int64(60), int64(61)},
	"max":                     {int64(61), int64(100), int64(604_801)},
	"max alone":               {int64(0), int64(1), int64(6), int64(100), int64(1000)},
	"minCompletions":          {int64(0), int64(1), int64(2), int64(10), int64(101)},
	"maxPercent":              {int64(0), int64(49), int64(51), int64(100)},
	"codes":                   {[]any{int64(1)}, []any{int64(0), int64(137)}, []any{int64(42), int64(3), int64(2)}},
	"actions":                 {[]any{"FailJob"}, []any{"FailIndex", "Ignore"}, []any{"Count"}},
	"allowed":                 {[]any{"a.b/c"}, []any{"example.com/a&b", "x"}},
	"resources":               {[]any{"cpu"}, []any{"example.com/fpga", "nvidia.com/gpu"}},
	"includeDisruptions":      {true, false},
	"unlessDisruptionHandled": {true, false},
	"resourceClaims":          {true, false},
}

// configuration disables one guardrail in four, and changes half of the settings of the others.
func (g guardGenerator) configuration(rules []admission.Rule) admission.Configuration {
	c := admission.Configuration{}
	for _, r := range rules {
		c[r.ID] = map[string]any{"enabled": !g.one(4)}
		for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
			values := guardSettings[name]
			if _, ranged := r.Settings["min"]; name == "max" && !ranged {
				values = guardSettings["max alone"]
			}
			if name != "enabled" && g.one(2) {
				c[r.ID][name] = pick(g, values)
			}
		}
	}
	return c
}
