package generators

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// spoilJob adds one to three faults.
func (g *Jobs) spoilJob(j *batchv1.Job) {
	for range 1 + g.draw.rng.IntN(3) {
		fault := pick(g.draw, jobFaults[:])
		fault.add(g, j)
	}
}

// jobFault makes a Job violate the constraint id most of the time, and maybe others as well.
type jobFault struct {
	id  string
	add func(*Jobs, *batchv1.Job)
}

// Limits beyond which the API server treats Indexed Jobs differently.
const (
	manyIndexes = 100_000
	fewPods     = 10_000
)

var jobFaults = [...]jobFault{
	{"P1", func(g *Jobs, j *batchv1.Job) { j.Spec.Parallelism = new(g.negative()) }},
	{"P2", func(g *Jobs, j *batchv1.Job) { j.Spec.Completions = new(g.negative()) }},
	{"P3", func(g *Jobs, j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(g.negative()) << 20) }},
	{"P4", func(g *Jobs, j *batchv1.Job) { j.Spec.BackoffLimit = new(g.negative()) }},
	{"P5", func(g *Jobs, j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = new(g.negative()) }},
	{"P6", func(g *Jobs, j *batchv1.Job) {
		g.index(&j.Spec)
		j.Spec.Parallelism = new(g.around(manyIndexes))
	}},
	{"P7", func(g *Jobs, j *batchv1.Job) { g.grow(&j.Spec); j.Spec.Parallelism = new(g.around(fewPods)) }},
	{"P8", func(g *Jobs, j *batchv1.Job) {
		g.grow(&j.Spec)
		j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = nil, nil
		j.Spec.Parallelism = new(g.around(fewPods))
	}},
	{"B1", func(g *Jobs, j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = new(g.negative()) }},
	{"B2", func(g *Jobs, j *batchv1.Job) { j.Spec.MaxFailedIndexes = new(g.negative()) }},
	{"B3", func(g *Jobs, j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = nil, new(g.limit())
	}},
	{"B4", func(g *Jobs, j *batchv1.Job) {
		g.index(&j.Spec)
		j.Spec.MaxFailedIndexes = new(g.around(*j.Spec.Completions))
	}},
	{"B5", func(g *Jobs, j *batchv1.Job) {
		g.index(&j.Spec)
		j.Spec.MaxFailedIndexes = new(g.around(manyIndexes))
	}},
	{"B6", func(g *Jobs, j *batchv1.Job) { g.grow(&j.Spec); j.Spec.MaxFailedIndexes = nil }},
	{"B7", func(g *Jobs, j *batchv1.Job) {
		g.grow(&j.Spec)
		j.Spec.MaxFailedIndexes = new(g.around(fewPods))
	}},
	{"B8", func(g *Jobs, j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.BackoffLimitPerIndex = nil, new(g.limit())
	}},
	{"B9", func(g *Jobs, j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.MaxFailedIndexes = new(batchv1.NonIndexedCompletion), new(g.limit())
	}},
	{"CM1", func(g *Jobs, j *batchv1.Job) {
		j.Spec.CompletionMode = new(pick(g.draw, []batchv1.CompletionMode{"", "indexed", "Indexed ", "Größe", "\"<&>"}))
	}},
	{"CM2", func(g *Jobs, j *batchv1.Job) {
		g.index(&j.Spec)
		j.Spec.Completions, j.Spec.Parallelism = nil, new(g.limit())
	}},
	{"CM3", func(g *Jobs, j *batchv1.Job) { g.index(&j.Spec); j.Name = pick(g.draw, hostileJobs[:]) }},
	{"M1", func(_ *Jobs, j *batchv1.Job) { j.Spec.ManagedBy = new("") }},
	{"M2", func(g *Jobs, j *batchv1.Job) {
		j.Spec.ManagedBy = new(pick(g.draw, []string{"kueue", "/", "a/", "/b", "//", "größe", "\u00a0", "\\\"\x01"}))
	}},
	{"M3", func(g *Jobs, j *batchv1.Job) { j.Spec.ManagedBy = new(pick(g.draw, hostileDomains[:]) + "/b") }},
	{"M4", func(g *Jobs, j *batchv1.Job) {
		j.Spec.ManagedBy = new("example.com/" + pick(g.draw, []string{"?", "a b", "größe", "a#b", "a\nb", "[", "a\n", "\"<\\>"}))
	}},
	{"M5", func(g *Jobs, j *batchv1.Job) {
		j.Spec.ManagedBy = new("example.com/" + strings.Repeat(pick(g.draw, []string{"n", "ö", "/"}), 50+g.draw.rng.IntN(4)))
	}},
	{"F1", func(g *Jobs, j *batchv1.Job) {
		g.failurePolicy(&j.Spec)
		for range 20 + g.draw.rng.IntN(3) {
			j.Spec.PodFailurePolicy.Rules = append(j.Spec.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{
				Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: g.draw.patterns(),
			})
		}
	}},
	{"F2", func(g *Jobs, j *batchv1.Job) { g.anyRule(j).Action = "" }},
	{"F3", func(g *Jobs, j *batchv1.Job) {
		g.anyRule(j).Action, j.Spec.BackoffLimitPerIndex = batchv1.PodFailurePolicyActionFailIndex, nil
	}},
	{"F4", func(g *Jobs, j *batchv1.Job) {
		g.anyRule(j).Action = pick(g.draw, append(hostileActions[1:], "Größe", "\"<\u2028&>"))
	}},
	{"F5", func(g *Jobs, j *batchv1.Job) { g.codesRule(j).Operator = "" }},
	{"F6", func(g *Jobs, j *batchv1.Job) { g.codesRule(j).Operator = pick(g.draw, hostileOperators[1:]) }},
	{"F7", func(g *Jobs, j *batchv1.Job) {
		g.codesRule(j).ContainerName = new(pick(g.draw, append(hostileNames[:], "absent", "\a\u202e")))
	}},
	{"F8", func(g *Jobs, j *batchv1.Job) {
		g.codesRule(j).Values = pick(g.draw, [][]int32{nil, {}})
	}},
	{"F9", func(g *Jobs, j *batchv1.Job) { g.codesRule(j).Values = g.manyValues() }},
	{"F10", func(g *Jobs, j *batchv1.Job) {
		r := g.codesRule(j)
		r.Operator, r.Values = "In", append([]int32{0}, r.Values...)
	}},
	{"F11", func(g *Jobs, j *batchv1.Job) {
		r := g.codesRule(j)
		r.Values = append(r.Values, r.Values[len(r.Values)-1], r.Values[0])
	}},
	{"F12", func(g *Jobs, j *batchv1.Job) {
		r := g.codesRule(j)
		r.Values = append(r.Values, r.Values[0]-1-int32(g.draw.rng.IntN(8)))
	}},
	{"F13", func(g *Jobs, j *batchv1.Job) {
		patterns := g.patternsRule(j)
		for range 20 + g.draw.rng.IntN(3) {
			*patterns = append(*patterns, (*patterns)[0])
		}
	}},
	{"F14", func(g *Jobs, j *batchv1.Job) {
		p := &(*g.patternsRule(j))[0]
		p.Type = pick(g.draw, append(hostileTypes[:], hostileConditions[:]...))
	}},
	{"F16", func(g *Jobs, j *batchv1.Job) {
		(*g.patternsRule(j))[0].Status = pick(g.draw, hostileStatuses[1:])
	}},
	{"F17", func(g *Jobs, j *batchv1.Job) {
		r := g.anyRule(j)
		r.OnExitCodes, r.OnPodConditions = g.draw.exitCodes(), g.draw.patterns()
	}},
	{"F18", func(g *Jobs, j *batchv1.Job) { r := g.anyRule(j); r.OnExitCodes, r.OnPodConditions = nil, nil }},
	{"F19", func(g *Jobs, j *batchv1.Job) {
		g.failurePolicy(&j.Spec)
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}},
	{"F20", func(g *Jobs, j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = pick(g.draw, []corev1.RestartPolicy{"", corev1.RestartPolicyAlways})
	}},
	{"F21", func(g *Jobs, j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = pick(g.draw, []corev1.RestartPolicy{"never", "Never ", "Sometimes", "Größe"})
	}},
	{"F1-F18", func(g *Jobs, j *batchv1.Job) { j.Spec.PodFailurePolicy = g.spoil.Policy() }},
	{"R1", func(g *Jobs, j *batchv1.Job) {
		g.failurePolicy(&j.Spec)
		j.Spec.PodReplacementPolicy = new(pick(g.draw, append(hostileReplacements[:], batchv1.TerminatingOrFailed)))
	}},
	{"R2", func(g *Jobs, j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Spec.PodReplacementPolicy = nil, new(pick(g.draw, hostileReplacements[:]))
	}},
	{"S1", func(g *Jobs, j *batchv1.Job) {
		j.Spec.SuccessPolicy = g.successPolicy()
		j.Spec.CompletionMode = pick(g.draw, []*batchv1.CompletionMode{nil, new(batchv1.NonIndexedCompletion), new(batchv1.CompletionMode("x"))})
	}},
	{"S2", func(g *Jobs, j *batchv1.Job) {
		g.index(&j.Spec)
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: pick(g.draw, [][]batchv1.SuccessPolicyRule{nil, {}})}
	}},
	{"S3", func(g *Jobs, j *batchv1.Job) {
		r := *g.successRule(j)
		for range 20 + g.draw.rng.IntN(3) {
			j.Spec.SuccessPolicy.Rules = append(j.Spec.SuccessPolicy.Rules, r)
		}
	}},
	{"S4", func(g *Jobs, j *batchv1.Job) { *g.successRule(j) = batchv1.SuccessPolicyRule{} }},
	{"S5", func(g *Jobs, j *batchv1.Job) { g.successRule(j).SucceededIndexes = new(g.longIndexes()) }},
	{"S6", func(g *Jobs, j *batchv1.Job) {
		g.successRule(j).SucceededIndexes = new(g.wrongIndexes(*j.Spec.Completions))
	}},
	{"S7", func(g *Jobs, j *batchv1.Job) { g.successRule(j).SucceededCount = new(g.negative()) }},
	{"S8", func(g *Jobs, j *batchv1.Job) {
		g.successRule(j).SucceededCount = new(g.around(*j.Spec.Completions))
	}},
	{"S9", func(g *Jobs, j *batchv1.Job) {
		indexes := pick(g.draw, generatedIndexes[:])
		*g.successRule(j) = batchv1.SuccessPolicyRule{SucceededIndexes: new(indexes.written), SucceededCount: new(g.around(indexes.total))}
	}},
}

