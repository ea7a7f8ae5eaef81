package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The dimensions used to find causes. Reports have no sections for them. A value consists of node, image, exit code, reason and end, joined
// by tabs; each dimension leaves some of them empty.
const (
	byPlace      Dimension = "place"      // all attempts, without end
	bySymptom    Dimension = "symptom"    // failed attempts, without node and end
	byRetry      Dimension = "retry"      // failed attempts, without node; end is vain or recovered
	byDisruption Dimension = "disruption" // disruptions that counted; only end, which is counted or spent
)

const (
	oomKilled  = "OOMKilled"
	disruption = string(corev1.DisruptionTarget)
	withJob    = "ended with its Job" // not a reason that a Pod can have

	vain, recovered = "vain", "recovered"
	counted, spent  = "counted", "spent" // spent if the Job failed because of them
)

// symptom returns the exit code and the reason. All disruptions share one symptom without a code, and so do all Pods that ended with their
// Job.
func (a *Attempt) symptom() string {
	switch {
	case !a.Failed:
		return "\t"
	case a.Stopped:
		return "\t" + withJob
	case a.Disrupted:
		return "\t" + disruption
	case a.Reason == "Error":
		return a.Code + "\t"
	}
	return a.Code + "\t" + a.Reason
}

// retryEnd returns the end of a failed attempt that was retried, or "".
func (a *Attempt) retryEnd() string {
	switch {
	case a.Recovered:
		return recovered
	case a.Vain:
		return vain
	}
	return ""
}

// disruptionEnd returns the effect on the Job of a disruption that counted.
func (a *Attempt) disruptionEnd(o *Outcome) string {
	switch {
	case !a.Disrupted || !a.Verdict.Counted:
		return ""
	case o.Disrupted:
		return spent
	}
	return counted
}

func join(node, image, symptom, end string) string {
	return strings.Join([]string{node, image, symptom, end}, "\t")
}

// count is a cell of these dimensions, without the failures whose cause is known.
type count struct {
	node, image, code, reason, end string
	attempts, failed, jobs         float64 // all failures of a Job count as one attempt
	cells                          int
	cell                           *Cell
}

// search finds causes.
type search struct {
	*Fold
	places, symptoms, retries []count
}

func newSearch(f *Fold) *search {
	return &search{f, f.counts(byPlace), f.counts(bySymptom), f.counts(byRetry)}
}

// counts returns the cells of a dimension, sorted by value. Disruptions, and Pods that ended with their Job, are counted as attempts, but
// not as failures.
func (f *Fold) counts(d Dimension) (all []count) {
	table := f.By[d]
	if table == nil {
		return nil
	}
	table.Shrink()
	for _, value := range slices.Sorted(maps.Keys(table.Cells)) {
		part, cell := strings.Split(value, "\t"), table.Cells[value]
		if len(part) != 5 {
			continue // skips names with a tab, which are invalid
		}
		c := count{part[0], part[1], part[2], part[3], part[4], float64(cell.Attempts - cell.Failed + cell.Jobs), 0, 0, 1, cell}
		if c.reason != disruption && c.reason != withJob {
			c.failed, c.jobs = float64(cell.Failed), float64(cell.Jobs)
		}
		all = append(all, c)
	}
	return all
}

// sums groups counts by a key and returns the sum of each group.
func sums[K comparable](all []count, common func(count) K) map[K]count {
	sums := map[K]count{}
	for _, c := range all {
		if sum, there := sums[common(c)]; there {
			c.attempts, c.failed, c.jobs, c.cells = c.attempts+sum.attempts, c.failed+sum.failed, c.jobs+sum.jobs, c.cells+sum.cells
		}
		sums[common(c)] = c
	}
	return sums
}

func (c count) onlyImage() string       { return c.image }
func (c count) place() [2]string        { return [2]string{c.node, c.image} }
func (c count) symptom() [2]string      { return [2]string{c.code, c.reason} }
func (c count) imageSymptom() [3]string { return [3]string{c.image, c.code, c.reason} }

func (c count) has(cause Cause) bool {
	switch cause.Kind {
	case "node":
		return c.node == cause.Value
	case "image":
		return c.imageSymptom() == [3]string{cause.Value, cause.Code, cause.Reason}
	}
	return c.code == cause.Code && c.reason != oomKilled
}

