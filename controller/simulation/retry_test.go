package simulation

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/kube/podstatus"
)

// template is a pod template whose first container has a memory limit.
func template(limit string) string {
	return fmt.Sprintf("\ntemplate: {spec: {restartPolicy: Never, containers: [{name: main, resources: {limits: {memory: %s}}}, {name: side}]}}", limit)
}

// onOOM returns a rule on containers that ran out of memory.
func onOOM(more string) string {
	return "[{name: oom, when: 'pod.failedContainers().exists(c, c.oomKilled)', " + more + "}]"
}

// attempts returns the memory, the node and the end of each attempt.
func attempts(r *Result) []string {
	var all []string
	for _, e := range r.Events {
		switch e.Type {
		case PodCreated:
			all = append(all, e.Memory)
		case PodStarted:
			all[len(all)-1] += " " + e.Node
		case PodFailed:
			all[len(all)-1] += " " + e.Because
		case PodSucceeded:
			all[len(all)-1] += " succeeds"
		default:
		}
	}
	return all
}

func TestNeeds(t *testing.T) {
	const killed = "main OOMKilled (137)"
	const grows = "action: Ignore, retryDelay: 0s, retry: {memory: {factor: '1.5', max: 1Gi}}"
	for _, test := range []struct {
		name, job, script, rules string
		want                     []string
	}{
		{
			"it grows until that is enough", template("512Mi"), "pods: [{needs: 900Mi}]", onOOM(grows),
			[]string{"512Mi node-0 " + killed, "768Mi node-0 " + killed, "1Gi node-0 succeeds"},
		},
		{
			"an eviction in between keeps it", template("512Mi"), "pods: [{attempt: 2, condition: DisruptionTarget}, {needs: 700Mi}]", onOOM(grows),
			[]string{"512Mi node-0 " + killed, "768Mi node-0 Evicted, DisruptionTarget (TerminationByKubelet)", "768Mi node-0 succeeds"},
		},
		{"the rest of the rule counts", template("512Mi"), "pods: [{attempt: 1, needs: 512Mi, exitCode: 3}]", onOOM(grows), []string{"512Mi node-0 main exited with 3", "512Mi node-0 succeeds"}},
		{"but only then", template("512Mi"), "pods: [{attempt: 1, needs: 513Mi, exitCode: 3, condition: DisruptionTarget}]", onOOM(grows), []string{"512Mi node-0 " + killed, "768Mi node-0 succeeds"}},
		{"no limit", "", "pods: [{needs: 900Mi}]", onOOM(grows), []string{" node-0 succeeds"}},
		{
			"a limit of the pod", "\ntemplate: {spec: {restartPolicy: Never, resources: {limits: {memory: 512Mi}}, containers: [{name: main}]}}",
			"pods: [{needs: 700Mi}]", onOOM(grows), []string{"512Mi node-0 " + killed, "768Mi node-0 succeeds"},
		},
		{
			"another node", template("512Mi"), "nodes: 2\npods: [{attempt: 1, needs: 1Gi}]", onOOM("action: Ignore, retryDelay: 0s, retry: {avoidNode: Required}"),
			[]string{"512Mi node-0 " + killed, "512Mi node-1 succeeds"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := lived(t, newCustomOptions(t, "completions: 1\nbackoffLimit: 3"+test.job, test.script, test.rules))
			if diff := cmp.Diff(test.want, attempts(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	const notIn = "matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [%s]}]"
	without := func(nodes string) string { return fmt.Sprintf("{"+notIn+"}", nodes) }
	required := func(terms ...string) string {
		return "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + strings.Join(terms, ", ") + "]}}}"
	}
	preferred := func(term string) string {
		return "{nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: " + term + "}]}}"
	}
	const unhelpful = ". preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
	for _, test := range []struct{ affinity, drained, lost, want string }{
		{"", "", "", "node-0 node-1 node-2 node-0"},
		{"", "node-1", "", "node-0 node-2 node-0 node-2"},
		{required(without("node-1")), "", "", "node-0 node-2 node-0 node-2"},
		{required(without("node-1"), without("node-1, node-2")), "", "", "node-0 node-2 node-0 node-2"},
		{required(without("node-1"), without("node-2")), "", "", "node-0 node-1 node-2 node-0"},
		{required(without("node-0, node-1")), "node-2", "", "0/3 nodes are available: 1 " + podstatus.Unscheduled + ", 2 " + podstatus.NoAffinity + unhelpful},
		{required(without("node-0, node-1, node-2")), "", "", "0/3 nodes are available: 3 " + podstatus.NoAffinity + unhelpful},
		{required("{matchExpressions: [{key: zone, operator: NotIn, values: [node-1]}]}"), "", "", "node-0 node-1 node-2 node-0"},
		{required("{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-1]}]}"), "", "", "node-0 node-1 node-2 node-0"},
		{preferred(without("node-1")), "", "", "node-0 node-2 node-0 node-2"},
		{preferred(without("node-0, node-1")), "node-2", "", "node-0 node-1 node-0 node-1"},
		{preferred(without("node-0, node-1, node-2")), "", "", "node-0 node-1 node-2 node-0"},
		{"", "", "node-1", "node-0 node-2 node-0 node-2"},
		{"", "", "node-0 node-1 node-2", "0/3 nodes are available: 3 " + podstatus.Untolerated + unhelpful},
		{required(without("node-0, node-1, node-2")), "node-0", "node-0 node-1", "0/3 nodes are available: 1 " +
			podstatus.NoAffinity + ", 1 " + podstatus.Untolerated + ", 1 " + podstatus.Unscheduled + unhelpful},
	} {
		s, err := newSimulator(t.Context(), newOptions(t, "completions: 1", "nodes: 3"))
		if err != nil {
			t.Fatal(err)
		}
		if test.drained != "" {
			s.drainNode(s.nodeNamed(test.drained))
		}
		for name := range strings.FieldsSeq(test.lost) {
			s.loseNode(s.nodeNamed(name))
		}
		l := &life{pod: &corev1.Pod{}}
		if err := yaml.UnmarshalStrict([]byte("affinity: "+test.affinity), &l.pod.Spec); err != nil {
			t.Fatal(err)
		}
		var nodes []string
		for range 4 {
			if node, found := s.place(l); found {
				nodes = append(nodes, node)
			}
		}
		got := strings.Join(nodes, " ")
		if l.placeless {
			got += l.pod.Status.Conditions[0].Message
		}
		if got != test.want {
			t.Errorf("%s, drained: %s, lost: %s\ngot  %s\nwant %s", test.affinity, test.drained, test.lost, got, test.want)
		}
	}
}

func TestWithoutANode(t *testing.T) {
	r := lived(t, newCustomOptions(t, "completions: 1", "pods: [{exitCode: 9}]", onCode("action: Ignore, retry: {avoidNode: Required}")))
	want := "gets no node: 0/1 nodes are available: 1 " + podstatus.NoAffinity +
		". preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling"
	if r.Outcome != Unfinished || !strings.HasSuffix(r.Message, want) || r.Summary.Pods != 2 {
		t.Errorf("%s: %s, want %s", told(r), r.Message, want)
	}
}

// retryModel follows the events of a life, and computes the requirements for each attempt.
type retryModel struct {
	base   int64
	retry  v1alpha1.Retry
	killed map[int]int64    // matches by index
	nodes  map[int][]string // nodes of the matches
	closed map[string]bool  // nodes that accept no pods
	faults []string
}

func (m *retryModel) see(e Event) {
	switch e.Type {
	case PodCreated:
		memory := resource.MustParse(e.Memory)
		if got, want := memory.Value(), m.memory(m.killed[*e.Index]); got != want {
			m.faults = append(m.faults, fmt.Sprintf("%s: index %d, attempt %d has %d bytes of memory, want %d", Clock(e.Seconds), *e.Index, *e.Attempt, got, want))
		}
	case PodStarted:
		free := slices.DeleteFunc([]string{"node-0", "node-1", "node-2"}, func(node string) bool {
			return m.closed[node] || slices.Contains(m.nodes[*e.Index], node)
		})
		if m.retry.AvoidNode == v1alpha1.AvoidPreferred && len(free) == 0 {
			return
		}
		if !slices.Contains(free, e.Node) {
			m.faults = append(m.faults, fmt.Sprintf("%s: index %d, attempt %d is on %s, which is to be avoided", Clock(e.Seconds), *e.Index, *e.Attempt, e.Node))
		}
	case PodFailed:
		if e.Verdict.Retry == nil {
			return
		}
		m.killed[*e.Index]++ // the rule matches containers that ran out of memory
		if m.retry.AvoidNode != "" && !slices.Contains(m.nodes[*e.Index], e.Node) {
			m.nodes[*e.Index] = append(m.nodes[*e.Index], e.Node)
		}
	case JobChanged:
		if node, closes, found := strings.Cut(e.Message, " "); found && node == "node" {
			name, what, _ := strings.Cut(closes, " ")
			m.closed[name] = what != "back"
		}
	default:
	}
}

// memory returns min(max, base x factor^n rounded up to a Mi), and never less than base.
func (m *retryModel) memory(n int64) int64 {
	if n == 0 || m.retry.Memory == nil {
		return m.base
	}
	size := new(big.Rat).SetFrac64(m.base, 1<<20)
	for range n {
		size.Mul(size, big.NewRat(m.retry.Memory.Hundredths(), 100))
	}
	mi := new(big.Int).Div(new(big.Int).Add(size.Num(), new(big.Int).Sub(size.Denom(), big.NewInt(1))), size.Denom())
	bytes := mi.Mul(mi, big.NewInt(1<<20))
	if most := big.NewInt(m.retry.Memory.MaxBytes()); bytes.Cmp(most) > 0 {
		bytes = most
	}
	return max(m.base, bytes.Int64())
}

// drawn draws strings for a rapid test.
type drawn struct{ *rapid.T }

func (d drawn) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(d.T, label) }

