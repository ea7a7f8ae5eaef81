//go:build cluster

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
	"github.com/podverdict/podverdict/internal/controlplane"
	"github.com/podverdict/podverdict/internal/manifest"
)

// A Job with rules, one that policies select by the namespace's labels, and one of which there is nothing to say. What
// programs are given is a secret.
const liveObjects = `
apiVersion: batch/v1
kind: Job
metadata: {name: rules}
spec:
  backoffLimit: 3
  podFailurePolicy:
    rules:
    - {action: FailJob, onExitCodes: {operator: In, values: [42]}}
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}
  template:
    metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: hunter2}}
    spec:
      restartPolicy: Never
      volumes: [{name: v, csi: {driver: d, volumeAttributes: {key: hunter2}}}]
      initContainers: [{name: first, image: app, args: [hunter2], env: [{name: PASSWORD, value: hunter2}]}]
      containers:
      - name: main
        image: app
        command: [run, hunter2]
        args: [--password, hunter2]
        env: [{name: PASSWORD, value: hunter2}]
        lifecycle: {preStop: {exec: {command: [hunter2]}}}
        livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: Authorization, value: hunter2}]}}
        volumeMounts: [{name: v, mountPath: /v}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: custom}
spec:
  managedBy: podverdict.io/job-controller
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: quiet}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: rules-42, labels: {job-name: rules}}
spec: {restartPolicy: Never, containers: [{name: main, image: app, env: [{name: PASSWORD, value: hunter2}], args: [hunter2]}]}
status: {phase: Failed, containerStatuses: [{name: main, image: app, imageID: app, ready: false, restartCount: 0, state: {terminated: {exitCode: 42}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: rules-running, labels: {job-name: rules}}
spec: {restartPolicy: Never, containers: [{name: main, image: app}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: custom-oom, labels: {job-name: custom}}
spec: {restartPolicy: Never, containers: [{name: main, image: app}]}
status: {phase: Failed, containerStatuses: [{name: main, image: app, imageID: app, ready: false, restartCount: 0, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}
`

// A policy whose status keeps the rules that are in force, one that is only audited, and one for other Jobs.
const livePolicies = `
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: live-memory}
spec: {rules: [{name: oom, when: "pod.failedContainers().exists(c, c.oomkilled)", action: Ignore}]}
status: {lastGood: {generation: 1, spec: {rules: [{name: kept, when: "pod.failedContainers().exists(c, c.oomKilled)", action: Ignore, reason: OutOfMemory}]}}}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: live-memory}
spec: {policyName: live-memory, namespaceSelector: {matchLabels: {live: "yes"}}}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: live-strict}
spec: {rules: [{name: any, when: "attempt > 0", action: FailJob}]}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: live-strict}
spec: {policyName: live-strict, mode: Audit, jobSelector: {matchExpressions: [{key: none, operator: DoesNotExist}]}}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicy
metadata: {name: live-others}
spec: {rules: [{name: any, when: "attempt > 0", action: FailJob}]}
---
apiVersion: podverdict.io/v1alpha1
kind: PodFailurePolicyBinding
metadata: {name: live-others}
spec: {policyName: live-others, namespaceSelector: {matchLabels: {live: "no"}}}
`

// TestPlaygroundShowsCluster on a real API server: the list is that of eval, and a Job that the page opens gets in files the
// verdicts that it has in the cluster.
func TestPlaygroundShowsCluster(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	define(t, client)
	p := player{client: client, namespace: plane.Namespace(t)}
	must(t, p.label("live", "yes"))
	must(t, p.createAll(readText(t, liveObjects)))
	policies := readText(t, livePolicies)
	for _, policy := range policies.Policies {
		must(t, p.createCustom(v1alpha1.ResourcePodFailurePolicies, policy.Object))
	}
	for _, binding := range policies.Bindings {
		must(t, p.createCustom(v1alpha1.ResourcePodFailurePolicyBindings, binding.Object))
	}
	// The rules of live-memory never compiled: they are a second version, after those that the status keeps.
	memory := policies.Policies[0].Object
	memory.Spec.Rules[0].Reason = "Changed"
	must(t, p.amend(memory))
	kubeconfig := inNamespace(t, plane.Kubeconfig(t, "admin", "system:masters"), p.namespace)

	address, token, found := strings.Cut(startPlayground(t, "--cluster", "--kubeconfig", kubeconfig), "#cluster=")
	if !found || len(token) < 26 {
		t.Fatalf("the address has the token %q", token)
	}
	if status, text := fetch(t, address+"cluster/jobs", ""); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d %s", status, text)
	}
	list := fetchList(t, address, token)
	slices.SortFunc(list.Jobs, func(a, b playground.Job) int { return strings.Compare(a.Name, b.Name) }) // created in the same second
	want := playground.List{
		Scope: "namespace " + p.namespace,
		Jobs: []playground.Job{
			{Namespace: p.namespace, Name: "custom", Outlook: "at least 0 of 6 failures used; next Pod soon", Pods: []playground.Pod{
				{Name: "custom-oom", Verdict: "Ignore", Rule: "live-memory/kept", Because: "main OOMKilled (137); OutOfMemory"},
			}},
			{Namespace: p.namespace, Name: "rules", Outlook: "at least 1 of 3 failures used; fails now: PodFailurePolicy", Pods: []playground.Pod{
				{Name: "rules-42", Verdict: "FailJob", Rule: "0", Because: "main exited with 42"},
			}},
		},
		Others: 1, Summary: []string{"2 of 3 Pods of 3 Jobs failed: 1 FailJob, 1 Ignore", "not known: failures before these Pods, because the Job has no status (2 Jobs)"},
	}
	if !strings.Contains(list.Notes, "live-memory does not compile, generation 1 stays in force") {
		t.Errorf("the notes are %s", list.Notes)
	}
	list.Notes = ""
	list.Jobs[0].Outlook = regexp.MustCompile("(now|in [0-9]+s)$").ReplaceAllString(list.Jobs[0].Outlook, "soon")
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("the list differs from what is wanted (-want +got):\n%s", diff)
	}
	for _, job := range []string{"rules", "custom", "quiet"} {
		t.Run(job, func(t *testing.T) { sameInFiles(t, address, token, kubeconfig, p.namespace, job) })
	}
	if status, _ := fetch(t, address+"cluster/jobs/kube-system/rules", token); status != http.StatusNotFound {
		t.Errorf("a Job of another namespace: %d", status)
	}
	seesChange(t, p, address, token)
	for _, event := range plane.AuditLog(t, p.namespace) {
		if strings.HasPrefix(event.UserAgent, "podverdict/") && !slices.Contains([]string{"get", "list"}, event.Verb) {
			t.Errorf("the page did %s %s", event.Verb, event.RequestURI)
		}
	}
}