// takeOut removes the failures of a cause. For a node, it removes a proportional share from the counts that have no node.
func (s *search) takeOut(cause Cause) {
	before := sums(s.places, count.imageSymptom)
	for i := range s.places {
		if c := &s.places[i]; c.has(cause) {
			c.failed, c.jobs = 0, 0
		}
	}
	after := sums(s.places, count.imageSymptom)
	for _, all := range [][]count{s.symptoms, s.retries} {
		for i := range all {
			c := &all[i]
			if total := before[c.imageSymptom()].failed; total > 0 {
				left := after[c.imageSymptom()].failed / total
				c.failed, c.jobs = c.failed*left, c.jobs*left
			}
		}
	}
}

// atNode compares the failures at a node with the expected ones.
type atNode struct{ of, jobs, mean, failed, expected float64 }

// nodes compares the number of Jobs that failed at each node with the number expected by chance: failures of an image are assumed to be
// distributed over nodes like its attempts or, if no attempt is known to have succeeded, evenly.
func (s *search) nodes() (all []suspect) {
	pairs := slices.SortedFunc(maps.Values(sums(s.places, count.place)), func(a, b count) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.image, b.image))
	})
	for i := range pairs {
		pairs[i].cells = 1
	}
	images, nodes := sums(pairs, count.onlyImage), map[string]atNode{}
	for _, p := range pairs {
		image, here := images[p.image], nodes[p.node]
		part, whole := p.attempts, image.attempts
		if s.Total.Failed == s.Total.Attempts {
			part, whole = 1, float64(image.cells)
		}
		here.of, here.jobs, here.failed = here.of+image.jobs, here.jobs+p.jobs, here.failed+p.failed
		here.mean += image.jobs * part / whole
		if part < whole {
			here.expected += (image.failed - p.failed) * part / (whole - part)
		} else {
			here.expected += p.failed // nothing to compare with
		}
		nodes[p.node] = here
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		here, cell := nodes[node], s.By[ByNode].Cells[node]
		if node == "" || cell == nil || min(here.jobs, float64(cell.Jobs)) < leastJobs || here.failed < times*here.expected {
			continue
		}
		log := binomialTail(int64(math.Round(here.of)), min(int64(here.jobs), cell.Jobs), here.mean/here.of)
		c := newSuspect("node", node, cell, log, len(nodes))
		c.Text = s.nodeText(c, len(nodes))
		all = append(all, c)
	}
	return all
}

// images compares the number of Jobs in which an image failed with a symptom with the number expected by chance, according to the image's
// share of attempts.
func (s *search) images() (all []suspect) {
	images, like, whole := sums(s.symptoms, count.onlyImage), sums(s.symptoms, count.symptom), s.Total.Attempts-s.Total.Failed
	for _, image := range images {
		whole += int64(image.attempts)
	}
	for _, c := range s.symptoms {
		image, total := s.By[ByImage].Cells[c.image], like[c.symptom()]
		if image == nil || c.jobs < leastJobs || image.Attempts == s.Total.Attempts ||
			c.failed/float64(image.Attempts) < times*(total.failed-c.failed)/float64(s.Total.Attempts-image.Attempts) {
			continue
		}
		cell := *c.cell
		cell.Attempts = image.Attempts
		log := binomialTail(int64(math.Round(total.jobs)), int64(math.Round(c.jobs)), (float64(image.Attempts-image.Failed)+images[c.image].attempts)/float64(whole))
		found := newSuspect("image", c.image, &cell, log, len(s.symptoms))
		found.Code, found.Reason = c.code, c.reason
		found.Text = imageText(found)
		all = append(all, found)
	}
	return all
}

// codes finds exit codes after which no retry has succeeded, although retries after other failures have.
func (s *search) codes() (all []suspect) {
	ends := sums(s.retries, func(c count) string { return c.end })
	inVain, tried := ends[vain].jobs, ends[vain].jobs+ends[recovered].jobs
	codes := sums(s.retries, func(c count) [2]string {
		if c.reason == oomKilled {
			return [2]string{}
		}
		return [2]string{c.code, c.end}
	})
	for _, code := range slices.Sorted(maps.Keys(s.By[ByCode].Cells)) {
		jobs := codes[[2]string{code, vain}].jobs
		if code == "" || jobs < leastJobs || codes[[2]string{code, recovered}].jobs > 0 {
			continue
		}
		cell := Cell{}
		for _, c := range s.symptoms {
			if c.code == code && c.reason != oomKilled {
				cell.Merge(c.cell)
			}
		}
		log := allOf(int64(math.Round(tried)), int64(math.Round(inVain)), int64(math.Round(jobs)))
		found := newSuspect("code", code, &cell, log, len(s.By[ByCode].Cells))
		found.Code, found.Text = code, codeText(found)
		all = append(all, found)
	}
	return all
}