var (
	// The host name of a pod, made of name, dash and index, is at most 63 bytes long.
	hostileJobs = [...]string{"with.dots", "a.b.c", strings.Repeat("n", 62), strings.Repeat("n", 61), strings.Repeat("n", 60)}

	hostileDomains = [...]string{"Example.com", "-a", "a-", "a..b", "größe", ".", "a_b", "a\n", "\u2028", strings.Repeat("a.", 127) + "b"}

	hostileTypes = [...]corev1.PodConditionType{
		"a/b/c", "/", "/a", "a/", "A.b/c", "-", "a-", "größe/Name", "Name\n", "example.com/\"<&>",
		corev1.PodConditionType(strings.Repeat("N", 64)), corev1.PodConditionType(strings.Repeat("ö", 32)),
		corev1.PodConditionType(strings.Repeat("a.", 127) + "b/" + strings.Repeat("_", 64)),
	}

	hostileReplacements = [...]batchv1.PodReplacementPolicy{"", "failed", "Terminating", "Größe", "\"<&>"}

	// The first format is a fragment that is invalid anywhere, or after one that ends with the same index.
	hostileFragments = [...]string{
		"", " ", "a", "1-", "-1", "-", "1-2-3", "--", "1-1", "3-2", "0x1", "1_0", "+", "++1", "1-+0", "٣", "1.0", "1e1", "\"%d",
		"9223372036854775807", "9223372036854775808", "18446744073709551616", "4294967296", "2147483648", "0-4294967296",
	}
)

