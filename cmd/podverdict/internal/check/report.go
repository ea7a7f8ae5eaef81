package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// found are the findings on the input, by subject.
type found struct {
	subjects []findings.Subject
	unread   []findings.Subject // input that could not be read
}

// inspect reads the files and returns their findings.
func (g *gate) inspect(ctx context.Context) (found, error) {
	set, unread := g.read(ctx, g.files)
	if g.files.Strict && len(set.Jobs)+len(set.Policies)+len(set.Bindings)+len(unread) == 0 {
		unread = unreadable(cli.ErrNoPolicies)
	}
	unread = append(unread, g.inspector.replaced.unread...)
	if err := g.checkReplaced(set, unread); err != nil {
		return found{}, err
	}
	shown := cli.NewProgress(g.console.Stderr, "Jobs checked", len(set.Jobs))
	defer shown.End()
	inspector := g.inspector
	inspector.step = shown.Step
	subjects, err := inspector.inspect(ctx, set)
	if err != nil {
		return found{}, err
	}
	unread = slices.DeleteFunc(g.inspector.choice.apply(unread, &manifest.Set{}), func(s findings.Subject) bool { return len(s.Findings) == 0 })
	return found{g.inspector.choice.apply(subjects, set), unread}, nil
}

// read reads files. Read errors and duplicate policy names in one folder become findings.
func (g *gate) read(ctx context.Context, files manifest.Options) (*manifest.Set, []findings.Subject) {
	files.NoPods = true
	set, err := cli.ReadFiles(ctx, g.console, files)
	errs := []error{err}
	for _, part := range set.Separate() {
		errs = append(errs, part.CheckPolicies())
	}
	return set, unreadable(errors.Join(errs...))
}

// print writes the report. It returns ErrUnread if some input could not be read, and ErrFindings if a finding is severe enough.
func (g *gate) print(found found) error {
	r := findings.Report{Version: cli.ReadBuild().Version, Rules: catalogue.All(), Screen: g.console.Screen("never")}
	r.Subjects = slices.Concat(found.subjects, found.unread)
	if err := r.Write(g.console.Stdout, g.output.Name); err != nil {
		return err
	}
	if len(r.Subjects) == 0 && g.output.Name != "table" { // the table contains this message
		g.console.Warn(findings.Nothing)
	}
	failing := map[string][]string{"error": {"error"}, "warning": nil}
	severities, fails := failing[g.failOn]
	switch {
	case len(found.unread) > 0:
		return cli.ErrUnread
	case fails && r.Count(severities...) > 0:
		return cli.ErrFindings
	}
	return nil
}

// printUnread writes findings about unreadable input to standard error. It returns ErrUnread if there are any.
func (g *gate) printUnread(found found) error {
	if len(found.unread) == 0 {
		return nil
	}
	r := findings.Report{Subjects: found.unread, Screen: g.console.Screen("never")}
	return errors.Join(r.Write(g.console.Stderr, "table"), cli.ErrUnread)
}

// replaced holds the objects of --old, which objects of the input replace.
type replaced struct {
	objects map[cli.Identity]*manifest.Job
	unread  []findings.Subject // input that could not be read
}

// by returns the object that a Job or CronJob replaces, or nil.
func (r replaced) by(job manifest.Job) *manifest.Job { return r.objects[cli.IdentityOf(job)] }

// readOld reads the objects of --old. Directories are read recursively.
func (g *gate) readOld(ctx context.Context) (replaced, error) {
	r := replaced{objects: map[cli.Identity]*manifest.Job{}}
	if len(g.old) == 0 {
		return r, nil
	}
	files := g.files
	files.Filenames, files.Recursive = g.old, true
	var set *manifest.Set
	set, r.unread = g.read(ctx, files)
	var errs []error
	for i := range set.Jobs {
		job := &set.Jobs[i]
		id := cli.IdentityOf(*job)
		if first := r.objects[id]; first != nil {
			message := fmt.Sprintf("%s is given twice with --old, first at %s", id, first.Whole().Position("metadata.name"))
			errs = append(errs, job.Whole().Error("metadata.name", message))
			continue
		}
		r.objects[id] = job
	}
	return r, errors.Join(errs...)
}

// checkReplaced returns an error if the input replaces none of the old objects, because these may be the wrong files.
func (g *gate) checkReplaced(set *manifest.Set, unread []findings.Subject) error {
	if len(g.old) == 0 || len(unread) > 0 || slices.ContainsFunc(set.Jobs, func(job manifest.Job) bool { return g.inspector.replaced.by(job) != nil }) {
		return nil
	}
	return fmt.Errorf("--old %s: none of the objects to check is in there, by kind, namespace and name", strings.Join(g.old, ","))
}
