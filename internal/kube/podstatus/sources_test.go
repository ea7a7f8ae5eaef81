package podstatus_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

var (
	newest = restart.GatesOf(kubeversion.Last)
	at     = metav1.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// writers write the statuses of causes without a scenario.
var writers = map[string]func(*corev1.Pod){
	"restarts all containers": func(pod *corev1.Pod) {
		pod.Spec.Containers[0].RestartPolicy = new(corev1.ContainerRestartPolicyNever)
		pod.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}},
		}}
		podstatus.Start(pod, at)
		podstatus.Containers(pod)[0].Exit(1, "", at)
		podstatus.Settle(pod, newest, at)
	},
	"removed by a restart of all containers": func(pod *corev1.Pod) {
		podstatus.Start(pod, at)
		podstatus.Containers(pod)[0].Remove()
	},
	"unschedulable without preemption": func(pod *corev1.Pod) {
		podstatus.Unschedulable(pod, map[string]int{podstatus.Unscheduled: 1, podstatus.Untolerated: 1, podstatus.NoAffinity: 2}, at)
	},
}

// TestStatusesHaveSources checks that each status contains every text of its sources in the table. A test in conformance/upstream checks
// that the sources contain the texts at the lines in the table.
func TestStatusesHaveSources(t *testing.T) {
	data, err := os.ReadFile("testdata/sources.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string][]struct{ File, Text string }
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if want := len(scenarios.All) + len(writers); len(table) != want {
		t.Errorf("sources of %d causes, want %d", len(table), want)
	}
	for cause, sources := range table {
		written := written(t, cause)
		if len(sources) == 0 {
			t.Errorf("%s: no source", cause)
		}
		for _, source := range sources {
			if !strings.Contains(written, source.Text) {
				t.Errorf("%s: %q of %s is missing in %s", cause, source.Text, source.File, written)
			}
		}
	}
}

// written returns the status written for a cause, and the node of a scenario, as JSON.
func written(t *testing.T, cause string) string {
	t.Helper()
	job := scenarios.PlainJob()
	var objects []any
	if s := scenarios.Find(cause); s != nil {
		objects = []any{s.Pod(job, newest).Status, s.Node(job)}
	} else if write := writers[cause]; write != nil {
		pod := &corev1.Pod{Spec: job.Spec.Template.Spec}
		write(pod)
		objects = []any{pod.Status}
	} else {
		t.Errorf("%s: neither a scenario nor a writer", cause)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(objects); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
