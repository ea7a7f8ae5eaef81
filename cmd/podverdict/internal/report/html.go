package report

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/evidence"
)

// writePage writes the report as an HTML page. Without --by the page has more sections. It contains all days, regardless of --top.
func (o *options) writePage(c *cli.Console, fold *evidence.Fold, r *evidence.Report, args []string) error {
	if !c.Given("by") {
		r.Sections = append(r.Sections, fold.Report(o.top, evidence.ByImage, evidence.ByNamespace, evidence.ByDay, evidence.ByClass).Sections...)
	}
	for i := range r.Sections {
		if r.Sections[i].By == evidence.ByDay {
			r.Sections[i] = fold.Report(0, evidence.ByDay).Sections[0]
		}
	}
	command := slices.Concat([]string{"podverdict report"}, args)
	o.flags.Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"filename", "all-namespaces", "namespace", "selector", "by", "since", "top", "policy"}, f.Name) {
			command = append(command, "--"+f.Name+"="+strings.Trim(f.Value.String(), "[]"))
		}
	})
	return writeHTML(c.Stdout, r, effectLines(r.Effect), strings.Join(command, " "), cli.ReadBuild().Version)
}