// negative returns a random negative number.
func (g *Jobs) negative() int32 {
	return pick(g.draw, []int32{-1, -2, -100_001, math.MinInt32})
}

// around returns a limit or a number near it, more often above.
func (g *Jobs) around(border int32) int32 {
	return border + pick(g.draw, []int32{-1, 0, 1, 1, 2, 1000, 1 << 20})
}

// grow gives the Job a limit per index and a number of indexes near manyIndexes, beyond which special rules apply.
func (g *Jobs) grow(s *batchv1.JobSpec) {
	g.index(s)
	s.Completions, s.Parallelism = new(g.around(manyIndexes)), new(int32(fewPods))
	s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(g.limit()), new(g.draw.rng.Int32N(fewPods))
}

// anyRule returns a random rule of the failure policy. It creates a policy if there is none.
func (g *Jobs) anyRule(j *batchv1.Job) *batchv1.PodFailurePolicyRule {
	if p := j.Spec.PodFailurePolicy; p == nil || len(p.Rules) == 0 {
		g.failurePolicy(&j.Spec)
	}
	p := j.Spec.PodFailurePolicy
	if len(p.Rules) == 0 {
		p.Rules = append(p.Rules, batchv1.PodFailurePolicyRule{Action: "Count", OnPodConditions: g.draw.patterns()})
	}
	return &p.Rules[g.draw.rng.IntN(len(p.Rules))]
}

