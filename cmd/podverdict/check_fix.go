//go:build !js || constraints

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/inspect"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/repair"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// repaired is a file with the repairs that can be made in it.
type repaired struct {
	file   string
	before string
	repair.Result
}

// repair makes all repairs in the files that have findings for them. No file is changed.
func (g *gate) repair(ctx context.Context, found found) ([]repaired, error) {
	if g.suggest && !g.choice.Asks(catalogue.Guardrails) {
		g.console.Note("suggestions are for findings of guardrails, which are off: add --only guardrails, or turn some on in " + manifest.SettingsFile)
	}
	options := repair.Options{Parameter: g.settings.Parameter, Suggest: g.suggest, Written: !g.diff}
	options.Inspect = func(ctx context.Context, text string) (*manifest.Set, []findings.Subject, error) {
		files := g.files
		files.Filenames, files.Stdin = []string{"-"}, strings.NewReader(text)
		set, _ := manifest.Read(ctx, files) // what cannot be read is not repaired
		subjects, err := inspect.Inspect(ctx, set, g.asked)
		return set, g.choice.Apply(subjects, set), err
	}
	var all []repaired
	for _, file := range g.repairable(found.subjects) {
		text, err := os.ReadFile(file)
		if err != nil || !utf8.Valid(text) {
			g.console.Note(file + ": not repaired: it is no file of plain text")
			continue
		}
		r := repaired{file: file, before: string(text)}
		if r.Result, err = repair.Text(ctx, r.before, options); err != nil {
			return nil, cli.ErrorIn(file, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// repairable returns the files that have findings for which there are repairs, in the order of the input.
func (g *gate) repairable(subjects []findings.Subject) []string {
	var files []string
	seen := map[string]bool{}
	for _, s := range subjects {
		for _, f := range s.Findings {
			if repair.Can(f.Check, g.suggest) && !seen[s.File] {
				seen[s.File] = true
				files = append(files, s.File)
			}
		}
	}
	return files
}

// printRepairs writes a diff. It returns errFindings if there is one.
func (g *gate) printRepairs(all []repaired) error {
	files := 0
	for _, r := range all {
		diff := repair.Diff(r.file, r.before, r.Text)
		fmt.Fprint(g.console.Stdout, diff)
		if diff != "" {
			files++
		}
	}
	g.noteRepairs(all, "can be made")
	if files > 0 {
		return cli.ErrFindings
	}
	return nil
}

// writeRepairs changes the files. The error joins those of the files that cannot be changed.
func (g *gate) writeRepairs(all []repaired) error {
	var made []repaired
	var errs []error
	for _, r := range all {
		if r.Done > 0 {
			if err := cli.WriteFile(r.file, []byte(r.Text)); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		made = append(made, r)
	}
	g.noteRepairs(made, "made")
	return errors.Join(errs...)
}

// noteRepairs says how many repairs there are, and why findings are left that repairs are for.
func (g *gate) noteRepairs(all []repaired, what string) {
	n, files := 0, 0
	for _, r := range all {
		for _, l := range r.Left {
			g.console.Note(fmt.Sprintf("%s:%d:%d: %s is not repaired: %v", r.file, l.Finding.At.Line, l.Finding.At.Column, l.Finding.Check, l.Reason))
		}
		if n += r.Done; r.Done > 0 {
			files++
		}
	}
	g.console.Note(fmt.Sprintf("%s %s in %s", print.Plural(n, "repair"), what, print.Plural(files, "file")))
}
