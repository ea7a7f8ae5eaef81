package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	waitsForEnd = "completions: 1\npodReplacementPolicy: Failed"
	runsLong    = "nodes: 2\npods: [{attempt: 1, run: 20m, stop: 10s}]\n"
	lostAt      = runsLong + "events: [{at: 5m, lose: node-0}]"
	ofLost      = "[{name: lost, phase: Terminating, reason: NodeLost, action: Count, when: \"pod.terminatingFor(now) > duration('5m')\"}]"
)

// TestLostNodes tests the fate of the pod of a lost node, with the delays of Kubernetes: the node is unreachable after 50
// s, and the pod is deleted 5 min later.
func TestLostNodes(t *testing.T) {
	const native, annotated = waitsForEnd, waitsForEnd +
		"\ntemplate: {metadata: {annotations: {kueue.x-k8s.io/safe-to-forcefully-delete: 'false'}}, spec: {restartPolicy: Never, containers: [{name: main}]}}"
	tolerating := func(seconds string) string {
		return waitsForEnd + "\ntemplate: {spec: {restartPolicy: Never, containers: [{name: main}], tolerations: [" +
			"{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute" + seconds + "}]}}"
	}
	for _, test := range []struct{ name, job, script, rules, bound, want string }{
		{"it hangs", native, lostAt, "[]", "", "Unfinished  after 24h: succeeded 0, failed 0"},
		{"a rule ends it", native, lostAt, ofLost, "", "Complete CompletionsReached after 17m11s: succeeded 1, failed 1, verdicts [Count:1]"},
		{"a rule only reports it", native, lostAt, ofLost, "livingPods: [Running]", "Unfinished  after 24h: succeeded 0, failed 0"},
		{"Kueue forbids it", annotated, lostAt, ofLost, "", "Unfinished  after 24h: succeeded 0, failed 0"},
		{
			"its replacement is started at once, but the Job waits for it", "completions: 1\npodReplacementPolicy: TerminatingOrFailed", lostAt, ofLost, "",
			"Complete CompletionsReached after 16m30s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{"the node is back in time", native, lostAt + "\n- {at: 10m, restore: node-0}", ofLost, "", "Complete CompletionsReached after 20m1s: succeeded 1, failed 0"},
		{
			"it ends before the node is back", tolerating(""), lostAt + "\n- {at: 30m, restore: node-0}", ofLost, "",
			"Complete CompletionsReached after 30m: succeeded 1, failed 0",
		},
		{
			"it ends before the node is back, but was deleted", native, lostAt + "\n- {at: 30m, restore: node-0}", "[]", "",
			"Complete CompletionsReached after 30m: succeeded 1, failed 0",
		},
		{
			"the kubelet is back, and stops it", native, lostAt + "\n- {at: 12m, restore: node-0}", ofLost, "",
			"Complete CompletionsReached after 12m51s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{"it does not tolerate it", tolerating(", tolerationSeconds: 0"), lostAt, ofLost, "", "Complete CompletionsReached after 12m11s: succeeded 1, failed 1, verdicts [Count:1]"},
		{"it tolerates it for ever", tolerating(""), lostAt, ofLost, "", "Unfinished  after 24h: succeeded 0, failed 0"},
		{
			"out of service", native, lostAt + "\n- {at: 15m, outOfService: node-0}", "[]", "",
			"Complete CompletionsReached after 15m51s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"out of service before the node controller knows", native, lostAt + "\n- {at: 5m10s, outOfService: node-0}", "[]", "",
			"Complete CompletionsReached after 6m41s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"out of service, but the kubelet answers", native, runsLong + "events: [{at: 5m, outOfService: node-0}]", "[]", "",
			"Complete CompletionsReached after 5m51s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"there is no other node", native, "pods: [{attempt: 1, run: 20m}]\nevents: [{at: 5m, lose: node-0}, {at: 1h, restore: node-0}]", ofLost, "",
			"Complete CompletionsReached after 1h0m31s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"the other node was drained and lost, and is back", native,
			"nodes: 2\npods: [{attempt: 1, run: 20m}]\nevents: [{at: 1m, drain: node-1}, {at: 2m, lose: node-1}, {at: 5m, lose: node-0}, {at: 30m, restore: node-1}]", ofLost, "",
			"Unfinished  after 24h: succeeded 0, failed 1, verdicts [Count:1]",
		},
		{
			"the node of a pod that is slow to stop is Ready", native, "pods: [{attempt: 1, run: 1h, stop: 30s}]\nevents: [{at: 1m, delete: 0}]",
			"[{name: any, phase: Terminating, when: 'true', action: FailJob}]", "",
			"Complete CompletionsReached after 2m11s: succeeded 1, failed 1, verdicts [Count:1]",
		},
		{
			"a Job that ends anyway", native + "\nactiveDeadlineSeconds: 900", lostAt, ofLost, "",
			"Failed DeadlineExceeded after 16m30s: succeeded 0, failed 1, verdicts [Count:1]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			script := strings.Replace(test.script, "}]\n- {", "}, {", 1)
			if script != test.script {
				script += "]"
			}
			o := newLivingOptions(t, test.job, script, test.rules, test.bound)
			o.Program = nil // run by Kubernetes
			r := lived(t, o)
			if got := told(r); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
			if r.Outcome == Unfinished && !strings.Contains(r.Message, "terminating on the lost node node-0 since 10m50s") && !strings.Contains(test.name, "for ever") && r.Status.Failed == 0 {
				t.Errorf("message: %s", r.Message)
			}
		})
	}
}

