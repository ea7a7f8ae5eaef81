package verdicts

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// group is a verdict with its reasons and the Pods that get it.
type group struct {
	title    string
	then     string // effect on the Job and its JobSet, or changes to the next attempt, or ""
	action   string // action that selects the colour
	changed  bool
	reasons  []string
	names    map[string][]string // Pod names by reason
	severity int
}

// actionOrder is the order of groups, most expensive first.
var actionOrder = []string{"FailJob", "FailIndex", "Count", "Ignore", print.None}

// groupItems groups Pods by verdict and deciding rule. Changes come first, then groups by descending cost, then verdicts that are not
// carried out.
func groupItems(items []Item) []group {
	var groups groups
	for _, item := range items {
		title, reason := item.change(), brief(item.Decisive())
		switch {
		case item.Changed:
			reason = arrow(brief(item.Before.item.byRule()), brief(item.byRule()))
		case item.Restarting() != "":
			reason = item.Restarts[0].because()
		case item.rule() != print.None:
			title += " by rule " + item.rule()
		}
		groups.add(group{
			title: title, then: cmp.Or(item.then(), item.nextAttempt()), action: item.action(), changed: item.Changed, severity: slices.Index(actionOrder, item.action()),
		}, reason, item.Pod.Name)
		for n := 0; !item.Changed && n < len(item.Would); n++ {
			would := item.Would[n]
			groups.add(group{title: "would: " + would.Brief(), severity: len(actionOrder)},
				"nobody carries it out: "+would.NotCarriedOut, item.Pod.Name)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(changedFirst(a.changed, b.changed), cmp.Compare(a.severity, b.severity))
	})
	return groups
}

type groups []group

// add adds a Pod to the group with the same title, effect and change, or to a new group.
func (all *groups) add(of group, reason, name string) {
	at := slices.IndexFunc(*all, func(g group) bool {
		return g.title == of.title && g.then == of.then && g.changed == of.changed
	})
	if at < 0 {
		at = len(*all)
		of.names = map[string][]string{}
		*all = append(*all, of)
	}
	g := &(*all)[at]
	if g.names[reason] == nil {
		g.reasons = append(g.reasons, reason)
	}
	g.names[reason] = append(g.names[reason], name)
}

// maxReason is the maximum length of a reason in characters. The reason of a custom rule may quote a whole message.
const maxReason = 100

func brief(reason string) string {
	if runes := []rune(reason); len(runes) > maxReason {
		return string(runes[:maxReason-1]) + "…"
	}
	return reason
}

// matrix writes the names of scenarios, grouped by verdict and then by reason.
type matrix struct {
	page   *print.Table
	all    bool // print all names, even when there are many
	items  []Item
	titled bool
}

func (m *matrix) add(item Item) { m.items = append(m.items, item) }

func (m *matrix) endJob(job JobItem) error {
	m.space()
	m.page.Heading(job.heading(), "")
	for _, g := range groupItems(m.items) {
		m.page.Paragraph(0, print.Cell{Text: g.title, Color: verdictColors[g.action]})
		if g.then != "" {
			m.page.Paragraph(2, print.Cell{Text: g.then})
		}
		for _, reason := range g.reasons {
			m.page.Paragraph(2, print.Cell{Text: reason + ":"}, shortened(g.names[reason], m.all)...)
		}
	}
	m.items = nil
	return m.page.Flush()
}

func (m *matrix) end(total tally) error {
	m.space()
	m.page.Paragraph(0, print.Cell{Text: total.String()})
	return m.page.Flush()
}

// space writes an empty line between two Jobs, and before the totals.
func (m *matrix) space() {
	if m.titled {
		m.page.Space()
	}
	m.titled = true
}

// newMarkdownMatrix returns a matrix for pull request comments.
func newMarkdownMatrix(out io.Writer, all bool) *markdown {
	m := &markdown{out: out, columns: []print.Column{{Name: "VERDICT"}, {Name: "BECAUSE"}, {Name: "PODS"}}}
	m.rows = func(items []Item) (rows [][]print.Cell) {
		for _, g := range groupItems(items) {
			for _, reason := range g.reasons {
				because := strings.TrimSuffix(reason+"; "+g.then, "; ")
				rows = append(rows, []print.Cell{{Text: g.title}, {Text: because}, {Text: strings.Join(shortened(g.names[reason], all), ", ")}})
			}
		}
		return rows
	}
	return m
}

// maxNames is the maximum number of Pod names listed per reason.
const maxNames = 60

// shortened cuts a list of more than maxNames names, unless all is set.
func shortened(names []string, all bool) []string {
	if all || len(names) <= maxNames {
		return names
	}
	return append(slices.Clone(names[:maxNames]), fmt.Sprintf("and %d more", len(names)-maxNames))
}
