package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Mended is one change that retries make to a pod's spec: to a container's memory, or to the nodes to avoid.
type Mended struct {
	// Rule is the rule that asks for the change, as POLICY/RULE. If several ask for memory, it is one that asks for the
	// most.
	Rule string `json:"rule"`
	// Container is the container that gets more memory, or empty for the pod's own memory.
	Container string `json:"container,omitempty"`
	// Matches is the number of the rule's matches in which the container ran out of memory.
	Matches int32 `json:"matches,omitempty"`
	// Request and Limit describe the growth of the memory. They are nil if it does not grow.
	Request *Growth `json:"request,omitempty"`
	Limit   *Growth `json:"limit,omitempty"`
	// Avoid lists the nodes to avoid, and AvoidNode how strictly.
	Avoid     []string           `json:"avoid,omitempty"`
	AvoidNode v1alpha1.AvoidNode `json:"avoidNode,omitempty"`
}

// Growth is the growth of a memory request or limit. AtMax is true if it has reached the rule's max.
type Growth struct {
	From  resource.Quantity `json:"from"`
	To    resource.Quantity `json:"to"`
	AtMax bool              `json:"atMax,omitempty"`
}

// Mend returns the spec of the next pod, and the changes to spec, which must be the Job template's. The result shares the
// unchanged parts with spec. The pod's own memory grows by as much as its containers', and for each match in which a
// container without its own memory was killed.
func (r Retries) Mend(spec *corev1.PodSpec) (corev1.PodSpec, []Mended) {
	mended := *spec
	var changes []Mended
	mended.InitContainers, changes = r.mendContainers(spec.InitContainers, nil)
	mended.Containers, changes = r.mendContainers(spec.Containers, changes)
	if spec.Resources != nil {
		before, after := slices.Concat(spec.InitContainers, spec.Containers), slices.Concat(mended.InitContainers, mended.Containers)
		mended.Resources, changes = r.mendPod(spec.Resources, before, after, changes)
	}
	avoided := r.avoid(&mended)
	return mended, append(changes, avoided...)
}

func (r Retries) mendContainers(containers []corev1.Container, changes []Mended) ([]corev1.Container, []Mended) {
	mended := slices.Clone(containers)
	for i := range mended {
		c := &mended[i]
		if change := r.growth(&c.Resources, c.Name); change.Rule != "" {
			change.Container, c.Resources = c.Name, *change.applied(&c.Resources)
			changes = append(changes, change)
		}
	}
	return mended, changes
}

// mendPod changes the pod's own memory. before and after list its containers in the same order.
func (r Retries) mendPod(own *corev1.ResourceRequirements, before, after []corev1.Container, changes []Mended) (*corev1.ResourceRequirements, []Mended) {
	var without []string
	for i := range before {
		if bytesIn(before[i].Resources.Requests, before[i].Resources.Limits) == 0 {
			without = append(without, before[i].Name)
		}
	}
	change := r.growth(own, without...)
	for i := range before {
		// A container without a request uses its limit as one, and a container without a limit may use at least its
		// request.
		from, to := &before[i].Resources, &after[i].Resources
		change.Request = change.Request.plus(memoryOf(own.Requests), bytesIn(to.Requests, to.Limits)-bytesIn(from.Requests, from.Limits))
		change.Limit = change.Limit.plus(memoryOf(own.Limits), bytesIn(to.Limits, to.Requests)-bytesIn(from.Limits, from.Requests))
	}
	if change.Request == nil && change.Limit == nil {
		return own, changes
	}
	if change.Rule == "" {
		change.Rule, change.Matches = changes[0].Rule, changes[0].Matches
	}
	return change.applied(own), append(changes, change)
}

// bytesIn returns the memory in the first list that has any.
func bytesIn(lists ...corev1.ResourceList) int64 {
	for _, list := range lists {
		if memory := memoryOf(list); memory != nil {
			return memory.Value()
		}
	}
	return 0
}

// plus adds some bytes to the growth of base, if there is a base.
func (g *Growth) plus(base *resource.Quantity, more int64) *Growth {
	if base == nil || more == 0 {
		return g
	}
	sum := ptr.Deref(g, Growth{From: *base, To: *base})
	sum.To.Add(*resource.NewQuantity(more, resource.BinarySI))
	return &sum
}

// growth returns the growth of memory for the matches in which one of the containers was killed. Its Rule is empty if
// memory does not grow.
func (r Retries) growth(of *corev1.ResourceRequirements, containers ...string) (most Mended) {
	for _, rule := range slices.Sorted(maps.Keys(r)) {
		times := int32(0)
		for _, name := range containers {
			times += r[rule].OOMKilled[name]
		}
		if request := grown(memoryOf(of.Requests), r[rule].Memory, times); request.exceeds(most.Request) {
			most.Rule, most.Matches, most.Request = rule, times, request
		}
		if limit := grown(memoryOf(of.Limits), r[rule].Memory, times); limit.exceeds(most.Limit) {
			most.Rule, most.Matches, most.Limit = rule, times, limit
		}
	}
	return most
}

func (g *Growth) exceeds(other *Growth) bool {
	return g != nil && (other == nil || g.To.Cmp(other.To) > 0)
}

// Memory returns a container's memory limit, or else its request, or 0 if it has neither.
func Memory(spec *corev1.PodSpec, container string) (memory resource.Quantity) {
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if c.Name == container {
			memory = *cmp.Or(memoryOf(c.Resources.Limits), memoryOf(c.Resources.Requests), &memory)
		}
	}
	return memory
}

