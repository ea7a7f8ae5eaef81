package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Report presents a Fold; a contract with other programs.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	// Since is the value of the flag. First is the start of the first attempt, and Last the end of the last one.
	Since time.Time `json:"since,omitzero"`
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Jobs counts the Jobs with attempts by State. WithoutRules counts Jobs without any rule that could decide, and Unknown counts
	// Jobs that are not in the input.
	Jobs         map[State]int64 `json:"jobs"`
	WithoutRules int64           `json:"withoutRules"`
	Unknown      int64           `json:"unknown"`

	Total    Row       `json:"total"`
	Causes   []Cause   `json:"causes"`
	Sections []Section `json:"sections"`
	// Idle holds rules that were in effect but decided no failed attempt. MoreIdle is the number of further ones.
	Idle     []IdleRule `json:"idle"`
	MoreIdle int        `json:"moreIdle,omitempty"`
	// Effect is the difference that another policy would have made, if one was given.
	Effect *Effect `json:"effect,omitempty"`
}

// Section holds the rows of one dimension.
type Section struct {
	By   Dimension `json:"by"`
	Rows []Row     `json:"rows"`
	// More is the number of further rows, and Rest their sum.
	More int  `json:"more,omitempty"`
	Rest *Row `json:"rest,omitempty"`
}

// Row is a Cell with the value that its attempts share.
type Row struct {
	Value string `json:"value"`
	Cell
	// Hours is Reserved, and VainHours is Vain, in units times hours, rounded to a thousandth; the unit of memory is a GiB.
	Hours     map[corev1.ResourceName]float64 `json:"hours,omitempty"`
	VainHours map[corev1.ResourceName]float64 `json:"vainHours,omitempty"`
}

// Cause is a property that many failures share, and that is unlikely to be a coincidence.
type Cause struct {
	// Kind is node, image, code or disruption.
	Kind string `json:"kind"`
	Row
	// Code and Reason are the exit code and reason of the failures, if they are part of the cause.
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Chance is the approximate probability that at least one cause of this kind would appear this often by chance. It is 0 for a
	// disruption, because the reason for the failures is known.
	Chance float64 `json:"chance"`
	// Text describes the cause in one line.
	Text string `json:"text"`
}

// Report returns the report with sections for the given dimensions, each with at most top rows; 0 means all. Rows are sorted by failed
// attempts, most first.
func (f *Fold) Report(top int, by ...Dimension) *Report {
	r := &Report{
		APIVersion: "podverdict.io/v1alpha1", Kind: "Report", Since: f.Since, First: f.First, Last: f.Last,
		Jobs: map[State]int64{}, WithoutRules: f.WithoutRules, Unknown: f.Unknown, Total: rowOf("", &f.Total), Causes: f.causes(),
		Sections: []Section{},
	}
	maps.Copy(r.Jobs, f.Jobs)
	r.Idle, r.MoreIdle = f.idleRules(top)
	for _, dimension := range by {
		s := Section{By: dimension, Rows: []Row{}}
		if table := f.By[dimension]; table != nil {
			s = table.section(dimension, top)
		}
		r.Sections = append(r.Sections, s)
	}
	return r
}

// section returns the rows with failed attempts.
func (t *Table) section(by Dimension, top int) Section {
	t.Shrink()
	s := Section{By: by, Rows: []Row{}}
	rest := Cell{}
	if t.Others != nil {
		rest.Merge(t.Others)
		s.More++
	}
	values := slices.SortedFunc(maps.Keys(t.Cells), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Cells[b].Failed, t.Cells[a].Failed), cmp.Compare(a, b))
	})
	for _, value := range values {
		switch cell := t.Cells[value]; {
		case cell.Failed == 0:
		case top > 0 && len(s.Rows) == top:
			rest.Merge(cell)
			s.More++
		default:
			s.Rows = append(s.Rows, rowOf(value, cell))
		}
	}
	if s.More > 0 {
		s.Rest = new(rowOf("", &rest))
	}
	return s
}

func rowOf(value string, cell *Cell) Row {
	return Row{Value: value, Cell: *cell, Hours: HoursOf(cell.Reserved), VainHours: HoursOf(cell.Vain)}
}

// HoursOf returns amounts in units times hours, rounded to a thousandth; the unit of memory is a GiB.
func HoursOf(amounts Amounts) map[corev1.ResourceName]float64 {
	if len(amounts) == 0 {
		return nil
	}
	hours := make(map[corev1.ResourceName]float64, len(amounts))
	for name, amount := range amounts {
		n := amount.Hours()
		if IsBytes(name) {
			n /= 1 << 30
		}
		hours[name] = math.Round(n*1000) / 1000
	}
	return hours
}

// IsBytes reports whether a resource is measured in bytes.
func IsBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || name == corev1.ResourceStorage ||
		len(name) > len(corev1.ResourceHugePagesPrefix) && name[:len(corev1.ResourceHugePagesPrefix)] == corev1.ResourceHugePagesPrefix
}
