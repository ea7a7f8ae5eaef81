package manifest

import "slices"

// Members gives the Pods of a Stream to the Jobs that came before them. A Pod whose Job is still to come waits for it, and one that
// does not say whose it is waits for the end, as Families has it.
type Members struct {
	// Others counts the Pods that belong to no Job. They are known at the end.
	Others int

	set     *Set
	index   map[Reference]int
	known   int // Jobs that are in the index
	claimed bool
	claims  bool // some Pod says that it belongs to a Job
	waiting []Pod
	wanted  map[Reference]bool // Jobs that Pods wait for
}

// Members returns the members of a stream's Jobs.
func (s *Stream) Members() *Members {
	return &Members{set: s.Set, index: map[Reference]int{}, wanted: map[Reference]bool{}}
}

// Of returns Pods by the index of their Job: those given, and those that waited for Jobs that have come since. Two Jobs of one name
// are an error.
func (m *Members) Of(pods []Pod) (map[int][]Pod, error) {
	found := map[int][]Pod{}
	if come := m.set.Jobs[m.known:]; len(come) > 0 {
		if err := m.set.addByName(m.index, m.known); err != nil {
			return nil, err
		}
		isWanted := func(job Job) bool { return m.wanted[job.Reference()] }
		if m.known == 0 || slices.ContainsFunc(come, isWanted) {
			waiting := m.waiting
			m.waiting, m.wanted = nil, map[Reference]bool{}
			for _, pod := range waiting {
				m.give(pod, found)
			}
		}
		m.known = len(m.set.Jobs)
	}
	for _, pod := range pods {
		m.give(pod, found)
	}
	return found, nil
}

func (m *Members) give(pod Pod, found map[int][]Pod) {
	claim, says := ClaimOf(pod.Object)
	m.claimed, m.claims = m.claimed || says, m.claims || claim.Name != ""
	job, refused := m.set.jobOf(pod, m.index)
	switch {
	case says && refused == nil:
		found[job] = append(found[job], pod)
	case len(m.set.Jobs) > 0 && (says && claim.Name == "" || !says && m.claimed):
		m.Others++
	default:
		m.waiting = append(m.waiting, pod)
		m.wanted[Reference{pod.Reference().Namespace, claim.Name}] = true
	}
}

// Bare returns the Pods of an input that has no Jobs, and none of whose Pods says that it belongs to one.
func (m *Members) Bare() []Pod {
	if len(m.set.Jobs) > 0 || m.claims {
		return nil
	}
	return m.waiting
}

// Rest returns the Pods that have waited until the end, by the index of their Job: those of Jobs that CronJobs and JobSets of the
// input make, and those of the only Job that do not say whose they are, if no Pod does. The others belong to no Job.
func (m *Members) Rest() map[int][]Pod {
	found, _ := m.set.give(m.waiting, m.index, m.claimed, func(Pod, *refusal) { m.Others++ })
	m.waiting = nil
	return found
}
