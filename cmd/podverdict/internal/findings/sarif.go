//go:build !js

package findings

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

const informationURI = "https://github.com/podverdict/podverdict"

// writeSARIF writes SARIF 2.1.0, the version that code hosts accept.
func (r Report) writeSARIF(w io.Writer) error {
	run := sarif.NewRunWithInformationURI("podverdict", informationURI).WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(r.Version)
	for _, rule := range r.Rules {
		run.AddRule(rule.ID).WithShortDescription(sarifText(rule.Title)).WithFullDescription(sarifText(rule.Why)).
			WithHelp(sarifText(rule.Fix)).WithHelpURI(rule.Address()).WithDeprecatedIds(rule.Aliases).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(rule.Severity))
	}
	for _, s := range r.Subjects {
		for _, f := range s.Findings {
			sarifResult(run, s, f)
		}
		for _, f := range s.Ignored {
			sarifResult(run, s, f).WithSuppressions([]*sarif.Suppression{
				sarif.NewSuppression().WithKind("inSource").WithJustification(f.Reason),
			})
		}
	}
	// Its Write method can also validate, which links templates. With templates, the linker keeps every exported method.
	type unvalidated sarif.Report
	text, err := json.MarshalIndent((*unvalidated)(sarif.NewReport().AddRun(run)), "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func sarifText(text string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(text)
}

func sarifResult(run *sarif.Run, s Subject, f Finding) *sarif.Result {
	run.AddRule(f.Check)
	return run.CreateResultForRule(f.Check).WithLevel(f.Severity).WithMessage(sarif.NewTextMessage(sentence(f))).
		AddLocation(sarifLocation(s, f))
}

// sarifLocation returns a position in a file, and a field of a Job.
func sarifLocation(s Subject, f Finding) *sarif.Location {
	logical := sarif.NewLogicalLocation().WithFullyQualifiedName(strings.TrimSpace(s.title() + " " + f.Field)).WithKind("member")
	location := sarif.NewLocation().AddLogicalLocation(logical)
	if !f.inFile() {
		if s.File == "" {
			return location
		}
		return location.WithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(fileURI(s.File))))
	}
	region := sarif.NewRegion().WithStartLine(f.At.Line).WithStartColumn(f.At.Column)
	return location.WithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation(fileURI(f.At.File))).WithRegion(region))
}

// fileURI returns a relative reference for a relative path, as code hosts require.
func fileURI(name string) string {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return name
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(name))}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
