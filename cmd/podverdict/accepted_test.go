//go:build cluster

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// TestAcceptedJobs checks that check reports nothing for Jobs as kubectl get prints them after the API server has accepted them and
// set defaults, uids, selectors and labels. Its warnings are those of the API server.
func TestAcceptedJobs(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	namespace := plane.Namespace(t)
	names := acceptedJobs(t, player{client: client, namespace: namespace})
	if len(names) < 100 {
		t.Fatalf("the API server takes %d Jobs and CronJobs", len(names))
	}

	kubectl := exec.CommandContext(t.Context(), plane.Kubectl(t), "get", "jobs,cronjobs", "-n", namespace, "-o", "yaml",
		"--kubeconfig", plane.Kubeconfig(t, "admin", "system:masters"))
	printed, err := kubectl.Output()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	run([]string{"podverdict", "check", "-", "--only", "constraints"}, bytes.NewReader(printed), &stdout, &stderr)
	warnings := strings.Count(stdout.String(), " [indexes-may-be-untracked]\n")
	want := fmt.Sprintf("%d findings in %d Jobs: 0 errors, %[1]d warnings\n", warnings, len(names))
	if warnings == 0 || !strings.Contains(stdout.String(), "\n"+want) {
		t.Errorf("got %s%s, want %s where the Jobs are %v", stdout.String(), stderr.String(), want, names)
	}
}

// acceptedJobs creates all vectors that the API server accepts. It returns the vector names by object name.
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

// checkDefaults compares the defaults of package jobdefaults with the API server's, which also sets a selector and the defaults of
// Pods.
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
	maps.DeleteFunc(stored.Labels, generated) // copied from the template to a Job without labels
	if diff := cmp.Diff(stored.Labels, given.Labels, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-API server +jobdefaults):\n%s", given.Name, diff)
	}
}
