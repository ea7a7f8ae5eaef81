package generators

import (
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// A hostile generator also uses these: they make policies that the API server would reject, and pods that no kubelet
// writes. Upstream's matcher has an answer for all of them.
var (
	hostileActions = [...]batchv1.PodFailurePolicyAction{"", "failJob", "FailJob ", "Restart", "NotIn"}

	hostileOperators = [...]batchv1.PodFailurePolicyOnExitCodesOperator{"", "in", "NOTIN", "Exists", "In "}

	hostileNames = [...]string{"", "Main", "main ", "größe", "main\x00", " for pod default/p", strings.Repeat("n", 300)}

	hostileConditions = [...]corev1.PodConditionType{
		"", "disruptionTarget", "DisruptionTarget ", "Größe", "A", "True", "DisruptionTarget=True",
		corev1.PodConditionType(strings.Repeat("example.com/", 30)),
	}

	hostileStatuses = [...]corev1.ConditionStatus{"", "true", "TRUE", "False ", "Maybe"}

	hostileCodes = [...]int32{
		0, math.MaxInt32, math.MinInt32, -1, 256, 65536, 1 << 24, -255, math.MaxInt32 - 1, math.MinInt32 + 1,
	}

	hostilePhases = [...]corev1.PodPhase{"", "failed", "FAILED", "Failed ", corev1.PodRunning}

	hostilePods = [...]string{"", "pöd", "p/q", "p failed with exit code 1", "%s", "\u202e"}
)

// odd returns true one time in eight in a hostile generator, and never in a well-typed one.
func (g *Pairs) odd() bool {
	return g.hostile && g.one(8)
}

func (g *Pairs) spoilRule(r *batchv1.PodFailurePolicyRule) {
	switch g.rng.IntN(6) {
	case 0, 1:
		r.Action = pick(g, hostileActions[:])
	case 2: // both selectors
		r.OnExitCodes, r.OnPodConditions = g.exitCodes(), g.patterns()
	case 3: // neither
		r.OnExitCodes, r.OnPodConditions = nil, nil
	case 4: // an empty list is not an absent one
		r.OnExitCodes, r.OnPodConditions = nil, []batchv1.PodFailurePolicyOnPodConditionsPattern{}
	case 5:
		r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{}
	}
}

func (g *Pairs) spoilExitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement) {
	switch g.rng.IntN(8) {
	case 0, 1:
		r.Operator = pick(g, hostileOperators[:])
	case 2:
		name := pick(g, hostileNames[:])
		r.ContainerName = &name
	case 3: // nil, or empty but present
		r.Values = nil
		if g.one(2) {
			r.Values = []int32{}
		}
	case 4: // duplicates
		r.Values = append(r.Values, r.Values...)
	case 5: // unsorted
		g.rng.Shuffle(len(r.Values), func(i, j int) { r.Values[i], r.Values[j] = r.Values[j], r.Values[i] })
	case 6: // 0, under In too, and the extremes
		for range 1 + g.rng.IntN(4) {
			r.Values = append(r.Values, pick(g, hostileCodes[:]))
		}
	case 7: // too many
		for range 256 + g.rng.IntN(64) {
			r.Values = append(r.Values, g.code())
		}
	}
}

func (g *Pairs) spoiledCondition(t corev1.PodConditionType, s corev1.ConditionStatus) (corev1.PodConditionType, corev1.ConditionStatus) {
	if g.one(2) {
		return skewed(g, hostileConditions[:]), s
	}
	return t, skewed(g, hostileStatuses[:])
}

func (g *Pairs) spoilContainer(c *corev1.ContainerStatus) {
	switch g.rng.IntN(5) {
	case 0: // another container's name, or one that the API rejects
		c.Name = generatedNames[0]
	case 1:
		c.Name = pick(g, hostileNames[:])
	case 2: // none of the three states
		c.State = corev1.ContainerState{}
	case 3: // another state besides terminated
		c.State.Running = &g.running
		c.LastTerminationState.Terminated = g.lastState()
	case 4:
		if c.State.Terminated != nil {
			c.State.Terminated.ExitCode = pick(g, hostileCodes[:])
		}
	}
}

func (g *Pairs) spoilPod(pod *corev1.Pod) {
	switch g.rng.IntN(8) {
	case 0:
		pod.Status.Phase = pick(g, hostilePhases[:])
	case 1:
		pod.Name = pick(g, hostilePods[:])
	case 2:
		pod.Namespace = pick(g, hostilePods[:])
	case 3: // absent, not empty
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = nil, nil
	case 4:
		pod.Status.InitContainerStatuses = g.containers(1, maxGeneratedContainers)
	case 5:
		pod.Status.EphemeralContainerStatuses = g.containers(2, 1+g.rng.IntN(3))
	case 6, 7:
		pod.Status.Conditions = g.hostileConditions()
	}
}

// hostileConditions returns random conditions: maybe more than there are types, with duplicates and odd spellings.
func (g *Pairs) hostileConditions() []corev1.PodCondition {
	conditions := g.conditions[:g.rng.IntN(maxGeneratedConditions+1)]
	for i := range conditions {
		c := &conditions[i]
		c.Type, c.Status = skewed(g, generatedConditions[:]), pick(g, generatedStatuses[:])
		if g.one(2) {
			c.Type, c.Status = g.spoiledCondition(c.Type, c.Status)
		}
	}
	return conditions
}
