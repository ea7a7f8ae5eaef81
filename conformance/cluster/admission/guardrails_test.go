//go:build cluster

package admission

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// TestGuardrailVectors tests that the API server, with the generated policies, reports the wanted findings for every
// vector of the guardrails. Each set of settings is in force in its own namespace.
func TestGuardrailVectors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	all, err := vectors.Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	namespaces := map[string]string{}
	for _, v := range all {
		k := settingsKey(t, v.Settings)
		if namespaces[k] == "" {
			namespaces[k] = controlplane.Start(t).Namespace(t)
			s.configure(t, namespaces[k], v.Settings)
		}
	}
	for _, namespace := range namespaces {
		s.awaitGuardrails(t, namespace)
	}
	for _, v := range all {
		if s.lacks(v) {
			continue
		}
		s.Namespace = namespaces[settingsKey(t, v.Settings)]
		got, err := s.create(t.Context(), s.resource(v.Object), v.Object)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if diff := cmp.Diff(messages(v), got); diff != "" {
			t.Errorf("%s: %s\n-want +got:\n%s", v.Name, v.Sentence, diff)
		}
	}
}

func messages(v vectors.JobVector) []string {
	var all []string
	for _, f := range v.Want {
		all = append(all, f.Message)
	}
	slices.Sort(all)
	return all
}

func settingsKey(t *testing.T, settings map[string]any) string {
	t.Helper()
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// configure installs policies with these settings in a namespace. It ignores severity.
func (s *server) configure(t *testing.T, namespace string, settings map[string]any) {
	t.Helper()
	configured, err := admission.Select([]string{"G-*"}, configurationOf(settings))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range builtInTargets(t) {
		for _, p := range s.policies(t, configured[0], admission.Options{
			Name: namespace, Target: target, Actions: everythingWarns(),
			Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		}) {
			s.apply(t, p.Definition, p.Binding)
		}
	}
}

func configurationOf(settings map[string]any) admission.Configuration {
	c := admission.Configuration{}
	for id, values := range settings {
		c[id] = values.(map[string]any)
	}
	return c
}

// awaitGuardrails waits until Jobs and CronJobs in the namespace are validated.
func (s *server) awaitGuardrails(t *testing.T, namespace string) {
	t.Helper()
	s.Namespace = namespace
	for _, object := range []map[string]any{careless("Job"), careless("CronJob")} {
		testcluster.Eventually(t, namespace, func(ctx context.Context) (bool, error) {
			found, _ := s.create(ctx, s.resource(object), object)
			return len(found) > 0, nil
		})
	}
}

// careless returns an object that breaks many guardrails, whatever the settings.
func careless(kind string) map[string]any {
	job := map[string]any{
		"backoffLimit": int64(1000), "parallelism": int64(1_000_000),
		"podFailurePolicy": map[string]any{"rules": []any{
			map[string]any{"action": "FailJob", "onExitCodes": map[string]any{"operator": "NotIn", "values": []any{int64(0)}}},
			map[string]any{"action": "Ignore", "onPodConditions": []any{map[string]any{"type": "Example", "status": "True"}}},
		}},
		"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "example.com/main:1"}},
		}},
	}
	object := map[string]any{"apiVersion": "batch/v1", "kind": kind, "metadata": map[string]any{"name": "careless"}, "spec": job}
	if kind == "CronJob" {
		object["spec"] = map[string]any{"schedule": "0 0 * * *", "jobTemplate": map[string]any{"spec": job}}
	}
	return object
}

// TestGuardrailsDeny tests that the policies as generated deny on errors, with the messages of all errors, and warn
// otherwise.
func TestGuardrailsDeny(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	guardrails := selection(t, "G-*")
	for _, target := range builtInTargets(t) {
		for _, p := range s.policies(t, guardrails, admission.Options{
			Name: "deny", Target: target, Actions: admission.DefaultActions(),
			Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.Namespace}},
		}) {
			s.apply(t, p.Definition, p.Binding)
		}
	}
	for _, object := range []map[string]any{careless("Job"), careless("CronJob")} {
		testcluster.Eventually(t, "denying "+object["kind"].(string), func(ctx context.Context) (bool, error) {
			found, err := s.create(ctx, s.resource(object), object)
			return err != nil && len(found) > 0, nil
		})
	}
	s.holdGuardrails(t, guardrails)
}

