package catalogue_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/policies"
)

const pageHead = `# Rules

Every rule that ` + "`podverdict check`" + ` asks. ` + "`podverdict rules ID`" + ` shows a rule in the terminal; older ids, as
F12 and G-TTL, are understood, too. The examples are run by tests. Examples of Jobs show only what matters: for
constraints and failure rules, the rest is a Job with one container called main; for guardrails, it is a Job that keeps
all of them. Written by ` + "`make generate`" + `.
`

// groups holds the introductions to the parts of the page.
var groups = []struct {
	group catalogue.Group
	text  string
}{
	{catalogue.Constraints, "What the API server refuses about a Job or CronJob, in its words, and what it warns of. `--only constraints` asks them alone."},
	{catalogue.Guardrails, "What a platform team may want beyond the API. They are off unless `.podverdict.yaml` turns them on, all by " +
		"`guardrails: recommended` or one by its id (see [check.md](check.md#guardrails)), or `--only` names them. " +
		"In the Rego bundle they are set, by the older id, in `data.podverdict.config.guardrails`."},
	{catalogue.Rules, "Rules of a podFailurePolicy or a custom policy that cannot match, or do something else than they seem to. `--only rules` asks them alone, " +
		"with those constraints and guardrails that are certain from the rules: " +
		"[fail-index-without-limit](#fail-index-without-limit), [disruption-after-exit-codes](#disruption-after-exit-codes), " +
		"[disruption-is-fatal](#disruption-is-fatal), [sidecar-exit-code](#sidecar-exit-code) and [unbounded-ignore](#unbounded-ignore)."},
	{catalogue.Input, "Documents that cannot be read, and comments that ignore findings without effect."},
}

// TestPageIsCurrent generates docs/rules.md.
func TestPageIsCurrent(t *testing.T) {
	var page strings.Builder
	page.WriteString(pageHead)
	rules := build(t)
	for _, g := range groups {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| rule | severity | kept where |\n|---|---|---|\n", title(string(g.group)), g.text)
		for _, r := range rules {
			if r.Group == g.group {
				fmt.Fprintf(&page, "| [%s](#%s) | %s | %s |\n", r.ID, r.ID, r.Severity, r.Title)
			}
		}
		for _, r := range rules {
			if r.Group == g.group {
				writePage(&page, r)
			}
		}
	}
	writeStatusRules(t, &page)
	golden(t, "../../docs/rules.md", page.String())
}

func title(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func writePage(page *strings.Builder, r catalogue.Rule) {
	fmt.Fprintf(page, "\n### %s\n\n**%s** · %s", r.ID, r.Title, r.Severity)
	if r.Field != "" {
		fmt.Fprintf(page, " · `%s`", r.Field)
	}
	fmt.Fprintf(page, " · %s", r.Source)
	if len(r.Aliases) > 0 {
		fmt.Fprintf(page, " · also called %s", strings.Join(r.Aliases, ", "))
	}
	fmt.Fprintf(page, "\n\n%s\n\nFix: %s\n", r.Why, strings.ToLower(r.Fix[:1])+r.Fix[1:])
	for _, example := range []struct{ name, text string }{{"before", r.Old}, {"bad", r.Bad}, {"good", r.Good}} {
		if example.text != "" {
			fmt.Fprintf(page, "\n```yaml\n# %s\n%s\n```\n", example.name, strings.TrimRight(example.text, "\n"))
		}
	}
	if len(r.Parameters) > 0 {
		page.WriteString("\n| parameter | default | is |\n|---|---|---|\n")
		for _, p := range r.Parameters {
			fmt.Fprintf(page, "| `%s` | `%s` | %s |\n", p.Name, p.Default, p.About)
		}
	}
}

// writeStatusRules lists the rules on the status of Jobs, which no command checks.
func writeStatusRules(t *testing.T, page *strings.Builder) {
	t.Helper()
	all, err := policies.Rules()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(r policies.Rule) bool { return r.Folder != "jobstatus" })
	slices.SortStableFunc(all, func(a, b policies.Rule) int { return compareIDs(a.ID, b.ID) })
	page.WriteString("\n## Status\n\nWhat a write to a Job's status must keep, for authors of Job controllers: the Rego package `podverdict.jobstatus`. " +
		"ST are the rules that the API server enforces, SN those that it leaves to the writer.\n\n| id | kept where | field | source |\n|---|---|---|---|\n")
	for _, r := range all {
		text := r.Title
		if r.Description != "" {
			text += ". " + strings.Join(strings.Fields(r.Description), " ")
		}
		fmt.Fprintf(page, "| %s | %s | `%s` | %s |\n", r.ID, text, r.Field, r.KEP)
	}
}

var numbered = regexp.MustCompile(`^([A-Z]+)([0-9]+)$`)

// compareIDs compares ids such that ST2 precedes ST10.
func compareIDs(a, b string) int {
	x, y := numbered.FindStringSubmatch(a), numbered.FindStringSubmatch(b)
	if x == nil || y == nil || x[1] != y[1] {
		return -cmp.Compare(a, b)
	}
	m, _ := strconv.Atoi(x[2])
	n, _ := strconv.Atoi(y[2])
	return cmp.Compare(m, n)
}
