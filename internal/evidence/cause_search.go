package evidence

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The dimensions by which causes are found. No section has them. Their values are node, image, exit code and reason, and how it
// ended, joined by tabs; each leaves some empty.
const (
	byPlace      Dimension = "place"      // all attempts
	bySymptom    Dimension = "symptom"    // failed attempts, without node
	byRetry      Dimension = "retry"      // those of them that were tried again, with the end: vain or recovered
	byJob        Dimension = "job"        // the image alone, of the first attempt of each Job
	byDisruption Dimension = "disruption" // the end alone, of disruptions that counted
)

const (
	oomKilled = "OOMKilled"
	disrupted = string(corev1.DisruptionTarget)

	vain, recovered = "vain", "recovered"
	counted, spent  = "counted", "spent" // spent if they made the Job fail
)

// symptom returns the exit code and the reason, with a tab in between. Disruptions have no code, and a reason in common.
func (a *Attempt) symptom() string {
	switch {
	case !a.Failed:
		return "\t"
	case a.Disrupted:
		return "\t" + disrupted
	case a.Reason == "Error":
		return a.Code + "\t"
	}
	return a.Code + "\t" + a.Reason
}

// retryEnd returns how a failed attempt ended that was tried again: in vain if the line ended with such a failure.
func (a *Attempt) retryEnd() string {
	switch {
	case a.Recovered:
		return recovered
	case a.Later > 0 && a.symptom() == a.last:
		return vain
	}
	return ""
}

// disruptionEnd returns what a disruption that counted made of the Job.
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

// count is a cell of these dimensions: what has no other cause yet.
type count struct {
	node, image, code, reason, end string
	attempts, failed, jobs         float64 // a Job's failures count as one of the attempts
	cell                           *Cell
}

// symptom is an image with the way in which it fails.
type symptom struct{ image, code, reason string }

func (c *count) symptom() symptom { return symptom{c.image, c.code, c.reason} }

// search looks for causes.
type search struct {
	*Fold
	places, symptoms, retries []count
}

func newSearch(f *Fold) *search {
	read := func(d Dimension) (all []count) {
		table := f.By[d]
		if table == nil {
			return nil
		}
		table.Shrink()
		for _, value := range slices.Sorted(maps.Keys(table.Cells)) {
			p, cell := strings.Split(value, "\t"), table.Cells[value]
			if len(p) != 5 {
				continue // a name with a tab, which is not legal
			}
			c := count{p[0], p[1], p[2], p[3], p[4], float64(cell.Attempts - cell.Failed + cell.Jobs), 0, 0, cell}
			if c.reason != disrupted {
				c.failed, c.jobs = float64(cell.Failed), float64(cell.Jobs)
			}
			all = append(all, c)
		}
		return all
	}
	return &search{Fold: f, places: read(byPlace), symptoms: read(bySymptom), retries: read(byRetry)}
}

// takeOut removes the failures that have a cause.
func (s *search) takeOut(cause *Cause) {
	failures, here := map[symptom]float64{}, map[symptom]float64{}
	for _, c := range s.places {
		failures[c.symptom()] += c.failed
		if cause.Kind == NodeCause && c.node == cause.Value || cause.Kind == ImageCause && c.symptom() == (symptom{cause.Value, cause.Code, cause.Reason}) ||
			cause.Kind == CodeCause && c.code == cause.Code && c.reason != oomKilled {
			here[c.symptom()] += c.failed
		}
	}
	for _, all := range [][]count{s.places, s.symptoms, s.retries} {
		for i := range all {
			c := &all[i]
			left := 1.0
			if here[c.symptom()] > 0 {
				left -= here[c.symptom()] / failures[c.symptom()]
			}
			if c.node != "" && cause.Kind == NodeCause {
				left = 1
				if c.node == cause.Value {
					left = 0
				}
			}
			c.failed, c.jobs = c.failed*left, c.jobs*left
		}
	}
}

