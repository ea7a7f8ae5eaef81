//go:build cluster

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/controlplane"
	"github.com/podverdict/podverdict/internal/jobdefaults"
)

// check finds nothing in what the API server has accepted and given its defaults, uids, selectors and labels, as kubectl get prints
// it, and warns of what the API server warns of.
func TestAcceptedJobs(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	namespace := plane.Namespace(t)
	names := acceptedJobs(t, player{client: client, namespace: namespace})
	if len(names) < 100 {
		t.Fatalf("the API server takes %d Jobs and CronJobs", len(names))
	}

	var stdout, stderr bytes.Buffer
	input := strings.NewReader(printedList(t, client, namespace))
	run([]string{"podverdict", "check", "-", "--only", "constraints"}, input, &stdout, &stderr)
	warnings := strings.Count(stdout.String(), " [indexes-may-be-untracked]\n")
	want := fmt.Sprintf("%d findings in %d Jobs: 0 errors, %[1]d warnings\n", warnings, len(names))
	if warnings == 0 || !strings.HasSuffix(stdout.String(), "\n"+want) {
		t.Errorf("got %s%s, want %s where the Jobs are %v", stdout.String(), stderr.String(), want, names)
	}
}

// printedList returns the Jobs and CronJobs of a namespace as kubectl get -o json prints them.
func printedList(t *testing.T, client kubernetes.Interface, namespace string) string {
	t.Helper()
	jobs, err := client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cronJobs, err := client.BatchV1().CronJobs(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List"}
	var items []any
	for _, job := range jobs.Items {
		job.APIVersion, job.Kind = "batch/v1", "Job"
		items = append(items, job)
	}
	for _, cronJob := range cronJobs.Items {
		cronJob.APIVersion, cronJob.Kind = "batch/v1", "CronJob"
		items = append(items, cronJob)
	}
	list["items"] = items
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// acceptedJobs creates all vectors that the API server takes. Their names lead to those of the vectors.
func acceptedJobs(t *testing.T, p player) map[string]string {
	t.Helper()
	constraints, err := vectors.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	guardrails, err := vectors.Guardrails()
	if err != nil {
		t.Fatal(err)
	}
	accepted := map[string]string{}
	for i, vector := range append(constraints, guardrails...) {
		name := fmt.Sprintf("vector-%d", i)
		for _, object := range []map[string]any{vector.Object, vector.OldObject} {
			if object != nil && p.accepts(t, name, object) {
				accepted[name] = vector.Name
				break
			}
		}
	}
	return accepted
}

func (p player) accepts(t *testing.T, name string, object map[string]any) bool {
	t.Helper()
	object = maps.Clone(object)
	metadata := map[string]any{}
	if given, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(given)
	}
	metadata["name"], metadata["namespace"] = name, p.namespace
	object["metadata"] = metadata
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if object["kind"] == "CronJob" {
		var cronJob batchv1.CronJob
		if json.Unmarshal(data, &cronJob) != nil {
			return false
		}
		_, err = p.client.BatchV1().CronJobs(p.namespace).Create(t.Context(), &cronJob, metav1.CreateOptions{})
		return err == nil
	}
	var job batchv1.Job
	if json.Unmarshal(data, &job) != nil {
		return false
	}
	stored, err := p.client.BatchV1().Jobs(p.namespace).Create(t.Context(), &job, metav1.CreateOptions{})
	if err == nil {
		checkDefaults(t, job, stored)
	}
	return err == nil
}

// checkDefaults compares the defaults of package jobdefaults with those of the API server, which has also set a selector
// and the defaults of Pods.
func checkDefaults(t *testing.T, given batchv1.Job, stored *batchv1.Job) {
	t.Helper()
	template := given.Spec.Template.DeepCopy()
	jobdefaults.Set(&given)
	if diff := cmp.Diff(template, &given.Spec.Template); diff != "" {
		t.Errorf("%s: the template is changed:\n%s", given.Name, diff)
	}
	stored.Spec.Selector, stored.Spec.Template = given.Spec.Selector, given.Spec.Template
	if diff := cmp.Diff(stored.Spec, given.Spec, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-API server +jobdefaults):\n%s", given.Name, diff)
	}
	generated := func(label, _ string) bool {
		return strings.HasSuffix(label, "controller-uid") || strings.HasSuffix(label, "job-name")
	}
	maps.DeleteFunc(stored.Labels, generated) // of the template, and so a Job's that has none
	if diff := cmp.Diff(stored.Labels, given.Labels, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-API server +jobdefaults):\n%s", given.Name, diff)
	}
}
