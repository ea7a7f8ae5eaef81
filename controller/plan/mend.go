package plan

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Mended is one change that retries make to the spec of a pod: of a container's memory, or of the nodes to avoid.
type Mended struct {
	// Rule is the rule that asks for the change, as POLICY/RULE. If several ask for memory, it is the one that asks for most.
	Rule string `json:"rule"`
	// Container is the one that gets more memory, or empty for the pod's own memory.
	Container string `json:"container,omitempty"`
	// Matches is the number of the rule's matches in which the container ran out of memory.
	Matches int32 `json:"matches,omitempty"`
	// Request and Limit are how the memory grows, nil if it does not.
	Request *Growth `json:"request,omitempty"`
	Limit   *Growth `json:"limit,omitempty"`
	// Avoid are the nodes to avoid, and AvoidNode how strictly.
	Avoid     []string           `json:"avoid,omitempty"`
	AvoidNode v1alpha1.AvoidNode `json:"avoidNode,omitempty"`
}

// Growth is how a request or limit of memory grows.
type Growth struct {
	From resource.Quantity `json:"from"`
	To   resource.Quantity `json:"to"`
	// AtMax is true if the memory has reached the rule's max.
	AtMax bool `json:"atMax,omitempty"`
}

// Mend returns the spec of the next pod, and what it changes. It shares what stays the same with spec, which is that of the
// Job's template.
//
// Pods with memory of their own, not their containers', get as much more as their containers do. If a container without
// memory was killed, the pod's own memory grows instead, for each such match.
func (r Retries) Mend(spec *corev1.PodSpec) (corev1.PodSpec, []Mended) {
	mended := *spec
	var changes []Mended
	mended.InitContainers, changes = r.mendContainers(spec.InitContainers, nil)
	mended.Containers, changes = r.mendContainers(spec.Containers, changes)
	if spec.Resources != nil {
		changes = r.mendPod(&mended, changes)
	}
	return mended, append(changes, r.avoid(&mended)...)
}

func (r Retries) mendContainers(containers []corev1.Container, changes []Mended) ([]corev1.Container, []Mended) {
	shared := true
	for i := range containers {
		c := &containers[i]
		change := r.growth(&c.Resources, func(retried Retried) int32 { return retried.OOMKilled[c.Name] })
		if change.Rule == "" {
			continue
		}
		if shared {
			containers, shared = slices.Clone(containers), false
		}
		change.Container = c.Name
		change.apply(&containers[i].Resources)
		changes = append(changes, change)
	}
	return containers, changes
}

// mendPod changes the pod's own memory. The changes are those of its containers.
func (r Retries) mendPod(spec *corev1.PodSpec, changes []Mended) []Mended {
	change := r.growth(spec.Resources, func(retried Retried) int32 {
		matches := int32(0)
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			if memoryOf(c.Resources.Requests) == nil && memoryOf(c.Resources.Limits) == nil {
				matches = min(matches+retried.OOMKilled[c.Name], v1alpha1.MaxBudget)
			}
		}
		return matches
	})
	for _, c := range changes {
		// A container without a request has its limit as one, and one without a limit may use at least its request.
		request, limit := c.Request, c.Limit
		if resources := resourcesOf(spec, c.Container); memoryOf(resources.Requests) == nil {
			request = c.Limit
		} else if memoryOf(resources.Limits) == nil {
			limit = c.Request
		}
		change.Request = change.Request.plus(memoryOf(spec.Resources.Requests), request)
		change.Limit = change.Limit.plus(memoryOf(spec.Resources.Limits), limit)
		if change.Rule == "" && (change.Request != nil || change.Limit != nil) {
			change.Rule, change.Matches = c.Rule, c.Matches
		}
	}
	if change.Rule == "" {
		return changes
	}
	spec.Resources = spec.Resources.DeepCopy()
	change.apply(spec.Resources)
	return append(changes, change)
}

func resourcesOf(spec *corev1.PodSpec, container string) *corev1.ResourceRequirements {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if containers[i].Name == container {
				return &containers[i].Resources
			}
		}
	}
	return &corev1.ResourceRequirements{}
}

