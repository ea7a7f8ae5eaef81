package evidence

import (
	"cmp"
	"slices"
	"time"
)

// Fold aggregates Outcomes. Folds with the same Since can be merged: the result depends neither on their order nor on the
// distribution of Outcomes over them.
type Fold struct {
	// Since excludes attempts that ended earlier.
	Since time.Time `json:"since,omitzero"`
	// First is the start or end of the first attempt, and Last the end of the last one.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Jobs counts the Jobs with attempts by State. WithoutRules counts Jobs without any rule that could decide, and Unknown counts
	// Jobs that are not in the input.
	Jobs         map[State]int64 `json:"jobs,omitempty"`
	WithoutRules int64           `json:"withoutRules,omitempty"`
	Unknown      int64           `json:"unknown,omitempty"`

	Total Cell                 `json:"total"`
	By    map[Dimension]*Table `json:"by,omitempty"`
	// Rules has a cell for each rule in effect, with ruleKey as the key. Jobs counts the Jobs with failed attempts, Attempts their
	// failed attempts, and Failed the failed attempts that the rule decided.
	Rules Table `json:"rules,omitzero"`
}

// Dimension is the name of a property by which attempts are grouped.
type Dimension = string

// The dimensions. Successful attempts are counted only in dimensions of the Job or of the place.
const (
	ByClass     Dimension = "class"
	ByRule      Dimension = "rule"
	ByCode      Dimension = "code"
	ByReason    Dimension = "reason"
	ByNode      Dimension = "node"
	ByImage     Dimension = "image"
	ByNamespace Dimension = "namespace"
	ByOwner     Dimension = "owner"
	ByDay       Dimension = "day"
)

// dimension is a Dimension with a function that returns its value for an attempt. Every attempt has a value, which may be empty.
type dimension struct {
	Dimension
	failed bool // whether only failed attempts are counted
	of     func(*Outcome, *Attempt) string
}

// shown lists the dimensions with a section in reports.
var shown = []dimension{
	{ByClass, true, func(_ *Outcome, a *Attempt) string { return a.Verdict.Class }},
	{ByRule, true, func(_ *Outcome, a *Attempt) string { return a.rule() }},
	{ByCode, true, func(_ *Outcome, a *Attempt) string { return a.Code }},
	{ByReason, true, func(_ *Outcome, a *Attempt) string { return a.Reason }},
	{ByNode, false, func(_ *Outcome, a *Attempt) string { return a.Node }},
	{ByImage, false, func(_ *Outcome, a *Attempt) string { return a.Image }},
	{ByNamespace, false, func(o *Outcome, _ *Attempt) string { return o.Namespace }},
	{ByOwner, false, func(o *Outcome, _ *Attempt) string { return o.Owner }},
	{ByDay, false, func(_ *Outcome, a *Attempt) string { return a.day() }},
}

// dimensions lists all dimensions, including those used to find causes.
var dimensions = append(slices.Clone(shown), []dimension{
	{byPlace, false, func(_ *Outcome, a *Attempt) string { return join(a.Node, a.Image, a.symptom(), "") }},
	{bySymptom, true, func(_ *Outcome, a *Attempt) string { return join("", a.Image, a.symptom(), "") }},
	{byRetry, true, func(_ *Outcome, a *Attempt) string { return join("", a.Image, a.symptom(), a.retryEnd()) }},
	{byDisruption, true, func(o *Outcome, a *Attempt) string { return a.disruptionEnd(o) }},
}...)

// Dimensions returns the dimensions with a section in reports.
func Dimensions() []Dimension {
	all := make([]Dimension, len(shown))
	for i, d := range shown {
		all[i] = d.Dimension
	}
	return all
}

// day returns the day, in UTC, on which the attempt ended.
func (a *Attempt) day() string {
	if a.End.IsZero() {
		return ""
	}
	return a.End.UTC().Format(time.DateOnly)
}

// Add counts the Outcome of a Job.
func (f *Fold) Add(o *Outcome) {
	attempts := make([]*Attempt, 0, len(o.Attempts))
	for i := range o.Attempts {
		if a := &o.Attempts[i]; !a.End.Before(f.Since) {
			attempts = append(attempts, a)
		}
	}
	if len(attempts) == 0 {
		return
	}
	f.addJob(o, attempts)
	f.addRules(o, attempts)
	after := followers(o)
	tally{&f.Total, o, after}.add(attempts)
	for _, d := range dimensions {
		table, by := f.table(d.Dimension), map[string][]*Attempt{}
		for _, a := range attempts {
			if a.Failed || !d.failed {
				value := d.of(o, a)
				by[value] = append(by[value], a)
			}
		}
		for value, some := range by {
			tally{table.at(value), o, after}.add(some)
		}
	}
}

// table returns the table of a dimension.
func (f *Fold) table(d Dimension) *Table {
	if f.By == nil {
		f.By = map[Dimension]*Table{}
	}
	if f.By[d] == nil {
		f.By[d] = &Table{}
	}
	return f.By[d]
}

func (f *Fold) addJob(o *Outcome, attempts []*Attempt) {
	addTo(&f.Jobs, o.State, 1)
	switch {
	case !o.Known:
		f.Unknown++
	case !o.Rules:
		f.WithoutRules++
	}
	for _, a := range attempts {
		f.span(cmp.Or(a.Start, a.End), a.End)
	}
}

// span extends the period that the Fold covers.
func (f *Fold) span(from, to time.Time) {
	if !from.IsZero() && (f.First.IsZero() || from.Before(f.First)) {
		f.First = from.UTC()
	}
	if to.After(f.Last) {
		f.Last = to.UTC()
	}
}

// Merge adds the counts of another Fold.
func (f *Fold) Merge(other *Fold) {
	f.span(other.First, other.Last)
	for state, n := range other.Jobs {
		addTo(&f.Jobs, state, n)
	}
	f.WithoutRules += other.WithoutRules
	f.Unknown += other.Unknown
	f.Total.Merge(&other.Total)
	f.Rules.Merge(&other.Rules)
	for dimension, table := range other.By {
		f.table(dimension).Merge(table)
	}
}

// tally counts attempts of one Job in a cell.
type tally struct {
	*Cell
	of    *Outcome
	after map[int]line
}

func (t tally) add(attempts []*Attempt) {
	first := map[int]bool{}
	for _, a := range attempts {
		t.Cell.add(a)
		if !a.Failed {
			continue
		}
		if len(first) == 0 {
			t.Jobs++
			if t.of.State == Complete {
				t.Completed++
			}
		}
		if !first[a.Line] {
			first[a.Line] = true
			n, amounts := t.after[a.Line].from(a.End)
			t.VainAttempts += n
			t.Vain.Add(amounts)
		}
	}
}

// line holds the failed attempts of a line that has not succeeded, sorted by start time.
type line []*Attempt

// followers returns the failed attempts of each line that has not succeeded.
func followers(o *Outcome) map[int]line {
	lines := map[int]line{}
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Failed && !a.Recovered && !a.Start.IsZero() {
			lines[a.Line] = append(lines[a.Line], a)
		}
	}
	for _, l := range lines {
		slices.SortStableFunc(l, func(a, b *Attempt) int { return a.Start.Compare(b.Start) })
	}
	return lines
}

// from returns the number of attempts that began at end or later, and the resources they reserved.
func (l line) from(end time.Time) (n int64, reserved Amounts) {
	if end.IsZero() {
		return 0, nil
	}
	for _, a := range slices.Backward(l) {
		if a.Start.Before(end) {
			break
		}
		if a.End.After(end) {
			n++
			reserved.Add(a.Reserved)
		}
	}
	return n, reserved
}
