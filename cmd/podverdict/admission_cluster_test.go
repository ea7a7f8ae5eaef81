//go:build cluster

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/admission"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// TestClusterAdmissionPlan checks that the plan lists the objects that the API server would reject once the policies are applied, with all
// errors, and the objects that applying changes or leaves over.
func TestClusterAdmissionPlan(t *testing.T) {
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	p := player{client: client, namespace: plane.Namespace(t)}
	other := player{client: client, namespace: plane.Namespace(t)}
	p.createOld(t)
	other.createOld(t)
	kubeconfig := plane.Kubeconfig(t, "admin", "system:masters")
	kubectl := func(stdin string, args ...string) {
		command := exec.CommandContext(t.Context(), plane.Kubectl(t), append(args, "--kubeconfig", kubeconfig)...)
		command.Stdin = strings.NewReader(stdin)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
	}
	generate := func(flags ...string) string {
		return inCluster(t, cli.ExitFine, "", append([]string{
			"generate", "vap", "--name", "planned", "--namespace-selector", corev1.LabelMetadataName + "=" + p.namespace,
			"--match-condition", `meant=!object.metadata.name.startsWith("exempt")`,
		}, flags...)...)
	}
	plan := func(code int, policies string) (plan readPlan) {
		text := inCluster(t, code, policies, "admission", "plan", "--kubeconfig", kubeconfig, "-l", "old", "-f", "-", "-o", "json")
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			t.Fatal(err)
		}
		return plan
	}
	t.Cleanup(func() { removePolicies(t, client) })

	before := generate("--action", "warning=Deny")
	planned := plan(cli.ExitFindings, before)
	checkPlans(t, planned, "created", "planned-guardrails-job-errors", "planned-guardrails-job-errors", "planned-guardrails-cronjob-errors", "planned-guardrails-cronjob-errors")
	kubectl(before, "apply", "-f", "-")
	want := p.refusedAnew(t)
	for _, name := range other.create(t, "-anew", metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}) {
		t.Errorf("%s is refused in another namespace", name)
	}
	var got []string
	for _, f := range planned.Findings {
		if name := f.Kind + " " + f.Job.Namespace + "/" + f.Job.Name; !slices.Contains(got, name) {
			got = append(got, name)
		}
		if f.Help != "https://podverdict.github.io/podverdict/rules/"+f.Check || f.Field == "" || f.Message == "" {
			t.Errorf("finding %+v", f)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 10 || len(want) > 20 {
		t.Errorf("%d refused (-API server +plan):\n%s", len(want), diff)
	}

	checkPlans(t, plan(cli.ExitFindings, before), "unchanged", "planned-guardrails-job-errors", "planned-guardrails-job-errors", "planned-guardrails-cronjob-errors", "planned-guardrails-cronjob-errors")
	kubectl(strings.NewReplacer("-errors", "-deny", "app.kubernetes.io/instance: planned", "a: b").Replace(before), "apply", "-f", "-")
	kubectl(generate("--for", "cronjob", "--action", "G-TTL=Audit"), "apply", "-f", "-")
	after := plan(cli.ExitFindings, generate("--for", "job", "--action", "error=Deny+Audit", "--failure-policy", "Ignore"))
	checkPlans(t, after, "created", "planned-guardrails-job-warnings", "planned-guardrails-job-warnings")
	checkPlans(t, after, "changed", "planned-guardrails-job-errors", "planned-guardrails-job-errors")
	checkPlans(t, after, "left over", twice("planned-guardrails-cronjob-errors", "planned-guardrails-cronjob-g-ttl", "planned-guardrails-cronjob-warnings", "planned-guardrails-job-deny")...)
	for _, command := range after.Delete {
		kubectl("", strings.Fields(command)[1:]...)
	}
	if again := plan(cli.ExitFindings, generate("--for", "job")); len(again.Delete) > 0 {
		t.Errorf("left over after all was deleted: %v", again.Delete)
	}
}

// TestClusterAdmissionPlanOfJobsMade checks that without policies for CronJobs and JobSets, the plan evaluates the Jobs that they make.
func TestClusterAdmissionPlanOfJobsMade(t *testing.T) {
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	defineJobSets(t, client)
	p := player{client: client, namespace: plane.Namespace(t)}
	bad, good := oldSpec(1), oldSpec(0)
	for name, spec := range map[string]batchv1.JobSpec{"bad": bad, "good": good} {
		cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.CronJobSpec{Schedule: "0 0 * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: spec}}}
		if _, err := client.BatchV1().CronJobs(p.namespace).Create(t.Context(), cronJob, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	set := &v1alpha2.JobSet{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha2.GroupVersion.String(), Kind: "JobSet"}, ObjectMeta: metav1.ObjectMeta{Name: "set"},
		Spec: v1alpha2.JobSetSpec{ReplicatedJobs: []v1alpha2.ReplicatedJob{
			{Name: "a", Replicas: 1, Template: batchv1.JobTemplateSpec{Spec: good}}, {Name: "b", Replicas: 1, Template: batchv1.JobTemplateSpec{Spec: bad}},
		}},
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := post(client, jobSetsPath+"/namespaces/"+p.namespace+"/jobsets", text); err != nil {
		t.Fatal(err)
	}
	got := inCluster(t, cli.ExitFindings, inCluster(t, cli.ExitFine, "", "generate", "vap", "--for", "job"),
		"admission", "plan", "--kubeconfig", plane.Kubeconfig(t, "admin", "system:masters"), "-n", p.namespace, "-f", "-")
	_, got, _ = strings.Cut(got, "\n\n")
	want := strings.ReplaceAll(`If created anew, these would be refused:

CronJob NS/bad: error: spec.jobTemplate.spec.backoffLimit: 20: must be at most 10 [backoff-limit-too-high]
  hint: see https://podverdict.github.io/podverdict/rules/backoff-limit-too-high

JobSet NS/set: error: spec.replicatedJobs[1].template.spec.backoffLimit: 20: must be at most 10 [backoff-limit-too-high]
  hint: see https://podverdict.github.io/podverdict/rules/backoff-limit-too-high

2 findings in 2 CronJobs, 1 JobSet: 2 errors, 0 warnings
podverdict rules ID explains a finding, by the id in brackets
`, "NS", p.namespace)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// readPlan is the plan's JSON output.
type readPlan struct {
	Policies []admission.PlannedObject
	Delete   []string
	Findings []struct {
		Kind                        string
		Job                         manifest.Reference
		Check, Field, Message, Help string
	}
}

// inCluster runs a command and returns its standard output.
func inCluster(t *testing.T, code int, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(append([]string{"podverdict"}, args...), strings.NewReader(stdin), &stdout, &stderr); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, got, code, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// checkPlans compares the names of the objects that have the given plan.
func checkPlans(t *testing.T, p readPlan, plan string, want ...string) {
	t.Helper()
	var got []string
	for _, one := range p.Policies {
		if one.Plan == plan {
			got = append(got, one.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%+v", plan, diff, p.Policies)
	}
}

func twice(names ...string) []string { return slices.Concat(names, names) }

// oldSpec returns the spec of a Job. Each bit adds one mistake.
func oldSpec(bits int) batchv1.JobSpec {
	ignore := batchv1.PodFailurePolicyRule{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}
	spec := batchv1.JobSpec{
		BackoffLimit: new(int32(3)), ActiveDeadlineSeconds: new(int64(60)), TTLSecondsAfterFinished: new(int32(86400)),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{ignore}},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "app"}},
		}},
	}
	if bits&1 != 0 {
		spec.BackoffLimit = new(int32(20))
	}
	if bits&2 != 0 {
		spec.TTLSecondsAfterFinished = new(int32(1))
	}
	if bits&4 != 0 {
		spec.ActiveDeadlineSeconds = nil
	}
	if bits&8 != 0 {
		spec.PodFailurePolicy = nil
	}
	return spec
}

// old returns 20 Jobs and 10 CronJobs. Half of each are valid or exempt by name.
func old(suffix string) (jobs []*batchv1.Job, cronJobs []*batchv1.CronJob) {
	name := func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: fmt.Sprintf("%s-%02d%s", []string{"old", "exempt"}[i%5/4], i, suffix), Labels: map[string]string{"old": ""}}
	}
	for i := range 20 {
		jobs = append(jobs, &batchv1.Job{ObjectMeta: name(i), Spec: oldSpec(i % 16 * (i % 2))})
	}
	for i := range 10 {
		template := batchv1.JobTemplateSpec{Spec: oldSpec(i * (i % 2))}
		cronJobs = append(cronJobs, &batchv1.CronJob{ObjectMeta: name(i), Spec: batchv1.CronJobSpec{Schedule: "0 0 * * *", JobTemplate: template}})
	}
	return jobs, cronJobs
}

func (p player) createOld(t *testing.T) {
	t.Helper()
	if refused := p.create(t, "", metav1.CreateOptions{}); len(refused) > 0 {
		t.Fatalf("refused: %v", refused)
	}
}

// create creates the old objects and returns those that are rejected.
func (p player) create(t *testing.T, suffix string, o metav1.CreateOptions) (refused []string) {
	t.Helper()
	jobs, cronJobs := old(suffix)
	add := func(kind, name string, err error) {
		switch {
		case apierrors.IsInvalid(err):
			refused = append(refused, kind+" "+p.namespace+"/"+strings.TrimSuffix(name, suffix))
		case err != nil:
			t.Fatal(err)
		}
	}
	for _, job := range jobs {
		_, err := p.client.BatchV1().Jobs(p.namespace).Create(context.Background(), job, o)
		add("Job", job.Name, err)
	}
	for _, cronJob := range cronJobs {
		_, err := p.client.BatchV1().CronJobs(p.namespace).Create(context.Background(), cronJob, o)
		add("CronJob", cronJob.Name, err)
	}
	slices.Sort(refused)
	return refused
}

// refusedAnew returns the objects rejected in a dry run. It waits until the policies are in effect.
func (p player) refusedAnew(t *testing.T) (refused []string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		before := refused
		refused = p.create(t, "-anew", metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if len(refused) > 0 && slices.Equal(before, refused) {
			break
		}
	}
	return refused
}
