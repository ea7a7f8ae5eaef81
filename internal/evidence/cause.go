package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// unlikely is the exclusive upper limit for the Chance of a cause.
	unlikely = 0.01
	// leastJobs is the minimum number of Jobs of a cause. times is the minimum ratio between the failure rate at a cause and elsewhere.
	leastJobs, times = 5, 3
	maxCauses        = 20
)

// suspect is a possible cause, with the logarithm of its Chance.
type suspect struct {
	Cause
	log float64
}

// causes returns the common causes of failures, the most expensive first. After it finds the cause that is least likely by chance, it
// removes that cause's failures before it searches for the next one, so that no failure has two causes.
func (f *Fold) causes() []Cause {
	if f.Total.Failed == 0 {
		return []Cause{}
	}
	all := f.disruptions()
	s := newSearch(f)
	for f.Total.Failed > 0 && len(all) < maxCauses {
		suspects := slices.Concat(s.nodes(), s.images(), s.codes())
		suspects = slices.DeleteFunc(suspects, func(s suspect) bool { return s.Chance >= unlikely })
		if len(suspects) == 0 {
			break
		}
		cause := slices.MinFunc(suspects, func(a, b suspect) int {
			return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
		}).Cause
		s.takeOut(cause)
		all = append(all, cause)
	}
	slices.SortStableFunc(all, func(a, b Cause) int {
		return cmp.Or(devices(b.Reserved).Compare(devices(a.Reserved)), b.Reserved[corev1.ResourceCPU].Compare(a.Reserved[corev1.ResourceCPU]))
	})
	return all
}

// devices returns the sum over all devices, such as GPUs: resources with a domain in their name.
func devices(amounts Amounts) (sum Amount) {
	for name, amount := range amounts {
		if strings.Contains(string(name), "/") {
			sum = sum.Plus(amount)
		}
	}
	return sum
}

// newSuspect returns a suspect with its Chance corrected for the number of suspects of the same kind.
func newSuspect(kind, value string, cell *Cell, log float64, several int) suspect {
	log = min(0, log+math.Log(float64(several)))
	chance, _ := strconv.ParseFloat(fmt.Sprintf("%.1g", math.Exp(max(log, -690))), 64) // never 0
	return suspect{Cause{Kind: kind, Row: rowOf(value, cell), Chance: chance}, log}
}

// disruptions returns a cause if disruptions made Jobs fail. Chance does not apply, because the reason for these failures is known.
func (f *Fold) disruptions() []Cause {
	table := f.By[byDisruption]
	if table == nil || table.Cells[spent] == nil || table.Cells[spent].Jobs < leastJobs {
		return []Cause{}
	}
	cell := *table.Cells[spent]
	cell.Reserved, cell.Vain = maps.Clone(cell.Reserved), maps.Clone(cell.Vain)
	if others := table.Cells[counted]; others != nil {
		cell.Merge(others)
	}
	return []Cause{{Kind: "disruption", Row: rowOf(disruption, &cell), Text: fmt.Sprintf(
		"evictions and preemptions count towards backoffLimit: %d Pods of %d Jobs, %d of these Jobs failed", cell.Failed, cell.Jobs, table.Cells[spent].Jobs)}}
}

// nodeText compares the node's failure rate with the rate elsewhere, or, if no attempt is known to have succeeded, its number of failures
// with the average of other nodes.
func (f *Fold) nodeText(c suspect, nodes int) string {
	failed := c.Failed - c.Stopped
	others := float64(f.Total.Failed - f.Total.Stopped - failed)
	rate := fmt.Sprintf("%d of %d attempts, elsewhere %.2g %%", failed, c.Attempts, 100*others/max(1, float64(f.Total.Attempts-c.Attempts)))
	if f.Total.Failed == f.Total.Attempts {
		rate = fmt.Sprintf("%d attempts, other nodes %.2g on average", failed, others/max(1, float64(nodes-1)))
	}
	return fmt.Sprintf("node %s fails Pods of %d Jobs: %s (by chance: 1 in 10^%.0f)", c.Value, c.Jobs, rate, math.Floor(-c.log/math.Ln10))
}

func imageText(c suspect) string {
	how := "fails with " + cmp.Or(c.Reason, "no reason")
	switch {
	case c.Reason == oomKilled:
		how = "runs out of memory"
	case c.Reason == "" && c.Code != "":
		how = "exits with " + c.Code
	}
	return fmt.Sprintf("image %s %s: %d of %d attempts, %d Jobs", c.Value, how, c.Failed, c.Attempts, c.Jobs)
}

func codeText(c suspect) string {
	resource := "cpu"
	for _, name := range slices.Sorted(maps.Keys(c.VainHours)) {
		if strings.Contains(string(name), "/") {
			resource = string(name)
			break
		}
	}
	hours, unit := c.VainHours[corev1.ResourceName(resource)], strings.ToUpper(resource[strings.LastIndex(resource, "/")+1:])
	return fmt.Sprintf("exit code %s never succeeds on retry: %d retries in %d Jobs, %.3g %s hours in vain", c.Value, c.VainAttempts, c.Jobs, hours, unit)
}
