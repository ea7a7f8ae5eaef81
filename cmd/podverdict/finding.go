//go:build !js || constraints

package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/runtime/rego"
)

// reporting are the flags of verbs that report findings: check, lint and validate.
type reporting struct {
	only, skip []string
	failOn     string
	output     format
	live       io.Writer // standard output, whose width counts
}

// addReporting gives a verb these flags.
func addReporting(cmd *cobra.Command, o *reporting, failOn string) {
	flags := cmd.Flags()
	flags.StringSliceVar(&o.only, "only", nil, "ids of the rules to report; podverdict rules lists them")
	flags.StringSliceVar(&o.skip, "skip", nil, "ids of rules to leave out")
	flags.StringVar(&o.failOn, "fail-on", failOn, "least severity that makes the exit code 1: "+strings.Join(inspect.FailOn, ", "))
	addFormat(cmd, &o.output, report.Formats()...)
	addListCompletion(cmd, "only", catalogue.IDs)
	addListCompletion(cmd, "skip", catalogue.IDs)
	addCompletion(cmd, "fail-on", func() []string { return inspect.FailOn })
}

// choice returns what the flags choose.
func (o *reporting) choice() (inspect.Choice, error) {
	if !slices.Contains(inspect.FailOn, o.failOn) {
		return inspect.Choice{}, usageError{errChoice("fail-on", o.failOn, inspect.FailOn...)}
	}
	choice, err := inspect.NewChoice(o.only, o.skip)
	if err != nil {
		return choice, usageError{err}
	}
	return choice, nil
}

// findings is what a verb has found.
type findings struct {
	tool     string
	groups   []catalogue.Group // of the rules that were asked
	subjects []report.Subject
	set      *manifest.Set // whose comments and annotations ignore findings
	unread   []report.Subject
	foreign  map[string]rego.Check // rules of a bundle of the user
}

// print writes a report of what the choice leaves. It returns errUnread when there is input that could not be read, and
// errFindings when something is severe enough.
func (o *reporting) print(c *console, f findings, choice inspect.Choice) error {
	r := report.Report{Tool: f.tool, Version: readVersion().Version, Rules: f.rules(), Screen: screenOf(o.live, "never")}
	unread := f.unreadSubjects(choice)
	r.Subjects = append(choice.Apply(f.subjects, f.set), unread...)
	if err := r.Write(c.stdout, o.output.name); err != nil {
		return err
	}
	if len(r.Subjects) == 0 && o.output.name != "table" { // which says so
		c.warn(report.Nothing)
	}
	failing := map[string][]string{"error": {"error"}, "warning": nil}
	severities, fails := failing[o.failOn]
	switch {
	case len(unread) > 0:
		return errUnread
	case fails && r.Count(severities...) > 0:
		return errFindings
	}
	return nil
}

// printUnread writes to standard error what could not be read, for a verb that writes something else than a report. It returns
// errUnread if there is such input.
func (o *reporting) printUnread(c *console, f findings, choice inspect.Choice) error {
	unread := f.unreadSubjects(choice)
	if len(unread) == 0 {
		return nil
	}
	r := report.Report{Tool: f.tool, Subjects: unread, Screen: screenOf(o.live, "never")}
	return errors.Join(r.Write(c.stderr, "table"), errUnread)
}

// unreadSubjects returns the input that could not be read, as far as the choice does not skip that.
func (f findings) unreadSubjects(choice inspect.Choice) []report.Subject {
	return slices.DeleteFunc(choice.Apply(f.unread, &manifest.Set{}), func(s report.Subject) bool { return len(s.Findings) == 0 })
}

// rules returns the rules that were asked. Rules of a user's bundle are described by their METADATA.
func (f findings) rules() []catalogue.Rule {
	var asked []catalogue.Rule
	for _, rule := range catalogue.All() {
		if slices.Contains(f.groups, rule.Group) {
			asked = append(asked, rule)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.foreign)) {
		check := f.foreign[id]
		if rule, ok := catalogue.Find(id); ok && rule.Title == check.Title {
			continue
		}
		asked = append(asked, catalogue.Rule{ID: id, Title: cmp.Or(check.Title, id), Severity: cmp.Or(check.Severity, "error")})
	}
	return asked
}

// readInspected reads files. What cannot be read, and policies of one name, are returned as findings; the error is about the
// command line.
func readInspected(ctx context.Context, c *console, files manifest.Options) (*manifest.Set, []report.Subject, error) {
	if len(files.Filenames) == 0 {
		_, err := readFiles(ctx, c, files)
		return nil, nil, err
	}
	set, err := readFiles(ctx, c, files)
	return set, inspect.Unreadable(errors.Join(err, set.CheckPolicies())), nil
}
