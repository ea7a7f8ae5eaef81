package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/evidence"
)

// figures writes the totals.
func (p *page) figures(r *evidence.Report) {
	total, jobs := &r.Total, int64(0)
	for _, n := range r.Jobs {
		jobs += n
	}
	p.add("<dl class=\"figures\">\n")
	p.figure("failed attempts", count(total.Failed), "of "+count(total.Attempts))
	p.figure("Jobs with failures", count(total.Jobs), "of "+count(jobs)+"; "+count(total.Completed)+" of them completed")
	p.figure("retried", count(total.Retried), count(total.Recovered)+" recovered")
	p.figure("in vain", count(total.VainAttempts), "attempts after a failure, none of which succeeded")
	for _, name := range resources(total.Hours) {
		p.figure(unit(name), hours(total.Hours[name]), "in failed attempts, "+hours(total.VainHours[name])+" in vain")
	}
	p.add("</dl>\n")
}

func (p *page) figure(name, value, more string) {
	p.add("<div><dt>%s</dt><dd>%s</dd><dd class=\"note\">%s</dd></div>\n", name, value, more)
}

func (p *page) causes(causes []evidence.Cause) {
	p.add("<h2>Causes</h2>\n")
	if len(causes) == 0 {
		p.add("<p>No node, image or exit code fails more often than chance explains.</p>\n")
		return
	}
	p.add("<ol class=\"causes\">\n")
	for i := range causes {
		c := &causes[i]
		facts := []string{count(c.Failed) + " failed attempts", count(c.Jobs) + " Jobs"}
		for _, name := range resources(c.Hours) {
			facts = append(facts, hours(c.Hours[name])+" "+unit(name))
		}
		p.add("<li>%s<br><small>%s</small></li>\n", c.Text, strings.Join(facts, " \u00b7 "))
	}
	p.add("</ol>\n")
}

// list writes lines below a heading, if there are any.
func (p *page) list(heading string, lines []string) {
	if len(lines) > 0 {
		p.add("<h2>%s</h2>\n<ul>\n", heading)
		for _, line := range lines {
			p.add("<li>%s</li>\n", strings.TrimSpace(line))
		}
		p.add("</ul>\n")
	}
}

// idle lists rules that were in force but never matched.
func (p *page) idle(r *evidence.Report) {
	lines := make([]string, len(r.Idle))
	for i, rule := range r.Idle {
		lines[i] = strings.TrimSpace(rule.Owner+" "+rule.Rule) + ": " + count(rule.Failed) + " failed attempts"
	}
	p.list("Rules that never matched", lines)
}

type column struct {
	title string
	text  func(*evidence.Row) string
}

// counts are the columns of numbers without a unit.
var counts = []column{
	{"failed", func(r *evidence.Row) string { return count(r.Failed) }},
	{"attempts", func(r *evidence.Row) string { return count(r.Attempts) }},
	{"ignored", func(r *evidence.Row) string { return count(r.Ignored) }},
	{"stopped", func(r *evidence.Row) string { return count(r.Stopped) }},
	{"retried", func(r *evidence.Row) string { return count(r.Retried) }},
	{"recovered", func(r *evidence.Row) string { return count(r.Recovered) }},
	{"in vain", func(r *evidence.Row) string { return count(r.VainAttempts) }},
	{"Jobs", func(r *evidence.Row) string { return count(r.Jobs) }},
	{"completed", func(r *evidence.Row) string { return count(r.Completed) }},
}

// columnsOf returns the columns with at least one value other than 0.
func columnsOf(rows []*evidence.Row) []column {
	all := slices.Clone(counts)
	units := map[corev1.ResourceName]float64{}
	for _, r := range rows {
		maps.Copy(units, r.Hours)
	}
	for _, name := range resources(units) {
		all = append(all, column{unit(name), func(r *evidence.Row) string { return hours(r.Hours[name]) }},
			column{unit(name) + " in vain", func(r *evidence.Row) string { return hours(r.VainHours[name]) }})
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(rows, func(r *evidence.Row) bool { return c.text(r) != "0" })
	})
}

// section writes a table, with most failed attempts first. It writes nothing if no attempt has a value.
func (p *page) section(s *evidence.Section) {
	var rows []*evidence.Row
	for i := range s.Rows {
		rows = append(rows, &s.Rows[i])
	}
	if s.Rest != nil {
		rows = append(rows, s.Rest)
	}
	if len(rows) == 0 || len(rows) == 1 && rows[0].Value == "" {
		return
	}
	columns := columnsOf(rows)
	p.add("<h2>By %s</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"by %s\">\n<table data-by=\"%s\">\n", s.By, s.By, s.By)
	p.add("<thead>\n<tr><th scope=\"col\">%s</th>", s.By)
	for i, c := range columns {
		p.add([]string{"<th scope=\"col\" aria-sort=\"descending\">%s</th>", "<th scope=\"col\">%s</th>"}[min(i, 1)], c.title)
	}
	p.add("</tr>\n</thead>\n<tbody>\n")
	for _, r := range rows {
		name := cmp.Or(r.Value, "(none)")
		if r == s.Rest {
			p.add("</tbody>\n<tfoot>\n")
			name = count(int64(s.More)) + " more"
		}
		p.add("<tr><th scope=\"row\">%s</th>", name)
		for _, c := range columns {
			p.add("<td>%s</td>", c.text(r))
		}
		p.add("</tr>\n")
	}
	p.add("</table>\n</div>\n")
}

// notes explains the terms, and which Jobs the numbers do not cover.
func (p *page) notes(r *evidence.Report) {
	p.add("<h2>What the numbers mean</h2>\n<p class=\"note\">%s No rule could decide in %s Jobs; %s Jobs are not in the input.</p>\n", words,
		count(r.WithoutRules), count(r.Unknown))
}

const words = "An attempt is a Pod that has ended. Ignored: a rule said that the failure does not count. Stopped: its Job had ended. Retried: " +
	"another attempt began after the failure, at the same index if there are indexes; recovered: that or a later one succeeded. In vain: attempts that " +
	"began after such a failure, where none succeeded in the end; a rule that fails the Job or the index at once would have saved them. Jobs are those " +
	"with failed attempts, and completed those of them that completed all the same. Hours are the requests of failed attempts times the time from start " +
	"to end: 2 GPUs for half an hour are one GPU hour."

// resources returns the names of resources: CPU, memory, then the others.
func resources[V any](of map[corev1.ResourceName]V) []corev1.ResourceName {
	rank := func(name corev1.ResourceName) int {
		return slices.Index([]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU}, name)
	}
	return slices.SortedFunc(maps.Keys(of), func(a, b corev1.ResourceName) int { return cmp.Or(rank(b)-rank(a), cmp.Compare(a, b)) })
}

// unit returns the unit of a resource's hours.
func unit(name corev1.ResourceName) string {
	switch {
	case name == corev1.ResourceCPU:
		return "CPU hours"
	case evidence.IsBytes(name):
		return string(name) + " GiB hours"
	}
	return string(name) + " hours"
}

// hours formats hours with about three digits.
func hours(n float64) string {
	digits := 3 - int(math.Ceil(math.Log10(max(n, 0.01))))
	if n == 0 || digits <= 0 {
		return count(int64(math.Round(n)))
	}
	return strconv.FormatFloat(n, 'f', min(digits, 3), 64)
}

// count formats a number with commas between thousands.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
