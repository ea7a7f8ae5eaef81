package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// waited returns the Job's only pod, described just before it is looked at, and when it has ended.
func waited(t *testing.T, o Options) (before, after string) {
	t.Helper()
	s, err := newSimulator(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var only *life
	s.add(livingPeriod-1, func() {
		only = s.lives[0]
		before = described(only.pod)
	})
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	return before, described(only.pod)
}

// described returns a pod's status, all that rules may ask for but times.
func described(p *corev1.Pod) string {
	lines := []string{strings.TrimSpace(string(p.Status.Phase) + " " + p.Spec.NodeName)}
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range statuses {
			state := "running"
			if w := c.State.Waiting; w != nil {
				state = strings.TrimSpace(w.Reason + " " + w.Message)
			}
			if e := c.State.Terminated; e != nil {
				state = strings.TrimSpace(fmt.Sprintf("%d %s %s", e.ExitCode, e.Reason, e.Message))
			}
			lines = append(lines, fmt.Sprintf("%s: %s, ready %t, started %t", c.Name, state, c.Ready, *c.Started))
		}
	}
	for _, c := range p.Status.Conditions {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s=%s %s %s", c.Type, c.Status, c.Reason, c.Message)))
	}
	return strings.Join(lines, "\n")
}

// gone is the state of a container of which nothing is left.
const gone = "137 ContainerStatusUnknown The container could not be located when the pod was terminated, ready false, started false"

func TestPendingStatuses(t *testing.T) {
	const because = "podverdict.io/FailingToStart=True PendingRule Pod default/demo-x5psj matching FailJob rule late of PodFailurePolicy start"
	const creating = "False PodSandboxNotReady no pod sandbox exists"
	const unscheduled = "PodScheduled=False Unschedulable 0/3 nodes are available: 3 Insufficient cpu. " +
		"preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
	const initContainers = "initContainers: [{name: prepare}, {name: proxy, restartPolicy: Always}], "
	for _, test := range []struct {
		name, template, script string
		before, after          []string
	}{
		{
			"an image", initContainers + "containers: [{name: main, image: a:1}, {name: side}]", "pending: forever, waiting: ImagePullBackOff",
			append([]string{
				"Pending node-0", "prepare: 0 Completed, ready true, started false", "proxy: running, ready true, started true",
				"main: ImagePullBackOff " + podstatus.ImageMessage("ImagePullBackOff", "a:1") + ", ready false, started false", "side: running, ready true, started true",
			}, conditionTexts("True", "", "main")...),
			append([]string{
				"Failed node-0", "prepare: 0 Completed, ready true, started false", "proxy: 143 Error, ready false, started false",
				"main: " + gone, "side: 143 Error, ready false, started false", because,
			}, conditionTexts("False PodSandboxNotReady pod sandbox is not ready", "", "proxy main side")...),
		},
		{
			"volumes", "containers: [{name: main}, {name: side}]", "pending: forever, waiting: ContainerCreating",
			append([]string{
				"Pending node-0", "main: ContainerCreating, ready false, started false", "side: ContainerCreating, ready false, started false",
			}, conditionTexts(creating, "", "main side")...),
			append([]string{"Failed node-0", "main: " + gone, "side: " + gone, because}, conditionTexts(creating, "", "main side")...),
		},
		{
			"a node", "containers: [{name: main}]", "pending: forever, unschedulable: true",
			[]string{"Pending", unscheduled},
			[]string{"Failed", unscheduled, because},
		},
		{
			"an init container that runs", initContainers + "containers: [{name: main}]", "run: forever, exitCodes: {prepare: 1}",
			append([]string{
				"Pending node-0", "prepare: running, ready false, started true", "proxy: PodInitializing, ready false, started false",
				"main: PodInitializing, ready false, started false",
			}, conditionTexts("True", "prepare proxy", "proxy main")...),
			[]string{
				"Failed node-0", "prepare: 143 Error, ready false, started false", "proxy: PodInitializing, ready false, started false",
				"main: PodInitializing, ready false, started false", because,
				"PodReadyToStartContainers=False PodSandboxNotReady pod sandbox is not ready",
				"Initialized=False ContainersNotInitialized containers with incomplete status: [prepare proxy]",
				"Ready=False PodFailed", "ContainersReady=False PodFailed", "PodScheduled=True",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := waited(t, newLivingOptions(t, "completions: 1\ntemplate: {spec: {restartPolicy: Never, "+test.template+"}}",
				"nodes: 3\npods: [{"+test.script+"}]", "[{name: late, phase: Pending, when: 'true', action: FailJob}]", ""))
			if diff := cmp.Diff(test.before, strings.Split(before, "\n")); diff != "" {
				t.Errorf("while it waits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.after, strings.Split(after, "\n")); diff != "" {
				t.Errorf("when it has ended (-want +got):\n%s", diff)
			}
		})
	}
}

// conditionTexts describe the conditions of a pod on a node, with the names of containers that are not through, and not ready.
func conditionTexts(sandbox, incomplete, unready string) []string {
	initialized := "Initialized=True"
	if incomplete != "" {
		initialized = "Initialized=False ContainersNotInitialized containers with incomplete status: [" + incomplete + "]"
	}
	const because = "=False ContainersNotReady containers with unready status: ["
	return []string{
		"PodReadyToStartContainers=" + sandbox, initialized, "Ready" + because + unready + "]", "ContainersReady" + because + unready + "]",
		"PodScheduled=True",
	}
}

// A pod that starts after all has had its node, and the containers that ran, since it was scheduled.
func TestStartedStatusKeepsWhatRan(t *testing.T) {
	o := newOptions(t, "completions: 1", "nodes: 2\npods: [{pending: 1m, waiting: ErrImagePull, run: forever}]")
	s, err := newSimulator(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	s.add(100, func() {
		p := s.lives[0].pod
		since := func(at *metav1.Time) string { return at.Sub(epoch).String() }
		got = fmt.Sprint(p.Status.Phase, " on ", p.Spec.NodeName, " since ", since(p.Status.StartTime), ", main since ",
			since(&p.Status.ContainerStatuses[0].State.Running.StartedAt), ", side since ", since(&p.Status.ContainerStatuses[1].State.Running.StartedAt))
	})
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	if want := "Running on node-0 since 0s, main since 1m0s, side since 0s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
