package compiler

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// coverage is which failures a rule takes, out of the finitely many that the
// rules of one policy tell apart.
type coverage map[failure]bool

// failure is a container's exit code or a pod's condition. Rules match when one
// container or one condition satisfies them, so a rule whose failures are all
// taken by earlier rules can decide no pod.
type failure struct {
	container string
	code      int32
	condition batchv1.PodFailurePolicyOnPodConditionsPattern
}

// domain is what the exit-code rules of a policy tell apart: the containers of
// the pod template that some rule names and one that none does, the codes that
// some rule lists and one that none does.
type domain struct {
	containers []string
	codes      []int32
	other      int32
}

func newDomain(p *Policy, template *corev1.PodSpec) domain {
	d := domain{other: 1}
	named := map[string]bool{}
	for _, r := range p.Rules {
		if m, ok := r.Match.(ExitCodes); ok {
			d.codes = append(d.codes, m.Values...)
			if m.Container != nil {
				named[*m.Container] = true
			}
		}
	}
	d.containers = tellApart(slices.Concat(template.InitContainers, template.Containers), named)
	slices.Sort(d.codes)
	d.codes = slices.Compact(d.codes)
	for slices.Contains(d.codes, d.other) {
		d.other++
	}
	d.codes = append(d.codes, d.other)
	return d
}

func tellApart(containers []corev1.Container, named map[string]bool) []string {
	var names []string
	other := false
	for _, c := range containers {
		if named[c.Name] || !other {
			names = append(names, c.Name)
			other = other || !named[c.Name]
		}
	}
	return names
}

func (d domain) of(m Match) coverage {
	covered := coverage{}
	switch m := m.(type) {
	case ExitCodes:
		for _, name := range d.containers {
			if m.Container == nil || *m.Container == name {
				d.codesOf(m, name, covered)
			}
		}
	case PodConditions:
		for _, p := range m.Patterns {
			covered[failure{condition: p}] = true
		}
	case Never:
	}
	return covered
}

func (d domain) codesOf(m ExitCodes, container string, covered coverage) {
	listed := map[int32]bool{}
	for _, v := range m.Values {
		listed[v] = true
	}
	for _, code := range d.codes {
		if code != 0 && listed[code] != m.Not {
			covered[failure{container: container, code: code}] = true
		}
	}
}

// overlap is what both take.
func (c coverage) overlap(other coverage) coverage {
	both := coverage{}
	for f := range c {
		if other[f] {
			both[f] = true
		}
	}
	return both
}

func (c coverage) add(other coverage) {
	for f := range other {
		c[f] = true
	}
}