// retry draws a rule's retry, and also returns its text.
func (d drawn) retry() (retry v1alpha1.Retry, text string) {
	var parts []string
	retry.AvoidNode = v1alpha1.AvoidNode(d.one("avoidNode", "", string(v1alpha1.AvoidPreferred), string(v1alpha1.AvoidRequired)))
	if retry.AvoidNode != "" {
		parts = append(parts, "avoidNode: "+string(retry.AvoidNode))
	}
	if retry.AvoidNode == "" || rapid.Bool().Draw(d.T, "memory") {
		factor := rapid.IntRange(101, 1000).Draw(d.T, "factor")
		retry.Memory = &v1alpha1.RetryMemory{Factor: fmt.Sprintf("%d.%02d", factor/100, factor%100), Max: d.one("max", "600Mi", "2Gi", "1000G")}
		parts = append(parts, fmt.Sprintf("memory: {factor: '%s', max: %s}", retry.Memory.Factor, retry.Memory.Max))
	}
	return retry, "retry: {" + strings.Join(parts, ", ") + "}"
}

// script draws the pods' behaviour, and interventions.
func (d drawn) script() string {
	return "nodes: 3\npods: [{probability: " + d.one("evicted", "0", "0.3") + ", run: 10s-2m, condition: DisruptionTarget}, " +
		"{probability: " + d.one("exits", "0", "0.2") + ", run: 10s-2m, exitCode: 1}, " +
		"{index: 0, run: 1m, needs: " + d.one("first", "1Gi", "100Gi") + "}, {attempt: 1-5, run: 10s-90s, needs: " + d.one("others", "1Gi", "600Mi") + "}]\n" +
		d.one("events", "", "events: [{at: 1m-10m, delete: 0-3}, {at: 5m, evict: 1+}]", "events: [{at: 1m-9m, drain: node-1}]",
			"events: [{at: 30s-2m, suspend: true}, {at: 10m, suspend: false}]", "events: [{at: 1m, lose: node-2}, {at: 15m, restore: node-2}]")
}