// codesRule returns a rule on exit codes, with at least one code.
func (g *Jobs) codesRule(j *batchv1.Job) *batchv1.PodFailurePolicyOnExitCodesRequirement {
	r := g.anyRule(j)
	r.OnExitCodes, r.OnPodConditions = g.draw.exitCodes(), nil
	if r.OnExitCodes.ContainerName != nil {
		g.addContainer(&j.Spec.Template.Spec, *r.OnExitCodes.ContainerName)
	}
	return r.OnExitCodes
}

// patternsRule returns a rule on conditions, with at least one pattern.
func (g *Jobs) patternsRule(j *batchv1.Job) *[]batchv1.PodFailurePolicyOnPodConditionsPattern {
	r := g.anyRule(j)
	r.OnExitCodes, r.OnPodConditions = nil, g.draw.patterns()
	return &r.OnPodConditions
}

// successRule returns a rule of the success policy, for which it makes the Job Indexed.
func (g *Jobs) successRule(j *batchv1.Job) *batchv1.SuccessPolicyRule {
	if m := j.Spec.CompletionMode; m == nil || *m != batchv1.IndexedCompletion || j.Spec.Completions == nil {
		g.index(&j.Spec)
	}
	if p := j.Spec.SuccessPolicy; p == nil || len(p.Rules) == 0 {
		j.Spec.SuccessPolicy = g.successPolicy()
	}
	rules := j.Spec.SuccessPolicy.Rules
	return &rules[g.draw.rng.IntN(len(rules))]
}

// manyValues returns 254 to 257 sorted values.
func (g *Jobs) manyValues() []int32 {
	values := make([]int32, 254+g.draw.rng.IntN(4))
	for i := range values {
		values[i] = int32(i + 1)
	}
	return values
}

// wrongIndexes returns a text of indexes that mostly has a fault after one or two valid fragments.
func (g *Jobs) wrongIndexes(completions int32) string {
	fragments := []string{
		pick(g.draw, hostileFragments[:]), pick(g.draw, generatedIndexes[:]).written,
		strconv.Itoa(int(g.around(completions))), fmt.Sprintf("0-%d", completions), "1", "0,2-3",
	}
	g.draw.rng.Shuffle(len(fragments), func(i, j int) { fragments[i], fragments[j] = fragments[j], fragments[i] })
	return strings.Join(fragments[:1+g.draw.rng.IntN(4)], ",")
}

// longIndexes returns a text of indexes of the greatest valid length, or one or two bytes longer.
func (g *Jobs) longIndexes() string {
	const most = 65536
	number := pick(g.draw, []string{"0", "1", "7", "a", "+3"})
	return strings.Repeat("0", most-len(number)+g.draw.rng.IntN(3)) + number
}
