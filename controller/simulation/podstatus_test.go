package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// final returns the final statuses of pods, as JSON without times, by attempt.
func final(t *testing.T, o Options) []string {
	t.Helper()
	s, err := newSimulator(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var texts []string
	s.inspect = func(s *simulator) {
		for _, l := range s.lives {
			if l.stage == ended && !seen[string(l.pod.UID)] {
				seen[string(l.pod.UID)] = true
				texts = append(texts, brief(l.pod.Status))
			}
		}
	}
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	return texts
}

// brief returns a status without the parts common to all.
func brief(status corev1.PodStatus) string {
	return string(status.Phase) + status.Reason + ": " + strings.Join(parts(status, corev1.DisruptionTarget, "ConfigIssue", corev1.PodReady), ", ")
}

// described returns the place of a pod, the states of its containers, and the reason why it does not start.
func described(p *corev1.Pod) string {
	conditions := []corev1.PodConditionType{v1alpha1.FailingToStart}
	if p.Spec.NodeName == "" {
		conditions = append(conditions, corev1.PodScheduled)
	}
	return fmt.Sprintf("%s on %s: %s", p.Status.Phase, p.Spec.NodeName, strings.Join(parts(p.Status, conditions...), ", "))
}

// parts describes the containers, and the conditions of some types.
func parts(status corev1.PodStatus, types ...corev1.PodConditionType) (texts []string) {
	for _, c := range append(status.InitContainerStatuses, status.ContainerStatuses...) {
		text := c.Name + " runs"
		if w := c.State.Waiting; w != nil {
			text = strings.TrimSpace(c.Name + " " + w.Reason + " " + w.Message)
		}
		if ended := c.State.Terminated; ended != nil {
			text = fmt.Sprintf("%s %d %s", c.Name, ended.ExitCode, ended.Reason)
		}
		texts = append(texts, text)
	}
	for _, c := range status.Conditions {
		if slices.Contains(types, c.Type) {
			texts = append(texts, strings.TrimSpace(string(c.Type)+"="+string(c.Status)+" "+c.Reason))
		}
	}
	return texts
}

func TestFinalStatuses(t *testing.T) {
	const sidecar = "completions: 1\nbackoffLimit: 0\npodReplacementPolicy: Failed\ntemplate: {spec: {restartPolicy: Never, " +
		"initContainers: [{name: prepare}, {name: proxy, restartPolicy: Always}], containers: [{name: main}]}}"
	for _, test := range []struct{ name, script, want string }{
		{"success", "", "Succeeded: prepare 0 Completed, proxy 0 Completed, main 0 Completed, Ready=False PodCompleted"},
		{"exit code", "pods: [{exitCode: 7}]", "Failed: prepare 0 Completed, proxy 0 Completed, main 7 Error, Ready=False PodFailed"},
		{"sidecar", "pods: [{exitCodes: {proxy: 143}}]", "Succeeded: prepare 0 Completed, proxy 143 Error, main 0 Completed, Ready=False PodCompleted"},
		{"init container", "pods: [{exitCodes: {prepare: 2}}]", "Failed: prepare 2 Error, proxy PodInitializing, main PodInitializing, Ready=False PodFailed"},
		{"memory", "pods: [{oom: true}]", "Failed: prepare 0 Completed, proxy 0 Completed, main 137 OOMKilled, Ready=False PodFailed"},
		{
			"node pressure", "pods: [{condition: DisruptionTarget}]",
			"FailedEvicted: prepare 0 Completed, proxy 0 Completed, main 137 Error, DisruptionTarget=True TerminationByKubelet, Ready=False PodFailed",
		},
		{"condition", "pods: [{condition: ConfigIssue}]", "Failed: prepare 0 Completed, proxy 0 Completed, main 1 Error, ConfigIssue=True, Ready=False PodFailed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := final(t, newOptions(t, sidecar, test.script))
			if len(got) != 1 || got[0] != test.want {
				t.Errorf("\ngot  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestEvictedStatus(t *testing.T) {
	var statuses []corev1.PodStatus
	o := newOptions(t, "completions: 1"+policy, "pods: [{run: 1m, stop: 5s}]\nevents: [{at: 30s, evict: 0}]")
	s, err := newSimulator(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	s.inspect = func(s *simulator) {
		for _, e := range s.result.Events[judged:] {
			judged++
			if e.Type == PodFailed && e.Verdict.Action != batchv1.PodFailurePolicyActionIgnore {
				t.Errorf("the verdict is %v", e.Verdict.Action)
			}
		}
		for _, l := range s.lives {
			if l.pod.DeletionTimestamp != nil {
				statuses = append(statuses, l.pod.Status)
			}
		}
	}
	r, err := s.run()
	if err != nil {
		t.Fatal(err)
	}
	if len(statuses) == 0 || !strings.Contains(brief(statuses[0]), "DisruptionTarget=True EvictionByEvictionAPI") {
		t.Errorf("statuses are %v", statuses)
	}
	if r.Summary.Verdicts["Ignore"] != 1 {
		t.Errorf("verdicts are %v", r.Summary.Verdicts)
	}
}
