package failure_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/kube/failure"
)

func TestSummary(t *testing.T) {
	for name, c := range map[string]struct{ status, want string }{
		"out of memory": {"containerStatuses: [{name: main, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]", "main OOMKilled (137)"},
		"exit code":     {"containerStatuses: [{name: main, state: {terminated: {exitCode: 42, reason: Error}}}]", "main exited with 42"},
		"signal":        {"containerStatuses: [{name: main, state: {terminated: {exitCode: 143}}}]", "main exited with 143 (SIGTERM)"},
		"two containers, one well": {
			"containerStatuses: [{name: main, state: {terminated: {exitCode: 1}}}, {name: log, state: {terminated: {exitCode: 0, reason: Completed}}}]",
			"main exited with 1",
		},
		"init container": {
			"initContainerStatuses: [{name: fetch, state: {terminated: {exitCode: 3}}}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]",
			"init container fetch exited with 3",
		},
		"sidecars": {
			"initContainerStatuses: [{name: proxy, state: {terminated: {exitCode: 143}}}], containerStatuses: [{name: main, state: {terminated: {exitCode: 7}}}]",
			"main exited with 7",
		},
		"a sidecar of its own": {
			"initContainerStatuses: [{name: proxy, restartCount: 1, state: {terminated: {exitCode: 3}}}]", "sidecar proxy exited with 3 and restarted once",
		},
		"never created": {
			"containerStatuses: [{name: main, state: {terminated: {exitCode: 128, reason: StartError, message: no such file}}}]", "main StartError (128)",
		},
		"drained": {
			"conditions: [{type: PodScheduled, status: 'True'}, {type: DisruptionTarget, status: 'True', reason: EvictionByEvictionAPI}], containerStatuses: [{name: main, state: {terminated: {exitCode: 143}}}]",
			"DisruptionTarget (EvictionByEvictionAPI)",
		},
		"out of memory while it was drained": {
			"conditions: [{type: DisruptionTarget, status: 'True'}], containerStatuses: [{name: main, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]",
			"DisruptionTarget, main OOMKilled (137)",
		},
		"a condition that is taken back": {"conditions: [{type: DisruptionTarget, status: 'False'}]", "no container has ended"},
		"rejected":                       {"reason: Evicted, message: 'Pod was rejected: The node had condition: [DiskPressure]. '", "Evicted (Pod was rejected: The node had condition: [DiskPressure])"},
		"evicted while it ran":           {"reason: Evicted, message: low on memory, containerStatuses: [{name: main, state: {terminated: {exitCode: 137, reason: Error}}}]", "Evicted, main exited with 137 (SIGKILL)"},
		"restarted": {
			"containerStatuses: [{name: main, restartCount: 3, state: {running: {}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]",
			"main OOMKilled (137) and restarted 3 times",
		},
		"runs":                {"containerStatuses: [{name: main, state: {running: {}}}]", "no container has ended"},
		"all ended well":      {"containerStatuses: [{name: main, state: {terminated: {exitCode: 0}}}]", "all containers exited with 0"},
		"no status":           {"", "no container has ended"},
		"state without parts": {"containerStatuses: [{name: main, state: {waiting: {}}}]", "no container has ended"},
	} {
		if got := failure.Of(podOf(t, c.status)).Summary; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func podOf(t *testing.T, status string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.Unmarshal([]byte("spec: {nodeName: worker-1, initContainers: [{name: fetch}, {name: proxy, restartPolicy: Always}]}\nstatus: {"+status+"}"), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestJSON(t *testing.T) {
	facts := failure.Of(podOf(t, `phase: Failed, reason: Evicted, message: low, startTime: "2026-06-15T09:00:00Z",
		conditions: [{type: Ready, status: "True"}, {type: DisruptionTarget, status: "True", reason: TerminationByKubelet, message: m}],
		containerStatuses: [{name: main, state: {terminated: {exitCode: 137, reason: OOMKilled, message: died,
		startedAt: "2026-06-15T09:01:00Z", finishedAt: "2026-06-15T09:12:03Z"}}}, {name: log, state: {waiting: {reason: ImagePullBackOff}}}]`))
	facts.Attempt = 2
	got, err := json.MarshalIndent(facts, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "summary": "Evicted, DisruptionTarget (TerminationByKubelet), main OOMKilled (137), log waits: ImagePullBackOff",
 "containers": [
  {
   "name": "main",
   "exitCode": 137,
   "reason": "OOMKilled",
   "message": "died",
   "duration": "11m3s"
  },
  {
   "name": "log",
   "reason": "ImagePullBackOff"
  }
 ],
 "conditions": [
  {
   "type": "DisruptionTarget",
   "reason": "TerminationByKubelet",
   "message": "m"
  }
 ],
 "reason": "Evicted",
 "message": "low",
 "node": "worker-1",
 "duration": "12m3s",
 "attempt": 2
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
