package compiler

import (
	"math/big"
	"math/bits"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// domain is the set of failures that the rules of one policy distinguish. Failures are numbered:
// first every combination of a container and an exit code, then every condition. A pod's failure is
// a container's exit code or a condition. A rule matches if one container or one condition
// satisfies it, so a rule whose failures are all matched by earlier rules can never decide.
//
// Its containers are the containers of the pod template that some rule names, and one container
// that no rule names. Its codes are the codes that some rule lists, the codes of a container that
// was told to stop, and one other code.
type domain struct {
	containers []string
	codes      []int32
	other      int32
	conditions []batchv1.PodFailurePolicyOnPodConditionsPattern
	numbers    map[batchv1.PodFailurePolicyOnPodConditionsPattern]int
}

func newDomain(p *Policy, template *corev1.PodSpec) *domain {
	d := &domain{other: 1, numbers: map[batchv1.PodFailurePolicyOnPodConditionsPattern]int{}}
	named := map[string]bool{}
	listed := map[int32]bool{codeKilled: true, codeTerminated: true}
	for _, r := range p.Rules {
		switch m := r.Match.(type) {
		case ExitCodes:
			for _, v := range m.Values {
				listed[v] = true
			}
			if m.Container != nil {
				named[*m.Container] = true
			}
		case PodConditions:
			d.addConditions(m)
		case Never:
		}
	}
	d.containers = tellApart(slices.Concat(template.InitContainers, template.Containers), named)
	for listed[d.other] {
		d.other++
	}
	listed[d.other] = true
	for code := range listed {
		d.codes = append(d.codes, code)
	}
	slices.Sort(d.codes)
	return d
}

func (d *domain) addConditions(m PodConditions) {
	for _, p := range m.Patterns {
		if _, known := d.numbers[p]; !known {
			d.numbers[p] = len(d.conditions)
			d.conditions = append(d.conditions, p)
		}
	}
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

// exits returns the number of failures that are exit codes.
func (d *domain) exits() int { return len(d.containers) * len(d.codes) }

// coverage is a bit set of failures.
type coverage []big.Word

func (c coverage) add(failure int) { c[failure/bits.UintSize] |= 1 << (failure % bits.UintSize) }

// of returns the failures that a rule matches.
func (d *domain) of(m Match) *big.Int {
	covered := make(coverage, (d.exits()+len(d.conditions))/bits.UintSize+1)
	switch m := m.(type) {
	case ExitCodes:
		for i, name := range d.containers {
			if m.Container == nil || *m.Container == name {
				d.codesOf(m, i*len(d.codes), covered)
			}
		}
	case PodConditions:
		for _, p := range m.Patterns {
			covered.add(d.exits() + d.numbers[p])
		}
	case Never:
	}
	return new(big.Int).SetBits(covered)
}

func (d *domain) codesOf(m ExitCodes, first int, covered coverage) {
	for i, code := range d.codes {
		if code != 0 && m.takes(code) {
			covered.add(first + i)
		}
	}
}

// killed returns the failures of a container that was told to stop, or of any such container if the
// name is unknown.
func (d *domain) killed(container string) *big.Int {
	stopped := []int32{codeKilled, codeTerminated}
	if !slices.Contains(d.containers, container) {
		return d.of(ExitCodes{Operator: In, Values: stopped})
	}
	return d.of(ExitCodes{Container: &container, Operator: In, Values: stopped})
}

// in returns the distinct codes and conditions in a set of failures.
func (d *domain) in(covered *big.Int) (codes []int32, conditions []batchv1.PodFailurePolicyOnPodConditionsPattern) {
	for i, code := range d.codes {
		for c := range d.containers {
			if covered.Bit(c*len(d.codes)+i) == 1 {
				codes = append(codes, code)
				break
			}
		}
	}
	for i, condition := range d.conditions {
		if covered.Bit(d.exits()+i) == 1 {
			conditions = append(conditions, condition)
		}
	}
	return codes, conditions
}