// TestRetriedLives tests that the memory and the node of each attempt follow from the matches before it, whatever happens
// in between.
func TestRetriedLives(t *testing.T) {
	grown, avoided := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn{rt}
		retry, text := d.retry()
		rule := onOOM("action: " + d.one("action", "Ignore", "Count") + ", retryDelay: " + d.one("delay", "0s", "1m") + ", " + text +
			d.one("budget", "", ", budget: {limit: 3, then: FailIndex}", ", budget: {limit: 2, per: Index, then: FailJob}"))
		base := d.one("base", "512Mi", "100Mi", "1000000", "1500M")
		spec := d.one("spec", "completions: 4\nparallelism: 2\nbackoffLimit: 50", "completions: 3\nparallelism: 3\ncompletionMode: Indexed\nbackoffLimitPerIndex: 12",
			"completions: 3\nparallelism: 2\ncompletionMode: Indexed\nbackoffLimit: 30\npodReplacementPolicy: Failed")
		o := newCustomOptions(t, spec+template(base), d.script(), rule)
		o.Seed, o.Until = rapid.Uint64().Draw(rt, "seed"), time.Hour
		quantity := resource.MustParse(base)
		m := retryModel{base: quantity.Value(), retry: retry, killed: map[int]int64{}, nodes: map[int][]string{}, closed: map[string]bool{}}
		s, err := newSimulator(t.Context(), o)
		if err != nil {
			rt.Fatal(err)
		}
		s.inspect = (&watcher{t: t}).look
		r, err := s.run()
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range r.Events {
			m.see(e)
			for _, change := range e.Changes {
				grown, avoided = grown+len(change.Container), avoided+len(change.Avoid)
			}
		}
		if t.Failed() {
			t.FailNow() // a shrunk life would fail, too
		}
		if len(m.faults) > 0 {
			rt.Fatal(strings.Join(m.faults, "\n"))
		}
	})
	if grown == 0 || avoided == 0 {
		t.Errorf("nothing was retried: %d, %d", grown, avoided)
	}
}