// nodes compares the Jobs that failed at each node with those that would have by chance: if failures of an image were spread over
// nodes as its attempts are, or, if no attempt has succeeded, evenly.
func (s *search) nodes() (all []suspect) {
	images, seen, nodes := map[string]*count{}, map[string]int{}, 0
	var pairs []count // of node and image
	for _, c := range s.places {
		image := at(images, c.image)
		image.attempts, image.failed, image.jobs = image.attempts+c.attempts, image.failed+c.failed, image.jobs+c.jobs
		if n := len(pairs); n > 0 && pairs[n-1].node == c.node && pairs[n-1].image == c.image {
			last := &pairs[n-1]
			last.attempts, last.failed, last.jobs = last.attempts+c.attempts, last.failed+c.failed, last.jobs+c.jobs
			continue
		}
		seen[c.image]++
		pairs = append(pairs, c)
	}
	byNode := slices.Collect(chunks(pairs))
	nodes = len(byNode)
	for _, here := range byNode {
		var n, k, mean, failed, expected float64
		for _, p := range here {
			image := images[p.image]
			share, others := p.attempts/image.attempts, p.attempts/(image.attempts-p.attempts)
			if s.Total.Failed == s.Total.Attempts {
				share, others = 1/float64(seen[p.image]), 1/float64(seen[p.image]-1)
			}
			n, k, mean, failed = n+image.jobs, k+p.jobs, mean+image.jobs*share, failed+p.failed
			if image.failed > p.failed {
				expected += (image.failed - p.failed) * others
			} else if share == 1 {
				expected += p.failed // with nothing to compare
			}
		}
		node := here[0].node
		cell := s.By[ByNode].Cells[node]
		if cell == nil || node == "" || min(k, float64(cell.Jobs)) < leastJobs || failed < times*expected {
			continue
		}
		log := binomialTail(int64(math.Round(n)), min(int64(k), cell.Jobs), mean/n)
		suspect := newSuspect(NodeCause, node, cell, log, nodes)
		suspect.Text = s.nodeText(node, cell, nodes, suspect.log)
		all = append(all, suspect)
	}
	return all
}

// chunks yields the parts of a list with one node each.
func chunks(pairs []count) func(yield func([]count) bool) {
	return func(yield func([]count) bool) {
		for len(pairs) > 0 {
			n := slices.IndexFunc(pairs, func(c count) bool { return c.node != pairs[0].node })
			if n < 0 {
				n = len(pairs)
			}
			if !yield(pairs[:n]) {
				return
			}
			pairs = pairs[n:]
		}
	}
}

func at[K comparable](all map[K]*count, key K) *count {
	if all[key] == nil {
		all[key] = &count{}
	}
	return all[key]
}

// images compares the Jobs in which an image failed in some way with those in which it would have by chance: by the image's share
// of attempts or of Jobs, whichever is larger.
func (s *search) images() (all []suspect) {
	totals, attempts, total, jobs := map[symptom]*count{}, map[string]float64{}, 0.0, 0.0
	for image, cell := range s.By[ByImage].Cells {
		attempts[image] += float64(cell.Attempts)
		total += float64(cell.Attempts)
	}
	for _, c := range s.symptoms {
		like := at(totals, symptom{"", c.code, c.reason})
		like.failed, like.jobs = like.failed+c.failed, like.jobs+c.jobs
		repeated := float64(c.cell.Failed - c.cell.Jobs)
		attempts[c.image] -= repeated
		total -= repeated
	}
	for image, cell := range s.By[byJob].Cells {
		if image != "" {
			jobs += float64(cell.Attempts)
		}
	}
	for _, c := range s.symptoms {
		image, like := s.By[ByImage].Cells[c.image], totals[symptom{"", c.code, c.reason}]
		if image == nil || c.jobs < leastJobs || image.Attempts == s.Total.Attempts ||
			c.failed/float64(image.Attempts) < times*(like.failed-c.failed)/float64(s.Total.Attempts-image.Attempts) {
			continue
		}
		share := attempts[c.image] / total
		if first := s.By[byJob].Cells[c.image]; first != nil {
			share = max(share, float64(first.Attempts)/jobs)
		}
		cell := *c.cell
		cell.Attempts = image.Attempts
		suspect := newSuspect(ImageCause, c.image, &cell, binomialTail(int64(math.Round(like.jobs)), int64(math.Round(c.jobs)), share), len(s.symptoms))
		suspect.Code, suspect.Reason = c.code, c.reason
		suspect.Text = imageText(&suspect.Cause)
		all = append(all, suspect)
	}
	return all
}

// codes finds exit codes after which no retry has succeeded, where after other failures some have.
func (s *search) codes() (all []suspect) {
	var jobs, inVain float64
	byCode := map[string]*count{}
	for _, c := range s.retries {
		if c.end == "" {
			continue
		}
		jobs += c.jobs
		if c.end == vain {
			inVain += c.jobs
		}
		if c.code == "" || c.reason == oomKilled {
			continue
		}
		code := at(byCode, c.code)
		if code.cell == nil {
			code.cell = &Cell{}
		}
		code.cell.Merge(c.cell)
		if c.end == vain {
			code.jobs += c.jobs
		} else {
			code.failed += c.jobs
		}
	}
	for _, value := range slices.Sorted(maps.Keys(byCode)) {
		code := byCode[value]
		if code.failed > 0 || code.jobs < leastJobs {
			continue
		}
		cell := Cell{}
		for _, c := range s.symptoms {
			if c.code == value && c.reason != oomKilled {
				cell.Merge(c.cell)
			}
		}
		log := allOf(int64(math.Round(jobs)), int64(math.Round(inVain)), int64(math.Round(code.jobs)))
		suspect := newSuspect(CodeCause, value, &cell, log, len(byCode))
		suspect.Code = value
		suspect.Text = codeText(&suspect.Cause)
		all = append(all, suspect)
	}
	return all
}
