package simulation

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// TestPendingStatuses tests that a pod waits according to its script, and that a rule on pending pods ends it. Package
// podstatus tests the rest of the kubelet's status.
func TestPendingStatuses(t *testing.T) {
	const because = ", podverdict.io/FailingToStart=True PendingRule"
	const initContainers = "initContainers: [{name: prepare}, {name: proxy, restartPolicy: Always}], "
	for _, test := range []struct{ name, template, script, before, after string }{
		{
			"an image", initContainers + "containers: [{name: main, image: a:1}, {name: side}]", "pending: forever, waiting: ImagePullBackOff",
			"Pending on node-0: prepare 0 Completed, proxy runs, main ImagePullBackOff " + podstatus.ImageMessage("ImagePullBackOff", "a:1") + ", side runs",
			"Failed on node-0: prepare 0 Completed, proxy 143 Error, main 137 ContainerStatusUnknown, side 143 Error" + because,
		},
		{
			"volumes", "containers: [{name: main}, {name: side}]", "pending: forever, waiting: ContainerCreating",
			"Pending on node-0: main ContainerCreating, side ContainerCreating",
			"Failed on node-0: main 137 ContainerStatusUnknown, side 137 ContainerStatusUnknown" + because,
		},
		{
			"a node", "containers: [{name: main}]", "pending: forever, unschedulable: true",
			"Pending on : PodScheduled=False Unschedulable", "Failed on : PodScheduled=False Unschedulable" + because,
		},
		{
			"an init container that runs", initContainers + "containers: [{name: main}]", "run: forever, exitCodes: {prepare: 1}",
			"Pending on node-0: prepare runs, proxy PodInitializing, main PodInitializing",
			"Failed on node-0: prepare 143 Error, proxy PodInitializing, main PodInitializing" + because,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := newSimulator(t.Context(), newLivingOptions(t, "completions: 1\ntemplate: {spec: {restartPolicy: Never, "+test.template+"}}",
				"nodes: 3\npods: [{"+test.script+"}]", "[{name: late, phase: Pending, when: 'true', action: FailJob}]", ""))
			if err != nil {
				t.Fatal(err)
			}
			var only *life
			var before string
			s.add(livingPeriod-1, func() {
				only = s.lives[0]
				before = described(only.pod)
			})
			if _, err := s.run(); err != nil {
				t.Fatal(err)
			}
			if before != test.before {
				t.Errorf("while it waits\ngot  %s\nwant %s", before, test.before)
			}
			if after := described(only.pod); after != test.after {
				t.Errorf("when it has ended\ngot  %s\nwant %s", after, test.after)
			}
		})
	}
}

// TestStartedStatusKeepsWhatRan tests that a pod that starts eventually has had its node, and its running containers,
// since it was scheduled.
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