// plus adds the growth of a container to that of the pod, whose memory was base, if it has any.
func (g *Growth) plus(base *resource.Quantity, container *Growth) *Growth {
	if base == nil || container == nil {
		return g
	}
	sum := ptr.Deref(g, Growth{From: *base, To: *base})
	sum.To.Add(container.To)
	sum.To.Sub(container.From)
	return &sum
}

// growth returns how memory grows, given how often each rule asks for it. It has no rule if the memory does not grow.
func (r Retries) growth(of *corev1.ResourceRequirements, matches func(Retried) int32) Mended {
	var most Mended
	for _, rule := range slices.Sorted(maps.Keys(r)) {
		retried := r[rule]
		times := matches(retried)
		if times == 0 || retried.Memory == nil {
			continue
		}
		request := grown(memoryOf(of.Requests), retried.Memory, times)
		limit := grown(memoryOf(of.Limits), retried.Memory, times)
		if limit.exceeds(most.Limit) || most.Limit == nil && request.exceeds(most.Request) {
			most.Rule, most.Matches = rule, times
		}
		if request.exceeds(most.Request) {
			most.Request = request
		}
		if limit.exceeds(most.Limit) {
			most.Limit = limit
		}
	}
	return most
}

func (g *Growth) exceeds(other *Growth) bool {
	return g != nil && (other == nil || g.To.Cmp(other.To) > 0)
}

func memoryOf(list corev1.ResourceList) *resource.Quantity {
	if quantity, given := list[corev1.ResourceMemory]; given {
		return &quantity
	}
	return nil
}

// grown returns how memory grows after a number of matches, or nil if it does not.
func grown(base *resource.Quantity, by *v1alpha1.RetryMemory, matches int32) *Growth {
	most := by.MaxBytes()
	if base == nil || base.Sign() <= 0 || base.CmpInt64(most) >= 0 {
		return nil
	}
	size := sizeOf(base.Value(), by.Hundredths(), most, matches)
	to := *resource.NewQuantity(size, resource.BinarySI)
	if size == most {
		to = resource.MustParse(by.Max) // in its own unit
	}
	return &Growth{From: *base, To: to, AtMax: size == most}
}

// sizeOf returns base x (hundredths/100)^matches, rounded up to a Mi, or most if that is less.
func sizeOf(base, hundredths, most int64, matches int32) int64 {
	limit, factor, hundred := big.NewInt(most), big.NewInt(hundredths), big.NewInt(100)
	size, unit := big.NewInt(base), big.NewInt(1) // the size is size/unit
	for range matches {
		unit.Mul(unit, hundred)
		if size.Mul(size, factor).Cmp(new(big.Int).Mul(limit, unit)) >= 0 {
			return most // further matches ask for even more
		}
	}
	mi := big.NewInt(1 << 20)
	unit.Mul(unit, mi)
	size.Add(size, unit).Sub(size, big.NewInt(1)).Div(size, unit).Mul(size, mi)
	if size.Cmp(limit) > 0 {
		return most
	}
	return size.Int64()
}

// apply sets the memory to which a container or pod grows.
func (m *Mended) apply(to *corev1.ResourceRequirements) {
	if m.Request != nil {
		to.Requests = maps.Clone(to.Requests)
		to.Requests[corev1.ResourceMemory] = m.Request.To
	}
	if m.Limit != nil {
		to.Limits = maps.Clone(to.Limits)
		to.Limits[corev1.ResourceMemory] = m.Limit.To
	}
}

