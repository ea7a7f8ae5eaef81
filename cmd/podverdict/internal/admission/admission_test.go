package admission

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// policyObject returns a policy with the labels of generated objects. Without an instance, it has only the labels of earlier versions. With
// the component "foreign", it has no labels.
func policyObject(name, instance, component string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if o.SetName(name); component != "foreign" {
		labels := map[string]string{admission.LabelPartOf: admission.PartOf}
		if instance != "" {
			labels[admission.LabelInstance], labels[admission.LabelComponent] = instance, component
		}
		o.SetLabels(labels)
	}
	return o
}

// TestLeftOver checks that the left-over objects of a set are its own earlier objects and objects that earlier versions wrote under
// its name.
func TestLeftOver(t *testing.T) {
	var live []*unstructured.Unstructured
	for _, name := range []string{
		"podverdict-guardrails-job-deny", "podverdict-guardrails-cronjob-deny", "podverdict-guardrails-jobset-deny",
		"podverdict-constraints-job-deny", "podverdict-requirements-gpu-job-deny", "other-guardrails-job-deny",
	} {
		live = append(live, policyObject(name, "", ""))
	}
	live = append(live, policyObject("podverdict-guardrails-job-warnings", "podverdict", "guardrails"), policyObject("foreign", "", "foreign"))
	for name, test := range map[string]struct {
		given *unstructured.Unstructured
		want  string
	}{
		"errors":            {policyObject("podverdict-guardrails-job-errors", "podverdict", "guardrails"), "podverdict-guardrails-job-deny podverdict-guardrails-job-warnings"},
		"one rule":          {policyObject("podverdict-guardrails-job-g-ttl", "podverdict", "guardrails"), "podverdict-guardrails-job-deny podverdict-guardrails-job-warnings"},
		"custom resource":   {policyObject("podverdict-guardrails-jobset-errors", "podverdict", "guardrails-jobset"), "podverdict-guardrails-jobset-deny"},
		"requirements":      {policyObject("podverdict-requirements-gpu-job-c-managed-by", "podverdict", "requirements"), "podverdict-requirements-gpu-job-deny"},
		"defaults":          {policyObject("podverdict-defaults-job", "podverdict", "defaults"), ""},
		"another name":      {policyObject("pod-guardrails-job-errors", "pod", "guardrails"), ""},
		"the same":          {policyObject("podverdict-guardrails-job-warnings", "podverdict", "guardrails"), "podverdict-guardrails-job-deny"},
		"static":            {policyObject("podverdict-guardrails-job-errors.static.k8s.io", "podverdict", "guardrails"), ""},
		"earlier":           {policyObject("podverdict-guardrails-job-deny", "", ""), ""},
		"foreign":           {policyObject("podverdict-guardrails-job-errors", "", "foreign"), ""},
		"name of one word":  {policyObject("errors", "", "foreign"), ""},
		"labels and a word": {policyObject("errors", "podverdict", "defaults"), ""},
	} {
		s, left := &set{objects: []*unstructured.Unstructured{test.given}}, []string{}
		for _, one := range live {
			if s.leaves(one) {
				left = append(left, one.GetName())
			}
		}
		if got := strings.Join(left, " "); got != test.want {
			t.Errorf("%s: left over: %s, want %s", name, got, test.want)
		}
	}
}

// objectOf decodes an object as returned by the cluster.
func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestJobsMade checks that the names of a CronJob's Jobs end in a number, and that a replicated Job with zero replicas makes no Job.
func TestJobsMade(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind": "CronJob", "metadata": {"name": "a", "creationTimestamp": "2026-11-26T14:37:11Z"}}`:                                             "a a-29928397",
		`{"kind": "JobSet", "metadata": {"name": "a"}, "spec": {"replicatedJobs": [{"name": "b", "replicas": 1}, {"name": "c", "replicas": 0}]}}`: "a a-b-0",
	} {
		object := objectOf(t, text)
		k := judgedKinds[slices.IndexFunc(judgedKinds, func(k kind.Kind) bool { return k.Kind == object.GetKind() })]
		made, err := madeBy(k, object)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range made {
			got = append(got, one.(metav1.Object).GetName())
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: made %q, want %s", text, got, want)
		}
	}
}

// TestRefusedForTwoReasons checks that two reasons for the same field are two findings, and that the same reason from two policies is one.
func TestRefusedForTwoReasons(t *testing.T) {
	const text = `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "NAME"}, "spec": {"validations":
		[{"expression": "false", "message": "first"}, {"expression": "false", "message": "second"}]}}
		{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "NAME"},
		"spec": {"policyName": "NAME", "validationActions": ["Deny"]}}`
	input := strings.NewReader(strings.ReplaceAll(text, "NAME", "a") + strings.ReplaceAll(text, "NAME", "b"))
	s, err := read(&cli.Console{Stdin: input}, []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.findings(t.Context(), judgedKinds[0], objectOf(t, `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		got = append(got, f.Check+": "+f.Field+": "+f.Message)
	}
	if diff := cmp.Diff([]string{"policy: spec: first", "policy: spec: second"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