// holdGuardrails checks that Jobs and CronJobs of the vectors are denied and warned about with these messages, and
// returns the numbers of rejected and accepted objects.
func (s *server) holdGuardrails(t *testing.T, guardrails *admission.Selection) (refused, taken int) {
	t.Helper()
	all, err := vectors.Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	denied := map[string]bool{}
	for _, v := range all {
		if v.Settings != nil || s.lacks(v) {
			continue
		}
		warned, err := s.create(t.Context(), s.resource(v.Object), v.Object)
		if err != nil {
			refused++
		} else {
			taken++
		}
		ids, want := errorsOf(guardrails, v)
		for _, id := range ids {
			denied[id] = true
		}
		if got := denial(err); got != want {
			t.Errorf("%s: denied because of %q, want %q", v.Name, got, want)
		}
		if diff := cmp.Diff(warnings(v), warned); diff != "" {
			t.Errorf("%s: %s\n-want +warned:\n%s", v.Name, v.Sentence, diff)
		}
	}
	for _, r := range guardrails.Rules {
		if r.Settings["severity"] == "error" && r.Settings["enabled"] == true && !denied[r.ID] {
			t.Errorf("%s: no vector breaks it", r.ID)
		}
	}
	return refused, taken
}

// denial returns the message of the policy that denies, or the text of another error.
func denial(err error) string {
	if err == nil {
		return ""
	}
	_, message, ok := strings.Cut(err.Error(), "' denied request: ")
	if !ok || !apierrors.IsInvalid(err) {
		return err.Error()
	}
	return message
}

// errorsOf returns the guardrails that deny a vector, in the order of the catalogue, and the denial.
func errorsOf(s *admission.Selection, v vectors.JobVector) (ids []string, denial string) {
	var all []string
	for _, r := range s.Rules {
		var found []string
		for _, f := range v.Want {
			if f.ID == r.ID && f.Severity == "error" {
				found = append(found, f.Message)
			}
		}
		if len(found) > 0 {
			ids, all = append(ids, r.ID), append(all, withPage(r.ID, found...))
		}
	}
	return ids, strings.Join(all, "; ")
}

// withPage returns the text of a denial for a rule.
func withPage(id string, messages ...string) string {
	rule, _ := catalogue.Find(id)
	return strings.Join(messages, "; ") + " (" + rule.Address() + ")"
}

func warnings(v vectors.JobVector) []string {
	var all []string
	for _, f := range v.Want {
		if f.Severity == "warning" {
			all = append(all, f.Message)
		}
	}
	slices.Sort(all)
	return all
}

// TestGuardrailsAreAudited tests that the ids of an object's violations are in the audit log, whatever the outcome of the
// request.
func TestGuardrailsAreAudited(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	jobs := s.resource(map[string]any{"kind": "Job"})
	for _, p := range s.policies(t, selection(t, "G-*"), admission.Options{
		Name: "audited", Target: builtInTargets(t)[0], Actions: everythingWarns(),
		Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.Namespace}},
	}) {
		s.apply(t, p.Definition, p.Binding)
	}
	testcluster.Eventually(t, "warning of Jobs", func(ctx context.Context) (bool, error) {
		found, _ := s.create(ctx, jobs, careless("Job"))
		return len(found) > 0, nil
	})
	const key, want = "audited-guardrails-job-errors/guardrails", "G-BACKOFF-LIMIT G-CATCH-ALL-LAST G-DEADLINE G-DISRUPTION-HANDLED G-IGNORE-BOUNDED G-KILL-CODES G-PARALLELISM G-TTL"
	cluster := controlplane.Start(t)
	testcluster.Eventually(t, "the audit log", func(context.Context) (bool, error) {
		for _, event := range cluster.AuditLog(t, s.Namespace) {
			if got := event.Annotations[key]; got == want {
				return true, nil
			} else if got != "" {
				t.Fatalf("annotation %q, want %q", got, want)
			}
		}
		return false, nil
	})
}
