package podstate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestWait checks the description of what a Pod waits for, and whether the wait can last forever.
func TestWait(t *testing.T) {
	now := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	const running = "state: {running: {startedAt: '2026-09-14T08:00:05Z'}}"
	for name, c := range map[string]struct {
		pod    string
		ready  string // status of the node's condition; "" for no node
		gone   bool   // the node is known not to exist
		want   string
		passes bool // the wait ends by itself
	}{
		"runs":      {pod: "status: {phase: Running, containerStatuses: [{name: main, " + running + "}]}"},
		"has ended": {pod: "{metadata: {deletionTimestamp: '2026-09-14T08:00:30Z'}, status: {phase: Failed}}"},
		"image": {
			pod:  `status: {phase: Pending, startTime: '2026-09-14T08:00:00Z', containerStatuses: [{name: main, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "app:typo"'}}}]}`,
			want: `main cannot start since 2026-09-14T08:00:00Z: ImagePullBackOff: Back-off pulling image "app:typo"`,
		},
		"config": {
			pod:  "status: {phase: Pending, startTime: '2026-09-14T08:00:00Z', containerStatuses: [{name: main, state: {waiting: {reason: CreateContainerConfigError, message: secret \"s\" not found}}}]}",
			want: `main cannot start since 2026-09-14T08:00:00Z: CreateContainerConfigError: secret "s" not found`,
		},
		"image of an init container": {
			pod:  "status: {phase: Pending, initContainerStatuses: [{name: setup, state: {waiting: {reason: ErrImagePull}}}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}",
			want: "setup cannot start: ErrImagePull",
		},
		"init container": {
			pod:  "status: {phase: Pending, initContainerStatuses: [{name: setup, " + running + "}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}",
			want: "waits for init container setup, which runs since 2026-09-14T08:00:05Z",
		},
		"sidecar that has not started": {
			pod:  "{spec: {initContainers: [{name: proxy, restartPolicy: Always}]}, status: {phase: Pending, initContainerStatuses: [{name: proxy, started: false, " + running + "}]}}",
			want: "waits for init container proxy, which runs since 2026-09-14T08:00:05Z",
		},
		"sidecar that has started": {
			pod: "{spec: {initContainers: [{name: proxy, restartPolicy: Always}]}, status: {phase: Running, initContainerStatuses: [{name: proxy, started: true, " + running + "}]}}",
		},
		"crashes":                  {pod: "status: {phase: Running, containerStatuses: [{name: main, state: {waiting: {reason: CrashLoopBackOff}}}]}"},
		"is created":               {pod: "status: {phase: Pending, startTime: '2026-09-14T09:59:30Z', containerStatuses: [{name: main, state: {waiting: {reason: ContainerCreating}}}]}"},
		"is created for long":      {pod: "status: {phase: Pending, startTime: '2026-09-14T08:00:00Z', containerStatuses: [{name: main, state: {waiting: {reason: ContainerCreating}}}]}", want: "no container has started since 2026-09-14T08:00:00Z: volumes, network or images are not ready, its events say which"},
		"no kubelet looks at it":   {pod: "status: {phase: Pending, startTime: '2026-09-14T08:00:00Z'}", want: "no container has started since 2026-09-14T08:00:00Z: volumes, network or images are not ready, its events say which"},
		"no scheduler looks at it": {pod: "{metadata: {creationTimestamp: '2026-09-14T08:00:00Z'}, status: {phase: Pending}}", want: "not scheduled since 2026-09-14T08:00:00Z: no scheduler has looked at it"},
		"unschedulable": {
			pod:  "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available', lastTransitionTime: '2026-09-14T08:00:00Z'}]}",
			want: "cannot be scheduled since 2026-09-14T08:00:00Z: 0/3 nodes are available",
		},
		"gated": {
			pod:  "{metadata: {creationTimestamp: '2026-09-14T08:00:00Z'}, spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}, status: {phase: Pending}}",
			want: "scheduling gates since 2026-09-14T08:00:00Z: kueue.x-k8s.io/admission",
		},
		"phase Unknown": {pod: "status: {phase: Unknown, reason: NodeLost}", want: "its kubelet has stopped reporting on it: NodeLost"},
		"ends": {
			pod:  "{metadata: {deletionTimestamp: '2026-09-14T10:00:20Z', deletionGracePeriodSeconds: 30}, status: {phase: Running}}",
			want: "deleted at 2026-09-14T09:59:50Z", passes: true,
		},
		"does not end": {
			pod:  "{metadata: {deletionTimestamp: '2026-09-14T08:00:30Z', deletionGracePeriodSeconds: 30}, status: {phase: Running, conditions: [{type: DisruptionTarget, status: 'True', reason: EvictionByEvictionAPI}]}}",
			want: "deleted at 2026-09-14T08:00:00Z (EvictionByEvictionAPI)",
		},
		"its node is unreachable": {
			pod: "{metadata: {deletionTimestamp: '2026-09-14T08:00:30Z', deletionGracePeriodSeconds: 30}, spec: {nodeName: a}, status: {phase: Running}}", ready: "Unknown",
			want: "deleted at 2026-09-14T08:00:00Z; its node a is unreachable, so nobody can say that it has ended",
		},
		"its node is not ready": {
			pod: "{metadata: {deletionTimestamp: '2026-09-14T08:00:30Z', deletionGracePeriodSeconds: 30}, spec: {nodeName: a}, status: {phase: Running}}", ready: "False",
			want: "deleted at 2026-09-14T08:00:00Z; its node a is not ready",
		},
		"its node is gone": {
			pod: "{metadata: {deletionTimestamp: '2026-09-14T08:00:30Z', deletionGracePeriodSeconds: 30}, spec: {nodeName: a}, status: {phase: Running}}", gone: true,
			want: "deleted at 2026-09-14T08:00:00Z; its node a is gone: Kubernetes deletes the Pod",
		},
		"a finalizer keeps it": {
			pod: "{metadata: {deletionTimestamp: '2026-09-14T10:00:30Z', deletionGracePeriodSeconds: 30, finalizers: [batch.kubernetes.io/job-tracking, example.com/keep]}, status: {phase: Running}}", ready: "True",
			want: "deleted at 2026-09-14T10:00:00Z; kept by finalizer example.com/keep",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var pod corev1.Pod
			if err := yaml.UnmarshalStrict([]byte(c.pod), &pod); err != nil {
				t.Fatal(err)
			}
			node := Node{Known: c.gone}
			if c.ready != "" {
				node = Node{Known: true, Object: &corev1.Node{}}
				node.Object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionStatus(c.ready)}}
			}
			wait := Of(&pod, node, now)
			switch {
			case (wait == nil) != (c.want == ""):
				t.Errorf("got %+v, want %q", wait, c.want)
			case wait != nil && (wait.Text() != c.want || wait.HoldsUp(now) == c.passes):
				t.Errorf("got %q, which holds the Job up: %v\nwant %q", wait.Text(), wait.HoldsUp(now), c.want)
			}
		})
	}
}
