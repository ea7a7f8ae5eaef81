package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// unlikely is what the Chance of a cause is below.
	unlikely = 0.01
	// leastJobs is how many Jobs a cause has at least, and times how many times more often than elsewhere attempts fail.
	leastJobs, times = 3, 3
	maxCauses        = 50
)

// Kinds of causes.
const (
	NodeCause       = "node"
	ImageCause      = "image"
	CodeCause       = "code"
	DisruptionCause = "disruption"
)

// suspect is what may be a cause, with the logarithm of its Chance.
type suspect struct {
	Cause
	log float64
}

// causes returns what many failures have in common, the costliest first. The failures of the cause that is least likely to be
// chance are taken out before the next one is looked for, so that each failure has at most one cause.
func (f *Fold) causes() []Cause {
	all := []Cause{}
	s := newSearch(f)
	for len(all) < maxCauses {
		suspects := slices.Concat(s.nodes(), s.images(), s.codes())
		suspects = slices.DeleteFunc(suspects, func(s suspect) bool { return s.Chance >= unlikely })
		if len(suspects) == 0 {
			break
		}
		cause := slices.MinFunc(suspects, func(a, b suspect) int {
			return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
		}).Cause
		s.takeOut(&cause)
		all = append(all, cause)
	}
	if d := f.disruptions(); d.Kind != "" && d.Chance < unlikely {
		all = append(all, d.Cause)
	}
	slices.SortStableFunc(all, func(a, b Cause) int { return -compareCost(a.Reserved, b.Reserved) })
	return all
}

// compareCost compares devices, such as GPUs, and then CPU.
func compareCost(a, b Amounts) int {
	devices := func(all Amounts) (sum Amount) {
		for name, amount := range all {
			if strings.Contains(string(name), "/") {
				sum = sum.Plus(amount)
			}
		}
		return sum
	}
	return cmp.Or(devices(a).Compare(devices(b)), a[corev1.ResourceCPU].Compare(b[corev1.ResourceCPU]))
}

// newSuspect returns a suspect, one of several that were looked at.
func newSuspect(kind, value string, cell *Cell, log float64, looked int) suspect {
	log = min(0, log+math.Log(float64(looked)))
	chance := math.Exp(log)
	if chance > 0 {
		unit := math.Pow10(int(math.Floor(math.Log10(chance))))
		chance = math.Round(chance/unit) * unit
	}
	return suspect{Cause{Kind: kind, Row: rowOf(value, cell), Chance: chance}, log}
}

// disruptions tells whether disruptions that counted made Jobs fail, more of them than fail without one.
func (f *Fold) disruptions() suspect {
	table := f.By[byDisruption]
	if table == nil || table.Cells[spent] == nil || table.Cells[spent].Jobs < leastJobs {
		return suspect{}
	}
	cell := Cell{}
	for _, end := range []string{spent, counted} {
		if known := table.Cells[end]; known != nil {
			cell.Merge(known)
		}
	}
	failed := table.Cells[spent].Jobs
	others := f.Jobs[Complete] + f.Jobs[Failed] - cell.Jobs
	rate := float64(f.Jobs[Failed]-failed+1) / float64(max(others, 0)+1)
	d := newSuspect(DisruptionCause, disrupted, &cell, binomialTail(cell.Jobs, failed, min(rate, 1)), 1)
	d.Text = fmt.Sprintf("evictions count towards backoffLimit: %d Pods of %d Jobs, %d of these Jobs failed", cell.Failed, cell.Jobs, failed)
	return d
}

// nodeText says that a node is a cause. Rates elsewhere are not known if no attempt has succeeded.
func (f *Fold) nodeText(node string, cell *Cell, nodes int, log float64) string {
	rate := fmt.Sprintf("%d of %d attempts, elsewhere %.2g %%", cell.Failed, cell.Attempts,
		100*float64(f.Total.Failed-cell.Failed)/float64(max(1, f.Total.Attempts-cell.Attempts)))
	if f.Total.Failed == f.Total.Attempts {
		rate = fmt.Sprintf("%d attempts, other nodes %.2g on average", cell.Failed, float64(f.Total.Failed-cell.Failed)/float64(max(1, nodes-1)))
	}
	return fmt.Sprintf("node %s fails Pods of %d Jobs: %s (by chance: 1 in 10^%.0f)", node, cell.Jobs, rate, math.Floor(-log/math.Ln10))
}

func imageText(c *Cause) string {
	how := "fails with " + c.Reason
	switch {
	case c.Reason == oomKilled:
		how = "runs out of memory"
	case c.Reason == "":
		how = "exits with " + c.Code
	}
	return fmt.Sprintf("image %s %s: %d of %d attempts, %d Jobs", c.Value, how, c.Failed, c.Attempts, c.Jobs)
}

func codeText(c *Cause) string {
	text := fmt.Sprintf("exit code %s never succeeds on retry: %d retries in %d Jobs", c.Code, c.VainAttempts, c.Jobs)
	resource := corev1.ResourceCPU
	for _, name := range slices.Sorted(maps.Keys(c.VainHours)) {
		if strings.Contains(string(name), "/") {
			resource = name
			break
		}
	}
	short := string(resource[strings.LastIndex(string(resource), "/")+1:])
	return fmt.Sprintf("%s, %.3g %s hours in vain", text, c.VainHours[resource], strings.ToUpper(short))
}