func memoryOf(list corev1.ResourceList) *resource.Quantity {
	if quantity, given := list[corev1.ResourceMemory]; given {
		return &quantity
	}
	return nil
}

// grown returns the growth of memory after a number of matches: to base x factor^matches, rounded up to a Mi, but at most
// max. It returns nil if memory does not grow.
func grown(base *resource.Quantity, by *v1alpha1.RetryMemory, matches int32) *Growth {
	if base == nil || base.Sign() <= 0 || by == nil || base.CmpInt64(by.MaxBytes()) >= 0 || matches <= 0 {
		return nil
	}
	limit, factor, hundred := big.NewInt(by.MaxBytes()), big.NewInt(by.Hundredths()), big.NewInt(100)
	size, unit := big.NewInt(base.Value()), big.NewInt(1) // the size is size/unit
	for range matches {
		size.Mul(size, factor)
		if unit.Mul(unit, hundred); size.Cmp(new(big.Int).Mul(limit, unit)) >= 0 {
			break // further matches ask for even more
		}
	}
	mi := big.NewInt(1 << 20)
	unit.Mul(unit, mi)
	size.Add(size, unit).Sub(size, big.NewInt(1)).Div(size, unit).Mul(size, mi)
	if size.Cmp(limit) >= 0 {
		return &Growth{From: *base, To: resource.MustParse(by.Max), AtMax: true}
	}
	return &Growth{From: *base, To: *resource.NewQuantity(size.Int64(), resource.BinarySI)}
}

// applied returns resources with the new amounts of memory.
func (m Mended) applied(to *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	with := to.DeepCopy()
	if m.Request != nil {
		with.Requests[corev1.ResourceMemory] = m.Request.To
	}
	if m.Limit != nil {
		with.Limits[corev1.ResourceMemory] = m.Limit.To
	}
	return with
}

// avoid keeps the pod away from the nodes of the matches. A node that one rule requires to be avoided needs no
// preference.
func (r Retries) avoid(spec *corev1.PodSpec) (changes []Mended) {
	var avoided []string
	affinity := ptr.Deref(spec.Affinity.DeepCopy(), corev1.Affinity{})
	terms := ptr.Deref(affinity.NodeAffinity, corev1.NodeAffinity{})
	for _, how := range []v1alpha1.AvoidNode{v1alpha1.AvoidRequired, v1alpha1.AvoidPreferred} {
		others := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn}
		for _, rule := range slices.Sorted(maps.Keys(r)) {
			nodes := slices.DeleteFunc(slices.Clone(r[rule].Nodes), func(node string) bool { return slices.Contains(avoided, node) })
			if r[rule].AvoidNode == how && len(nodes) > 0 {
				avoided, others.Values = append(avoided, nodes...), append(others.Values, nodes...)
				changes = append(changes, Mended{Rule: rule, Avoid: nodes, AvoidNode: how})
			}
		}
		switch {
		case len(others.Values) == 0:
		case how == v1alpha1.AvoidRequired:
			terms.RequiredDuringSchedulingIgnoredDuringExecution = requiring(terms.RequiredDuringSchedulingIgnoredDuringExecution, others)
		default:
			preferred := corev1.PreferredSchedulingTerm{Weight: highestWeight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{others}}}
			terms.PreferredDuringSchedulingIgnoredDuringExecution = append(terms.PreferredDuringSchedulingIgnoredDuringExecution, preferred)
		}
	}
	if len(changes) > 0 {
		affinity.NodeAffinity, spec.Affinity = &terms, &affinity
	}
	return changes
}

// highestWeight is the weight of the strongest preference.
const highestWeight = 100

// requiring adds an expression to each term, because a node needs to match only one of them. An empty term matches no
// node, and stays empty.
func requiring(selector *corev1.NodeSelector, expression corev1.NodeSelectorRequirement) *corev1.NodeSelector {
	if selector == nil || len(selector.NodeSelectorTerms) == 0 {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{expression}}}}
	}
	for i := range selector.NodeSelectorTerms {
		if t := &selector.NodeSelectorTerms[i]; len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			t.MatchExpressions = append(t.MatchExpressions, expression)
		}
	}
	return selector
}

// String describes the change for users, as in "memory of main: 512Mi -> 768Mi (oom of policy training, 1 match)" or
// "avoids node-3 (required)".
func (m Mended) String() string {
	if m.AvoidNode != "" {
		return fmt.Sprintf("avoids %s (%s)", strings.Join(m.Avoid, ", "), strings.ToLower(string(m.AvoidNode)))
	}
	because, matches := m.Rule, "matches"
	if policy, rule, found := strings.Cut(m.Rule, "/"); found {
		because = rule + " of policy " + policy
	}
	if m.Matches == 1 {
		matches = "match"
	}
	return fmt.Sprintf("memory of %s: %s (%s, %d %s)", cmp.Or(m.Container, "the pod"), m.growths(), because, m.Matches, matches)
}

// growths describes the growth of request and limit, as one text if they grow alike.
func (m Mended) growths() string {
	var texts []string
	for _, g := range []*Growth{m.Request, m.Limit} {
		if g == nil {
			continue
		}
		text := g.From.String() + " -> " + g.To.String()
		if g.AtMax {
			text += ", the max"
		}
		texts = append(texts, text)
	}
	switch texts = slices.Compact(texts); {
	case len(texts) > 1:
		return "request " + texts[0] + ", limit " + texts[1]
	case m.Limit == nil:
		return "request " + texts[0]
	case m.Request == nil:
		return "limit " + texts[0]
	default:
		return texts[0]
	}
}
