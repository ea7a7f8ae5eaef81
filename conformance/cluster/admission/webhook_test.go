//go:build cluster

package admission

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// TestAdmission sends all requests to one control plane, because two would double the test's time.
func TestAdmission(t *testing.T) { //nolint:tparallel // its subtests follow each other
	t.Parallel()
	w := newWebhook(t)
	documentation := readDocumentation(t)
	opa := w.serve(t, documentation)
	policies, webhook := w.Cluster.Namespace(t), w.Cluster.Namespace(t)
	all := requests(t)
	for _, namespace := range []string{policies, webhook} {
		w.store(t, namespace, all)
	}
	w.storeOldJobs(t, webhook, find(all, "labels").old)
	w.applyPolicies(t, policies)
	w.apply(t, opa.configuration(t, documentation, webhook))
	for _, namespace := range []string{policies, webhook} {
		for _, object := range []map[string]any{find(all, "a new Job is judged as a whole").object, find(all, "a new CronJob is judged by its Jobs").object} {
			testcluster.Eventually(t, "denying in "+namespace, func(ctx context.Context) (bool, error) {
				_, err := w.create(ctx, namespace, "probe", object, metav1.DryRunAll)
				return apierrors.IsInvalid(err), nil
			})
		}
	}
	t.Run("policies", func(t *testing.T) { w.answer(t, policies, all, "' denied request: ") })
	t.Run("webhook", func(t *testing.T) {
		w.answer(t, webhook, all, `admission webhook "jobs.podverdict.io" denied the request: `)
	})
	t.Run("lives", func(t *testing.T) { w.lives(t, webhook) })
	opa.stop()
	t.Run("without a server", func(t *testing.T) { w.outlives(t, webhook, all) })
	t.Run("documentation", func(t *testing.T) {
		w.apply(t, []byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "podverdict-admission"}}`))
		w.apply(t, documentation.manifests(opa.certificate))
		w.Kubectl(t, nil, "delete", "validatingwebhookconfiguration", documentation.webhook.Name) // otherwise other tests cannot create Jobs
	})
}

func find(all []request, name string) request {
	return all[slices.IndexFunc(all, func(r request) bool { return r.Name == name })]
}

func nameOf(i int) string { return fmt.Sprintf("request-%d", i) }

// store creates the objects that requests refer to, before any policy is in force.
func (w *webhook) store(t *testing.T, namespace string, all []request) {
	t.Helper()
	for i, r := range all {
		if r.Operation == "CREATE" {
			continue
		}
		if _, err := w.create(t.Context(), namespace, nameOf(i), r.old); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if !r.Deleting {
			continue
		}
		if err := w.resource(namespace, r.old).Delete(t.Context(), nameOf(i), metav1.DeleteOptions{}); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
	}
}

// answer sends every request and compares denials and warnings. The messages of a denial follow the text before.
func (w *webhook) answer(t *testing.T, namespace string, all []request, before string) {
	t.Helper()
	for i, r := range all {
		w.client.Warned = nil
		err := w.send(t.Context(), namespace, nameOf(i), r)
		if diff := cmp.Diff(sorted(r.Warned), w.warnings(), cmp.Transformer("length", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
			t.Errorf("%s (-want +warned):\n%s", r.Name, diff)
		}
		if len(r.Denied) == 0 || err == nil {
			if (err == nil) != (len(r.Denied) == 0) {
				t.Errorf("%s: %v, want %v", r.Name, err, r.Denied)
			}
			continue
		}
		got := denials(err, before)
		slices.Sort(got)
		if diff := cmp.Diff(sorted(r.Denied), got); diff != "" {
			t.Errorf("%s: denied (-want +got):\n%s", r.Name, diff)
		}
	}
}

// send sends a request with dry-run.
func (w *webhook) send(ctx context.Context, namespace, name string, r request) error {
	objects := w.resource(namespace, r.old)
	switch r.Operation {
	case "CREATE":
		_, err := w.create(ctx, namespace, "new", r.object, metav1.DryRunAll)
		return err
	case "DELETE":
		return objects.Delete(ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}, PropagationPolicy: new(metav1.DeletePropagationBackground)})
	default:
		patch, err := jsonOf(r.Patch)
		if err == nil {
			_, err = objects.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		}
		return err
	}
}

// addresses matches the addresses of the rules' pages.
var addresses = regexp.MustCompile(` \(https://[^)]*\)`)

// denials returns the messages of a denial. Only policies add addresses to them.
func denials(err error, before string) []string {
	_, text, ok := strings.Cut(err.Error(), before)
	if !ok || !apierrors.IsInvalid(err) {
		return nil
	}
	return strings.Split(addresses.ReplaceAllString(text, ""), "; ")
}

// warnings returns the messages of the last response, without the names of policies.
func (w *webhook) warnings() []string {
	var messages []string
	for _, text := range w.client.Warned {
		if rest, ok := strings.CutPrefix(text, "Validation failed for ValidatingAdmissionPolicy '"); ok {
			_, text, _ = strings.Cut(rest, "': ")
		}
		messages = append(messages, strings.Split(text, "; ")...)
	}
	slices.Sort(messages)
	return messages
}
