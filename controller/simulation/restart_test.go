package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// restarting is a Job with a policy that names the exit code after which main restarts.
const restarting = "completions: 1\nbackoffLimit: 0" + policy + `
template:
  spec:
    restartPolicy: Never
    initContainers:
    - {name: prepare, restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [9]}}]}
    - {name: proxy, restartPolicy: Always, restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [9]}}]}
    containers:
    - name: main
      restartPolicy: Never
      restartPolicyRules:
      - {action: Restart, exitCodes: {operator: In, values: [42]}}
      - {action: RestartAllContainers, exitCodes: {operator: In, values: [43]}}
    - {name: side}
`

// TestRestarts follows test/e2e/common/node/container_restart_policy.go and test/e2e_node/container_restart_test.go of
// Kubernetes, where containers of one pod exit and start again.
func TestRestarts(t *testing.T) {
	deadline := strings.Replace(restarting, "completions: 1", "completions: 1\nactiveDeadlineSeconds: 600", 1)
	for _, test := range []struct {
		name, job, script, kubernetes string
		want                          string
		starts                        []int64
	}{
		{
			name: "a rule comes before podFailurePolicy, and the back-off is 0, 10, 20, 40 s", job: restarting,
			script: "pods: [{attempt: 1-4, run: 5s, exitCode: 42}]",
			want:   "Complete CompletionsReached after 2m2s: succeeded 1, failed 0, restarts 4",
			starts: []int64{1, 7, 22, 47, 92},
		},
		{
			name: "no rule before Kubernetes 1.35", job: restarting, kubernetes: "1.34", script: "pods: [{attempt: 1, run: 5s, exitCode: 42}]",
			want: "Failed PodFailurePolicy after 6s: succeeded 0, failed 1, verdicts [FailJob:1]", starts: []int64{1},
		},
		{
			name: "the back-off begins anew after ten minutes", job: restarting,
			script: "pods: [{attempt: 1-3, run: 5s, exitCode: 42}, {attempt: 4-5, run: 11m, exitCode: 42}]",
			want:   "Complete CompletionsReached after 23m19s: succeeded 1, failed 0, restarts 5",
			starts: []int64{1, 7, 22, 47, 708, 1369},
		},
		{
			name: "all containers, without back-off", job: restarting, script: "pods: [{attempt: 1-3, run: 5s, exitCode: 43}]",
			want: "Complete CompletionsReached after 49s: succeeded 1, failed 0, restarts 3", starts: []int64{1, 7, 13, 19},
		},
		{
			name: "RestartAllContainers is not there before Kubernetes 1.36", job: restarting, kubernetes: "1.35",
			script: "pods: [{attempt: 1, run: 5s, exitCode: 43}]",
			want:   "Failed BackoffLimitExceeded after 6s: succeeded 0, failed 1, verdicts [Count:1]", starts: []int64{1},
		},
		{
			name: "a sidecar restarts all", job: restarting, script: "pods: [{attempt: 1, run: 5s, exitCodes: {proxy: 9}}]",
			want: "Complete CompletionsReached after 37s: succeeded 1, failed 0, restarts 1", starts: []int64{1, 7},
		},
		{
			name: "an init container restarts", job: restarting, script: "pods: [{attempt: 1, run: 5s, exitCodes: {prepare: 9}}]",
			want: "Complete CompletionsReached after 37s: succeeded 1, failed 0, restarts 1", starts: []int64{1, 7},
		},
		{
			name: "a container that failed beside one that restarts", job: restarting,
			script: "pods: [{attempt: 1, run: 5s, exitCodes: {main: 42, side: 3}}]",
			want:   "Failed BackoffLimitExceeded after 37s: succeeded 0, failed 1, verdicts [Count:1], restarts 1", starts: []int64{1, 7},
		},
		{
			name: "another code", job: restarting, script: "pods: [{attempt: 1, run: 5s, exitCode: 1}]",
			want: "Failed BackoffLimitExceeded after 6s: succeeded 0, failed 1, verdicts [Count:1]", starts: []int64{1},
		},
		{
			name: "an eviction ends a pod whose container would restart", job: restarting,
			script: "pods: [{attempt: 1, run: 5s, condition: DisruptionTarget, exitCodes: {main: 43}}]",
			want:   "Complete CompletionsReached after 47s: succeeded 1, failed 0, verdicts [Ignore:1]", starts: []int64{1, 17},
		},
		{
			name: "a hot loop is ended by the deadline", job: deadline, script: "pods: [{run: 9s, exitCode: 43}]",
			want: "Failed DeadlineExceeded after 10m1s: succeeded 0, failed 1, verdicts [Count:1], restarts 59",
		},
		{
			name: "a hot loop is not simulated for ever", job: restarting, script: "pods: [{run: 0s, exitCode: 43}]",
			want: "Unfinished  after 24h: succeeded 0, failed 0, restarts 1000",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newOptions(t, test.job, test.script)
			if test.kubernetes != "" {
				o.Kubernetes = version.MustParseGeneric(test.kubernetes)
			}
			r := lived(t, o)
			if got := told(r); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
			var starts []int64
			for _, e := range r.Events {
				if e.Type == PodStarted {
					starts = append(starts, e.Seconds)
				}
			}
			if test.starts != nil && !slices.Equal(starts, test.starts) {
				t.Errorf("containers start at %v, want %v", starts, test.starts)
			}
			if r.Outcome == Unfinished && !strings.HasSuffix(r.Message, "restarted in place 1000 times, by rule 1 of main; the Job has no activeDeadlineSeconds that would end it") {
				t.Errorf("message %q", r.Message)
			}
		})
	}
}

