package generators

import (
	"math/rand/v2"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
)

const (
	maxGeneratedContainers = 10
	maxGeneratedConditions = 8
)

// Pairs creates random policies and pods from a seed. The vocabularies are small, so that a rule matches in about half of the
// pairs.
//
// A well-typed generator creates objects that the API server accepts and a kubelet writes:
//
//   - 1 to 4 rules (7 of 8 policies), else none to 20; each action equally often;
//   - 3 exit-code rules to 2 condition rules; 1 exit-code rule in 8 carries an
//     empty, non-nil condition list besides, which is legal;
//   - 2 exit-code rules in 5 name a container; In and NotIn equally often; 1 to 4
//     values (7 of 8), else up to 255; sorted, unique, no 0 under In;
//   - 1 to 3 condition patterns (7 of 8), else up to 20; status True in half;
//   - pods of phase Failed (31 of 32), 0 to 3 containers (7 of 8), else up to 10;
//     init containers in half of the pods; 3 containers in 4 terminated, of these
//     1 in 4 with exit code 0; 0 to 4 conditions of distinct types.
//
// A hostile generator breaks each of these rules one time in eight: see hostile_pairs.go.
//
// Pairs is not safe for concurrent use.
type Pairs struct {
	rng     *rand.Rand
	hostile bool

	pod        corev1.Pod
	statuses   [3][maxGeneratedContainers]corev1.ContainerStatus
	terminated [3][maxGeneratedContainers]corev1.ContainerStateTerminated
	last       corev1.ContainerStateTerminated
	running    corev1.ContainerStateRunning
	waiting    corev1.ContainerStateWaiting
	conditions [maxGeneratedConditions]corev1.PodCondition
}

// The vocabularies, with the most frequent words first: skewed prefers low indexes. Codes include the limits of 64-bit words,
// of a byte and of int32, and a Windows NTSTATUS.
var (
	generatedCodes = [...]int32{
		1, 2, 42, 137, 3, 143, 255, 63, 64, 127, 128, 191, 192, 256, 257, 319, 320, 1000,
		-1, -2, -256, -1073741819, 1<<31 - 1, -1 << 31,
	}
	// App containers have the names with even indexes, init containers those with odd indexes.
	generatedNames = [...]string{
		"main", "setup", "sidecar", "fetch", "log-agent", "migrate", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13",
		"c14", "c15", "c16", "c17", "c18", "c19",
	}
	generatedConditions = [...]corev1.PodConditionType{
		corev1.DisruptionTarget, "ConfigIssue", corev1.PodReady, corev1.PodScheduled, "example.com/Gpu", corev1.ContainersReady,
	}
	generatedStatuses = [...]corev1.ConditionStatus{
		corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown,
	}
	generatedActions = [...]batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount,
	}
	generatedPhases = [...]corev1.PodPhase{corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodUnknown}
	generatedPods   = [...]string{"p", "train-0-x7k2p", "job.with.dots-3", "a"}
	generatedSpaces = [...]string{"default", "team-a", "n"}
)

// NewPairs returns a generator whose results depend only on the arguments.
func NewPairs(seed uint64, hostile bool) *Pairs {
	stream := uint64(0)
	if hostile {
		stream = 1
	}
	return &Pairs{rng: rand.New(rand.NewPCG(seed, stream)), hostile: hostile}
}

// Policy returns a random policy, which the caller owns. A hostile generator may return nil, for a Job without a policy.
func (g *Pairs) Policy() *batchv1.PodFailurePolicy {
	if g.odd() && g.one(4) {
		return nil
	}
	n := g.size(4, 20)
	switch {
	case g.one(32):
		n = 0
	case g.odd() && g.one(4):
		n = 21 + g.rng.IntN(20)
	}
	p := &batchv1.PodFailurePolicy{}
	for range n {
		p.Rules = append(p.Rules, g.rule())
	}
	return p
}

func (g *Pairs) rule() batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: pick(g, generatedActions[:])}
	if g.rng.IntN(5) < 3 {
		r.OnExitCodes = g.exitCodes()
		if g.one(8) {
			r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{}
		}
	} else {
		r.OnPodConditions = g.patterns()
	}
	if g.odd() {
		g.spoilRule(&r)
	}
	return r
}

func (g *Pairs) exitCodes() *batchv1.PodFailurePolicyOnExitCodesRequirement {
	r := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: pick(g, compiler.Operators)}
	if g.rng.IntN(5) < 2 {
		name := skewed(g, generatedNames[:6])
		r.ContainerName = &name
	}
	r.Values = g.values(g.size(4, 255))
	if r.Operator == compiler.NotIn && g.one(8) {
		r.Values[0] = 0
	}
	slices.Sort(r.Values)
	r.Values = slices.Compact(r.Values)
	if g.odd() {
		g.spoilExitCodes(r)
	}
	return r
}

