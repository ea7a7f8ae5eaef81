package scenarios

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

var update = flag.Bool("update", false, "rewrite the table of scenarios in docs/testing-policies.md, and testdata")

var newest = restart.GatesOf(kubeversion.Last)

// fullJob returns a Job with containers of every kind.
func fullJob() *batchv1.Job {
	job := PlainJob()
	job.Name, job.UID = "full", "1"
	spec := &job.Spec.Template.Spec
	spec.Containers[0].ReadinessProbe = &corev1.Probe{}
	spec.Containers = append(spec.Containers, corev1.Container{Name: "helper", Image: "example.com/helper"})
	spec.InitContainers = []corev1.Container{
		{Name: "proxy", Image: "example.com/proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		{Name: "fetch", Image: "example.com/fetch"},
		{Name: "unpack", Image: "example.com/unpack"},
	}
	jobdefaults.Set(job)
	return job
}

// TestScenarios compares each scenario with its description in testdata.
func TestScenarios(t *testing.T) {
	var text strings.Builder
	for i := range All {
		b := &All[i]
		fmt.Fprintf(&text, "%s:\n", b.Name)
		for _, job := range []*batchv1.Job{PlainJob(), fullJob()} {
			fmt.Fprintf(&text, "  %s\n", summaryOf(b, job))
		}
	}
	const golden = "testdata/scenarios.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// summaryOf returns the facts that rules can read about a Pod after a scenario, and about its node unless that is ready.
func summaryOf(s *Scenario, job *batchv1.Job) string {
	text, pod, node := summary(s.Pod(job, newest)), s.Pod(job, newest), s.Node(job)
	switch {
	case pod.Spec.NodeName == "":
		return text
	case node == nil:
		return text + "; node is gone"
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			text += fmt.Sprintf("; node %s=%s %s %q", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, taint := range node.Spec.Taints {
		text += "; node " + taint.ToString()
	}
	return text
}

// summary returns the facts that rules can read about a Pod.
func summary(pod *corev1.Pod) string {
	parts := []string{string(pod.Status.Phase)}
	if pod.Status.Reason != "" {
		parts = append(parts, fmt.Sprintf("%s %q", pod.Status.Reason, pod.Status.Message))
	}
	if pod.DeletionTimestamp != nil {
		parts = append(parts, "deleted")
	}
	for _, c := range pod.Status.Conditions {
		text := string(c.Type) + "=" + string(c.Status)
		if c.Reason != "" {
			text += " " + c.Reason
		}
		if c.Message != "" {
			text += fmt.Sprintf(" %q", c.Message)
		}
		parts = append(parts, text)
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		text := s.Name
		switch state := s.State; {
		case state.Terminated != nil:
			text += fmt.Sprintf(" %d %s", state.Terminated.ExitCode, state.Terminated.Reason)
		case state.Running != nil:
			text += " running"
		case state.Waiting != nil:
			text += " waiting " + state.Waiting.Reason
		}
		if s.RestartCount > 0 {
			text += fmt.Sprintf(" restarted %d times", s.RestartCount)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// TestPodsAreWhole checks properties that every Pod must have.
func TestPodsAreWhole(t *testing.T) {
	for i := range All {
		b := &All[i]
		pod := b.Pod(fullJob(), newest)
		if phase := v1alpha1.PhaseOf(pod); phase != b.Phase {
			t.Errorf("%s: phase %s, want %s", b.Name, phase, b.Phase)
		}
		if Find(b.Name) != b {
			t.Errorf("%s: there are two of the name", b.Name)
		}
		for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			states := 0
			for _, set := range []bool{s.State.Terminated != nil, s.State.Running != nil, s.State.Waiting != nil} {
				if set {
					states++
				}
			}
			if states != 1 || s.Image == "" {
				t.Errorf("%s: %s has %d states, image %q", b.Name, s.Name, states, s.Image)
			}
			if b.Phase == corev1.PodFailed && !strings.HasPrefix(b.Name, "node-") && s.State.Running != nil {
				t.Errorf("%s: %s runs in a Pod that has failed", b.Name, s.Name)
			}
		}
		if n := len(pod.Status.ContainerStatuses); n != 0 && n != len(pod.Spec.Containers) {
			t.Errorf("%s: %d statuses of %d containers", b.Name, n, len(pod.Spec.Containers))
		}
		never := strings.HasPrefix(b.Name, "rejected") || slices.Contains([]string{
			"unschedulable", "gated", "deleted-unscheduled", "container-creating", "init-image-pull-backoff",
		}, b.Name)
		if cel.NeverStarted(pod) != never {
			t.Errorf("%s: never started: %t", b.Name, !never)
		}
		if cel.Unschedulable(pod) != strings.HasSuffix(b.Name, "unscheduled") && b.Name != "unschedulable" {
			t.Errorf("%s: unschedulable", b.Name)
		}
	}
}

// TestScenariosDiffer checks that no two scenarios produce the same Pod, for different Jobs.
func TestScenariosDiffer(t *testing.T) {
	for _, job := range []*batchv1.Job{PlainJob(), fullJob()} {
		names := map[string]string{}
		for i := range All {
			text := summaryOf(&All[i], job)
			if other := names[text]; other != "" {
				t.Errorf("%s and %s leave the same Pod", other, All[i].Name)
			}
			names[text] = All[i].Name
		}
	}
}

// source is a Go file that writes a text of a Pod's status.
type source struct{ Module, File string }

// sources returns the files that write the status of each scenario.
func sources(t *testing.T) (known map[string][]source) {
	t.Helper()
	data, err := os.ReadFile("../podstatus/testdata/sources.json")
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestLacks(t *testing.T) {
	restarts, full, all := PlainJob(), fullJob(), PlainJob()
	restarts.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	all.Spec.Template.Spec.Containers[0] = withRules(all.Spec.Template.Spec.Containers[0], restart.RestartAllContainers, 1)
	for name, want := range map[string][4]Need{ // a plain Job, one with restarts, one with every container kind, one with RestartAllContainers
		"failed":                  {},
		"restarting":              {Restarts, "", Restarts, Restarts},
		"init-container-failed":   {InitContainer, InitContainer, "", InitContainer},
		"init-image-pull-backoff": {InitContainer, InitContainer, "", InitContainer},
		"sidecar-killed":          {Sidecar, Sidecar, "", Sidecar},
		"second-container-failed": {SecondContainer, SecondContainer, "", SecondContainer},
		"crash-loop":              {CrashLoops, "", CrashLoops, CrashLoops},
		"restarted":               {RestartsInPlace, "", RestartsInPlace, ""},
		"never-ready":             {ReadinessProbe, ReadinessProbe, "", ReadinessProbe},
	} {
		s := Find(name)
		got := [4]Need{s.Lacks(PlainJob(), newest), s.Lacks(restarts, newest), s.Lacks(full, newest), s.Lacks(all, newest)}
		if got != want {
			t.Errorf("%s: lacks %q, want %q", name, got, want)
		}
	}
}

func TestExit(t *testing.T) {
	for i := range All {
		exit := Exit{Code: 1}
		if statuses := All[i].Pod(PlainJob(), newest).Status.ContainerStatuses; len(statuses) > 0 && statuses[0].State.Terminated != nil {
			exit.Code = statuses[0].State.Terminated.ExitCode
		}
		if s := exit.Scenario(PlainJob()); s != nil && summary(s.Pod(PlainJob(), newest)) == summary(All[i].Pod(PlainJob(), newest)) {
			t.Errorf("%s is %s", s.Name, All[i].Name)
		}
	}
	for _, code := range builtinCodes {
		if (Exit{Code: code}).Scenario(fullJob()) != nil {
			t.Errorf("code %d has two scenarios", code)
		}
	}
	for name, exit := range map[string]Exit{"exit-42": {Code: 42}, "exit-1-of-helper": {"helper", 1}, "exit-3": {"main", 3}} {
		s := exit.Scenario(fullJob())
		if s == nil || s.Name != name {
			t.Fatalf("%s: %v", name, s)
		}
		if text := summary(s.Pod(fullJob(), newest)); !strings.Contains(text, fmt.Sprintf(" %d Error", exit.Code)) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if (Exit{"nobody", 1}).Scenario(fullJob()) != nil {
		t.Error("a container that is not there exits")
	}

	other := PlainJob()
	other.Spec.Template.Spec.Containers[0].Name = "download"
	s := Exit{Code: 42}.Scenario(PlainJob())
	if text := summary(s.Pod(other, newest)); !strings.Contains(text, "download") || !strings.Contains(text, " 42 Error") {
		t.Errorf("the first container of another Job: %s", text)
	}
}

// TestScenariosAreDocumented compares the table in the documentation with All.
func TestScenariosAreDocumented(t *testing.T) {
	const file, begin, end = "../../../docs/testing-policies.md", "<!-- scenarios: begin -->\n", "<!-- scenarios: end -->"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(data), begin)
	table, tail, ends := strings.Cut(rest, end)
	if !found || !ends {
		t.Fatal("there is no table")
	}
	var want strings.Builder
	want.WriteString("| scenario | phase | what has happened | written by |\n|---|---|---|---|\n")
	known := sources(t)
	for _, b := range All {
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", b.Name, b.Phase, b.Means, links(known[b.Name]))
	}
	if *update {
		table = want.String()
		if err := os.WriteFile(file, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := gocmp.Diff(want.String(), table); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// links returns the links to sources.
func links(files []source) string {
	var all []string
	for _, s := range slices.Compact(files) {
		address := "https://github.com/kubernetes/kubernetes/blob/release-" + kubeversion.Default + "/" + s.File
		if s.Module != "" {
			address = "https://github.com/containerd/containerd/blob/main/" + s.File
		}
		all = append(all, fmt.Sprintf("[%s](%s)", path.Base(s.File), address))
	}
	return strings.Join(all, ", ")
}