// TestRestartedStatuses tests that a restarted pod keeps its node and its start time.
func TestRestartedStatuses(t *testing.T) {
	for _, test := range []struct {
		script string
		want   []string
	}{
		{"pods: [{attempt: 1-2, run: 5s, exitCode: 42}]", []string{
			"Pending", "Running: prepare 0, proxy 0 running, main 0 running, side 0 running",
			"Running: prepare 0, proxy 0 running, main 0 CrashLoopBackOff, side 0", "Running: prepare 0, proxy 0 running, main 1 running, side 0",
			"Running: prepare 0, proxy 0 running, main 1 CrashLoopBackOff, side 0", "Running: prepare 0, proxy 0 running, main 2 running, side 0",
			"Succeeded: prepare 0, proxy 0, main 2, side 0",
		}},
		{"pods: [{attempt: 1, run: 5s, exitCode: 43}, {attempt: 2, exitCodes: {prepare: 9}}]", []string{
			"Pending", "Running: prepare 0, proxy 0 running, main 0 running, side 0 running",
			"Running: prepare 1 RestartingAllContainers, proxy 1 RestartingAllContainers, main 1 RestartingAllContainers, side 1 RestartingAllContainers",
			"Pending: prepare 1 running, proxy 1 PodInitializing, main 1 PodInitializing, side 1 PodInitializing",
			"Running: prepare 1 CrashLoopBackOff, proxy 1 PodInitializing, main 1 PodInitializing, side 1 PodInitializing",
			"Running: prepare 2, proxy 1 running, main 1 running, side 1 running", "Succeeded: prepare 2, proxy 1, main 1, side 1",
		}},
	} {
		var got []string
		s, err := newSimulator(t.Context(), newOptions(t, restarting, test.script))
		if err != nil {
			t.Fatal(err)
		}
		var start, node string
		for more := true; more; {
			if err := s.control(); err != nil {
				t.Fatal(err)
			}
			if len(s.lives) > 0 {
				pod := s.lives[0].pod
				if text := restarts(pod); len(got) == 0 || got[len(got)-1] != text {
					got = append(got, text)
				}
				if text := fmt.Sprint(pod.Status.StartTime); start == "" && pod.Spec.NodeName != "" {
					start, node = text, pod.Spec.NodeName
				} else if start != "" && (start != text || node != pod.Spec.NodeName) {
					t.Errorf("the pod started at %s on %s, and now at %s on %s", start, node, text, pod.Spec.NodeName)
				}
			}
			at, found := s.next()
			if more = found && !s.finished(); more {
				s.now = at
				s.take()()
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.script, got, test.want)
		}
	}
}

// TestRestartsOfAnyJob tests that the invariants of every life also hold with restarts.
func TestRestartsOfAnyJob(t *testing.T) {
	jobs := uint64(2000)
	if testing.Short() {
		jobs = 200
	}
	for seed := range jobs {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(all ...string) string { return all[r.IntN(len(all))] }
		container := func(name string, policies ...string) string {
			policy, rules := pick(policies...), ""
			if policy == "" {
				return "{name: " + name + "}"
			}
			for range r.IntN(3) {
				rules += fmt.Sprintf("{action: %s, exitCodes: {operator: %s, values: [%d, %d]}}, ",
					pick("Restart", "RestartAllContainers"), pick("In", "NotIn"), r.IntN(4), r.IntN(4))
			}
			return fmt.Sprintf("{name: %s, restartPolicy: %s, restartPolicyRules: [%s]}", name, policy, rules)
		}
		job := fmt.Sprintf("completions: %d\nparallelism: 2\nbackoffLimit: %d\n%s\n", 1+r.IntN(3), r.IntN(6), pick("", "activeDeadlineSeconds: 500"))
		job += fmt.Sprintf("template: {spec: {restartPolicy: %s, initContainers: [%s, %s], containers: [%s, %s]}}", pick("Never", "OnFailure"),
			container("prepare", "", "Never", "OnFailure"), container("proxy", "Always"), container("main", "Never", "OnFailure", "Always"), container("side", "", "Never"))
		script := "pods:\n"
		for range 1 + r.IntN(4) {
			codes := pick(fmt.Sprintf("prepare: %d", r.IntN(4)), fmt.Sprintf("main: %d, side: %d, proxy: %d", r.IntN(4), r.IntN(4), r.IntN(4)))
			script += fmt.Sprintf("- {attempt: %q, run: %ds, probability: 0.7, exitCodes: {%s}%s}\n",
				pick("1", "1-3", "2+"), r.IntN(20), codes, pick("", "", ", condition: DisruptionTarget"))
		}
		script += fmt.Sprintf("events: [{at: %ds, %s}]", r.IntN(100), pick("delete: 0", "evict: 0+", "suspend: true", "drain: node-0"))
		o := newOptions(t, job, script)
		o.Until, o.Kubernetes = 2*time.Hour, version.MustParseGeneric(pick("1.34", "1.35", "1.37"))
		if lived(t, o); t.Failed() {
			t.Fatalf("Kubernetes %s\n%s\n%s", o.Kubernetes, job, script)
		}
	}
}

// restarts returns a pod's phase and the restarts and states of its containers. Ended containers have no state.
func restarts(p *corev1.Pod) string {
	var texts []string
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		text := fmt.Sprintf("%s %d", c.Name, c.RestartCount)
		if c.State.Waiting != nil {
			text += " " + c.State.Waiting.Reason
		} else if c.State.Running != nil {
			text += " running"
		}
		texts = append(texts, text)
	}
	return strings.TrimSuffix(string(p.Status.Phase)+": "+strings.Join(texts, ", "), ": ")
}