// values returns n random values other than 0. Long lists are mostly a range.
func (g *Pairs) values(n int) []int32 {
	values := make([]int32, n)
	from := int32(g.rng.IntN(400)) - 100
	for i := range values {
		values[i] = from + int32(i)
		if n <= 20 || i%16 == 0 || values[i] == 0 {
			values[i] = g.code()
		}
	}
	return values
}

func (g *Pairs) patterns() []batchv1.PodFailurePolicyOnPodConditionsPattern {
	patterns := make([]batchv1.PodFailurePolicyOnPodConditionsPattern, g.size(3, 20))
	for i := range patterns {
		patterns[i].Type = skewed(g, generatedConditions[:])
		patterns[i].Status = pick(g, generatedStatuses[:])
		if g.odd() {
			patterns[i].Type, patterns[i].Status = g.spoiledCondition(patterns[i].Type, patterns[i].Status)
		}
	}
	if g.odd() && g.one(4) {
		patterns = patterns[:0]
	}
	return patterns
}

// Pod returns a random pod, which the next call overwrites. It does not allocate.
func (g *Pairs) Pod() *corev1.Pod {
	pod := &g.pod
	pod.Name, pod.Namespace = pick(g, generatedPods[:]), pick(g, generatedSpaces[:])
	pod.Status.Phase = corev1.PodFailed
	if g.one(32) {
		pod.Status.Phase = pick(g, generatedPhases[:])
	}
	pod.Status.ContainerStatuses = g.containers(0, g.size(3, maxGeneratedContainers)-g.rng.IntN(2))
	pod.Status.InitContainerStatuses = nil
	if g.one(2) {
		pod.Status.InitContainerStatuses = g.containers(1, g.size(2, maxGeneratedContainers))
	}
	pod.Status.Conditions = g.podConditions()
	pod.Status.EphemeralContainerStatuses = nil
	if g.odd() {
		g.spoilPod(pod)
	}
	return pod
}

func (g *Pairs) containers(list, n int) []corev1.ContainerStatus {
	statuses := g.statuses[list][:n]
	first := g.rng.IntN(2)
	for i := range statuses {
		c := &statuses[i]
		c.Name = generatedNames[2*((first+i)%n)+list]
		c.State, c.LastTerminationState = corev1.ContainerState{}, corev1.ContainerState{}
		switch g.rng.IntN(8) {
		case 0:
			c.State.Running = &g.running
		case 1:
			c.State.Waiting = &g.waiting
			c.LastTerminationState.Terminated = g.lastState()
		default:
			t := &g.terminated[list][i]
			t.ExitCode = 0
			if !g.one(4) {
				t.ExitCode = g.code()
			}
			c.State.Terminated = t
		}
		if g.odd() {
			g.spoilContainer(c)
		}
	}
	return statuses
}

// lastState returns an earlier run of a container. It never affects a verdict.
func (g *Pairs) lastState() *corev1.ContainerStateTerminated {
	g.last.ExitCode = generatedCodes[0]
	return &g.last
}

// podConditions returns random conditions of distinct types, in any order.
func (g *Pairs) podConditions() []corev1.PodCondition {
	conditions := g.conditions[:g.rng.IntN(5)]
	first, step := g.rng.IntN(len(generatedConditions)), 1
	if g.one(2) {
		step = len(generatedConditions) - 1
	}
	for i := range conditions {
		c := &conditions[i]
		c.Type = generatedConditions[(first+i*step)%len(generatedConditions)]
		c.Status = pick(g, generatedStatuses[:])
		if g.odd() {
			c.Type, c.Status = g.spoiledCondition(c.Type, c.Status)
		}
	}
	return conditions
}

// code returns a random exit code other than 0.
func (g *Pairs) code() int32 {
	if g.one(8) {
		if n := int32(g.rng.Uint32()) >> g.rng.UintN(32); n != 0 {
			return n
		}
	}
	return skewed(g, generatedCodes[:])
}

// size returns a random number from 1 to usual, or one time in eight from 1 to most.
func (g *Pairs) size(usual, most int) int {
	if g.one(8) {
		return 1 + g.rng.IntN(most)
	}
	return 1 + g.rng.IntN(usual)
}

// one returns true one time in n, a power of two.
func (g *Pairs) one(n uint32) bool {
	return g.rng.Uint32()&(n-1) == 0
}

func pick[T any](g *Pairs, words []T) T {
	return words[g.rng.IntN(len(words))]
}

// skewed returns a random word, preferring the first ones.
func skewed[T any](g *Pairs, words []T) T {
	return words[min(g.rng.IntN(len(words)), g.rng.IntN(len(words)))]
}