// sameInFiles opens a Job and compares what eval says of the text with what it says of the cluster.
func sameInFiles(t *testing.T, address, token, kubeconfig, namespace, job string) {
	t.Helper()
	status, text := fetch(t, address+"cluster/jobs/"+namespace+"/"+job, token)
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	if strings.Contains(text, "hunter2") || strings.Contains(text, "managedFields:") || strings.Contains(text, "live-others") {
		t.Errorf("the page gets too much:\n%s", text)
	}
	file := filepath.Join(t.TempDir(), "input.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	now := time.Now().UTC().Format(time.RFC3339)
	live := evalOf(t, "job/"+job, "--kubeconfig", kubeconfig, "--now", now)
	if job == "quiet" { // a cluster has no Pods, and files that have none have scenarios
		return
	}
	if diff := cmp.Diff(live, evalOf(t, "-f", file, "--now", now)); diff != "" {
		t.Errorf("the verdicts differ (-cluster +files):\n%s\n%s", diff, text)
	}
}

// seesChange waits until a Pod that fails is in the list.
func seesChange(t *testing.T, p player, address, token string) {
	t.Helper()
	pod := readText(t, liveObjects).Pods[1].Object
	pod.Status.Phase = corev1.PodFailed
	must(t, p.setStatus(pod))
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		for _, job := range fetchList(t, address, token).Jobs {
			if slices.ContainsFunc(job.Pods, func(listed playground.Pod) bool { return listed.Name == pod.Name && listed.Verdict == "Count" }) {
				return
			}
		}
	}
	t.Error("the list does not show that a Pod has failed")
}

// TestPlaygroundOfReader is about a user who may not read custom policies, and one who may read nothing.
func TestPlaygroundOfReader(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	define(t, client)
	p := player{client: client, namespace: plane.Namespace(t)}
	must(t, p.letSeeJobs(t.Context(), "reader", "pods"))
	must(t, p.createAll(readText(t, liveObjects)))
	reader := inNamespace(t, plane.Kubeconfig(t, "reader"), p.namespace)
	address, token, _ := strings.Cut(startPlayground(t, "--cluster", "--kubeconfig", reader, "--listen", "localhost:0"), "#cluster=")
	if list := fetchList(t, address, token); len(list.Jobs) != 2 || !strings.Contains(list.Notes, "custom policies are left out of account") {
		t.Errorf("the list is %+v", list)
	}
	nobody := inNamespace(t, plane.Kubeconfig(t, "nobody"), p.namespace)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--kubeconfig", nobody}, "see kubectl auth can-i list jobs.batch -n " + p.namespace},
		{[]string{"--kubeconfig", reader, "-A"}, "see kubectl auth can-i list jobs.batch -A"},
	} {
		var stderr bytes.Buffer
		code := run(slices.Concat([]string{"podverdict", "playground", pageFolder(t), "--cluster"}, c.flags), nil, &bytes.Buffer{}, &stderr)
		if code != 2 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: %d %s, want %s", c.flags, code, stderr.String(), c.want)
		}
	}
}

func fetchList(t *testing.T, address, token string) playground.List {
	t.Helper()
	status, text := fetch(t, address+"cluster/jobs", token)
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	var list playground.List
	must(t, json.Unmarshal([]byte(text), &list))
	return list
}

// evalOf returns what eval says, as JSON.
func evalOf(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"podverdict", "eval", "-o", "json"}, args...), nil, &stdout, &stderr); code != 0 {
		t.Fatalf("eval %v: %d %s", args, code, stderr.String())
	}
	return stdout.String()
}

func readText(t *testing.T, text string) *manifest.Set {
	t.Helper()
	set, err := manifest.Read(t.Context(), manifest.Options{Filenames: []string{"-"}, Stdin: strings.NewReader(text)})
	must(t, err)
	return set
}