// TestRulesOnRunning tests the fate of pods that rules on Running end: the kubelet stops them.
func TestRulesOnRunning(t *testing.T) {
	const restarts = "completions: 1\nbackoffLimit: 0\ntemplate: {spec: {restartPolicy: Never, containers: [{name: main, restartPolicy: OnFailure}]}}"
	const slow, never = "[{name: slow, phase: Running, when: \"pod.runningFor(now) > duration('10m')\", action: FailJob}]",
		"[{name: never, phase: Running, when: \"pod.notReadyFor(now) > duration('10m')\", action: FailJob}]"
	const loops = "[{name: loops, phase: Running, when: pod.restarts() >= 3, action: FailJob}]"
	for _, test := range []struct{ name, job, script, rules, want string }{
		{"too long", "completions: 1", "pods: [{run: 1h}]", slow, "Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]"},
		{"it is killed", "completions: 1", "pods: [{run: 1h, stop: 1h}]", slow, "Failed PodFailurePolicy after 10m40s: succeeded 0, failed 1, verdicts [FailJob:1]"},
		{"it exits with 0", "completions: 1", "pods: [{run: 1h, stopExitCode: 0}]", slow, "Complete CompletionsReached after 10m11s: succeeded 1, failed 0"},
		{"it is done in time", "completions: 1", "pods: [{run: 10m}]", slow, "Complete CompletionsReached after 10m1s: succeeded 1, failed 0"},
		{"never ready", "completions: 1", "pods: [{run: 1h, ready: forever}]", never, "Failed PodFailurePolicy after 10m11s: succeeded 0, failed 1, verdicts [FailJob:1]"},
		{"ready in time", "completions: 1", "pods: [{run: 1h, ready: 9m}]", never, "Complete CompletionsReached after 1h0m1s: succeeded 1, failed 0"},
		{
			"restarts in place", restarts, "pods: [{run: 15s, exitCode: 1}]", loops,
			"Failed PodFailurePolicy after 1m21s: succeeded 0, failed 1, verdicts [FailJob:1], restarts 3",
		},
		{
			"a lost node makes a pod not ready, and then it hangs", waitsForEnd, "nodes: 2\npods: [{run: 1h}]\nevents: [{at: 5m, lose: node-0}]",
			"[{name: soon, phase: Running, when: \"pod.notReadyFor(now) > duration('1m')\", action: Count}, " + ofLost[1:],
			"Complete CompletionsReached after 1h12m41s: succeeded 1, failed 1, verdicts [Count:1]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := told(lived(t, newLivingOptions(t, test.job, test.script, test.rules, ""))); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestWhatIsSaidOfLostPods tests the events of a pod that a rule ends on a lost node, and of one that it spares.
func TestWhatIsSaidOfLostPods(t *testing.T) {
	said := func(bound string) (all []string) {
		for _, e := range lived(t, newLivingOptions(t, waitsForEnd, lostAt, ofLost, bound)).Events {
			if e.Seconds > 300 && e.Seconds < 1020 && (e.Type == JobEvent || e.Index != nil && *e.Attempt == 1) {
				all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", Clock(e.Seconds), e.Type, e.Reason, e.Message)))
			}
		}
		return all
	}
	pod := newLivingOptions(t, waitsForEnd, lostAt, ofLost, "")
	name := lived(t, pod).Events[0].Pod
	because := "Pod default/" + name + " matching Count rule lost of PodFailurePolicy start: NodeLost; nobody carries out Count: the Job is run by kubernetes.io/job-controller"
	if diff := cmp.Diff([]string{
		"10m50s PodEvicted :", "16m30s PodEnded NodeLost: podverdict.io/Lost", "16m30s JobEvent PodEndedByPolicy: " + because, "16m30s PodFailed :",
	}, said("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"10m50s PodEvicted :", "16m30s PodSpared : the binding has mode Audit",
		"16m30s JobEvent PodWouldBeEnded: " + because + "; the pod is not ended: the binding has mode Audit",
	}, said("mode: Audit")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatRulesSeeOfNodes compares the Node objects, and the pods on them, with the node controller's writes.
func TestWhatRulesSeeOfNodes(t *testing.T) {
	s, err := newSimulator(t.Context(), newOptions(t, "completions: 1", "pods: [{run: 1h}]\nevents: [{at: 5m, lose: node-0}, {at: 20m, restore: node-0}]"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	s.inspect = func(s *simulator) {
		for _, l := range s.lives {
			node := s.nodeOf(l.pod)
			if node == nil {
				continue
			}
			ready := func(status corev1.ConditionStatus, reason string) string { return fmt.Sprintf("%s %s", status, reason) }
			text := Clock(s.now)
			for _, c := range node.Status.Conditions {
				if c.Type == corev1.NodeReady {
					text += " node " + ready(c.Status, c.Reason)
				}
			}
			for _, taint := range node.Spec.Taints {
				text += " " + taint.ToString()
			}
			for _, c := range l.pod.Status.Conditions {
				if c.Type == corev1.PodReady {
					text += " pod " + ready(c.Status, c.Reason)
				}
			}
			seen = append(seen, strings.TrimSpace(text))
		}
	}
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	const lost = " node Unknown NodeStatusUnknown node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute pod False"
	want := []string{"5m node True KubeletReady pod True", "5m50s" + lost, "10m50s" + lost}
	if diff := cmp.Diff(want, slices.DeleteFunc(seen, func(text string) bool { return !strings.HasPrefix(text, "5m") && !strings.HasPrefix(text, "10m") })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRandomLivesOnLostNodes tests that the invariants hold, whatever the fates of nodes and whatever rules apply to
// their pods.
func TestRandomLivesOnLostNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 29))
	rules := "[{name: slow, phase: Running, when: \"pod.runningFor(now) > duration('40m') || pod.restarts() > 5\", action: Ignore}, " +
		"{name: start, phase: Pending, when: \"pod.pendingFor(now) > duration('20m')\", action: Count}, " + ofLost[1:]
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		spec := randomSpec(random)
		o := newLivingOptions(t, spec, "", rules, []string{"", "livingPods: [Terminating]", "mode: Audit"}[random.IntN(3)])
		if random.IntN(3) == 0 {
			o.Program = newOptions(t, spec, "").Program
		}
		var events []string
		for at := range 8 {
			does := []string{"lose", "restore", "restore", "outOfService", "drain"}[random.IntN(5)]
			events = append(events, fmt.Sprintf("{at: %dm-%dm, %s: node-%d}", at*10, at*10+9, does, random.IntN(3)))
		}
		o.Script.Nodes, o.Seed, o.Until = 3, seed, 3*time.Hour
		script := "pods: [{probability: 0.2, run: 1m-1h, ready: 1m-1h, stopExitCode: 0}, {probability: 0.1, exitCode: 1, run: 1m-30m}]\nevents: [" + strings.Join(events, ", ") + "]"
		if err := yaml.UnmarshalStrict([]byte(script), &o.Script); err != nil {
			t.Fatal(err)
		}
		if lived(t, o); t.Failed() {
			t.Fatalf("seed %d: %+v %s", seed, o.Job.Spec, script)
		}
	}
}
