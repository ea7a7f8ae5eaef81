package verdicts

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// matrix writes which scenarios or Pods get which verdict: under each verdict, and under each reason for it, their names.
type matrix struct {
	all    bool // also what does not change, and what has no verdict
	items  []Item
	titled bool
	write  func(job manifest.Reference, groups []group) error
	total  func(tally) error
}

// group is a verdict, and why it is given to which Pods.
type group struct {
	title    string
	then     string // what becomes of the Job and its JobSet or of the next attempt, or ""
	action   string // of which it has the colour
	changed  bool
	reasons  []string
	names    map[string][]string // by reason
	severity int
}

// actionOrder is the order of groups: what costs most comes first.
var actionOrder = []string{"FailJob", "FailIndex", "Count", "Ignore", print.None}

func (m *matrix) add(item Item) { m.items = append(m.items, item) }

func (m *matrix) endJob(job JobItem) error {
	groups := groupItems(m.items)
	m.items = nil
	return m.write(job.Job, groups)
}

func (m *matrix) end(total tally) error { return m.total(total) }

// groupItems groups Pods by their verdicts and the rules that decide. Changes come first, then what costs most, and then what
// nobody carries out.
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

// add adds a Pod to the group of a title.
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

// maxReason is how many characters of a reason a matrix has: that of a custom rule may quote a whole message.
const maxReason = 100

func brief(reason string) string {
	if runes := []rune(reason); len(runes) > maxReason {
		return string(runes[:maxReason-1]) + "…"
	}
	return reason
}

func headingOf(job manifest.Reference) string {
	if job.Name == standInName {
		return "Any Job"
	}
	return "Job " + job.String()
}

func newTextMatrix(out io.Writer, screen print.Screen, all bool) *matrix {
	page := print.NewTable(out, screen, false)
	m := &matrix{all: all}
	m.write = func(job manifest.Reference, groups []group) error {
		if m.titled {
			page.Space()
		}
		m.titled = true
		page.Heading(headingOf(job), "")
		for _, g := range groups {
			page.Paragraph(0, print.Cell{Text: g.title, Color: verdictColors[g.action]})
			if g.then != "" {
				page.Paragraph(2, print.Cell{Text: g.then})
			}
			for _, reason := range g.reasons {
				page.Paragraph(2, print.Cell{Text: reason + ":"}, m.shortened(g.names[reason])...)
			}
		}
		return page.Flush()
	}
	m.total = func(total tally) error {
		if m.titled {
			page.Space()
		}
		page.Paragraph(0, print.Cell{Text: total.String()})
		return page.Flush()
	}
	return m
}

// newMarkdownMatrix returns a matrix for the comment of a pull request.
func newMarkdownMatrix(out io.Writer, all bool) *matrix {
	m := &matrix{all: all}
	m.write = func(job manifest.Reference, groups []group) error {
		fmt.Fprintf(out, "### %s\n\n", print.Markdown(headingOf(job)))
		var rows [][]print.Cell
		for _, g := range groups {
			for _, reason := range g.reasons {
				because := strings.TrimSuffix(reason+"; "+g.then, "; ")
				rows = append(rows, []print.Cell{{Text: g.title}, {Text: because}, {Text: strings.Join(m.shortened(g.names[reason]), ", ")}})
			}
		}
		print.MarkdownTable(out, []print.Column{{Name: "VERDICT"}, {Name: "BECAUSE"}, {Name: "PODS"}}, "---", rows)
		_, err := fmt.Fprintln(out)
		return err
	}
	m.total = func(total tally) error {
		_, err := fmt.Fprintln(out, print.Markdown(total.String()))
		return err
	}
	return m
}

// maxNames is how many Pods of a group are named.
const maxNames = 60

// shortened leaves out names when there are many.
func (m *matrix) shortened(names []string) []string {
	if m.all || len(names) <= maxNames {
		return names
	}
	return append(slices.Clone(names[:maxNames]), fmt.Sprintf("and %d more", len(names)-maxNames))
}