// avoid keeps the pod away from the nodes of the matches. A node that one rule requires to be avoided needs no preference.
func (r Retries) avoid(spec *corev1.PodSpec) []Mended {
	var changes []Mended
	avoided := map[v1alpha1.AvoidNode][]string{}
	for _, how := range []v1alpha1.AvoidNode{v1alpha1.AvoidRequired, v1alpha1.AvoidPreferred} {
		for _, rule := range slices.Sorted(maps.Keys(r)) {
			if r[rule].AvoidNode != how {
				continue
			}
			nodes := slices.DeleteFunc(slices.Clone(r[rule].Nodes), func(node string) bool {
				return slices.Contains(avoided[v1alpha1.AvoidRequired], node) || slices.Contains(avoided[how], node)
			})
			if len(nodes) > 0 {
				avoided[how] = append(avoided[how], nodes...)
				changes = append(changes, Mended{Rule: rule, Avoid: nodes, AvoidNode: how})
			}
		}
	}
	if len(changes) > 0 {
		spec.Affinity = withoutNodes(ptr.Deref(spec.Affinity, corev1.Affinity{}), avoided)
	}
	return changes
}

// withoutNodes returns an affinity that also avoids nodes.
func withoutNodes(affinity corev1.Affinity, avoided map[v1alpha1.AvoidNode][]string) *corev1.Affinity {
	node := ptr.Deref(affinity.NodeAffinity, corev1.NodeAffinity{})
	if nodes := avoided[v1alpha1.AvoidRequired]; len(nodes) > 0 {
		node.RequiredDuringSchedulingIgnoredDuringExecution = requiredWithout(node.RequiredDuringSchedulingIgnoredDuringExecution, nodes)
	}
	if nodes := avoided[v1alpha1.AvoidPreferred]; len(nodes) > 0 {
		const highest = 100
		node.PreferredDuringSchedulingIgnoredDuringExecution = append(slices.Clip(node.PreferredDuringSchedulingIgnoredDuringExecution),
			corev1.PreferredSchedulingTerm{Weight: highest, Preference: corev1.NodeSelectorTerm{MatchExpressions: notIn(nodes)}})
	}
	affinity.NodeAffinity = &node
	return &affinity
}

// requiredWithout adds an expression to each term, because a node needs to match only one of them. A term that is empty
// matches no node, and stays so.
func requiredWithout(selector *corev1.NodeSelector, nodes []string) *corev1.NodeSelector {
	if selector == nil || len(selector.NodeSelectorTerms) == 0 {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: notIn(nodes)}}}
	}
	terms := slices.Clone(selector.NodeSelectorTerms)
	for i := range terms {
		if t := &terms[i]; len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			t.MatchExpressions = append(slices.Clip(t.MatchExpressions), notIn(nodes)...)
		}
	}
	return &corev1.NodeSelector{NodeSelectorTerms: terms}
}

func notIn(nodes []string) []corev1.NodeSelectorRequirement {
	return []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: nodes}}
}

// Grows reports whether the change is one of memory.
func (m Mended) Grows() bool { return m.Request != nil || m.Limit != nil }

// String returns the change for people, as in "memory of main: 512Mi -> 768Mi (oom of policy training, 1 match)" or
// "avoids node-3 (required)".
func (m Mended) String() string {
	if m.AvoidNode != "" {
		return "avoids " + strings.Join(m.Avoid, ", ") + " (" + strings.ToLower(string(m.AvoidNode)) + ")"
	}
	of := "the pod"
	if m.Container != "" {
		of = m.Container
	}
	return "memory of " + of + ": " + m.growthText() + " (" + m.reason() + ")"
}

func (m Mended) growthText() string {
	switch {
	case m.Limit == nil && m.Request != nil:
		return "request " + m.Request.String()
	case m.Request == nil && m.Limit != nil:
		return "limit " + m.Limit.String()
	case m.Request.String() == m.Limit.String():
		return m.Limit.String()
	default:
		return "request " + m.Request.String() + ", limit " + m.Limit.String()
	}
}

func (g *Growth) String() string {
	text := g.From.String() + " -> " + g.To.String()
	if g.AtMax {
		text += ", the max"
	}
	return text
}

// reason returns the rule and its matches.
func (m Mended) reason() string {
	text := m.Rule
	if policy, rule, found := strings.Cut(m.Rule, "/"); found {
		text = rule + " of policy " + policy
	}
	if m.Matches == 1 {
		return text + ", 1 match"
	}
	return text + ", " + strconv.Itoa(int(m.Matches)) + " matches"
}
