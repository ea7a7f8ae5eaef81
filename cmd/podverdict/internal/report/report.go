package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// Report is what a verb found.
type Report struct {
	// Tool is the verb: lint.
	Tool string
	// Version is that of podverdict.
	Version string
	// Checks describes the checks that findings name, by their ids.
	Checks map[string]string
	// Subjects are the Jobs, and the custom policies with what binds them, that were looked at, each in the order of the
	// input.
	Subjects []Subject
}

// Subject is one object that was looked at.
type Subject struct {
	// Kind is "" for a Job, else that of the custom resource.
	Kind string
	// Namespace and Name are the object's; custom resources have no namespace.
	Namespace, Name string
	// File is where the object was read; "" when that was a cluster.
	File     string
	Findings []Finding
}

// Finding is one thing to say about a Subject.
type Finding struct {
	// Check is the id of what was checked, as in unreachable-rule.
	Check string `json:"check"`
	// Severity is error or warning.
	Severity string `json:"severity"`
	// Rule is the index of the rule, or nil when the finding is about none.
	Rule *int `json:"rule,omitempty"`
	// RuleName is the name of a custom policy's rule.
	RuleName string `json:"ruleName,omitempty"`
	// Field is the path in the document.
	Field string `json:"field"`
	// Type is the API server's name for what is wrong, as in FieldValueInvalid, if it has one.
	Type string `json:"type,omitempty"`
	// Message says what is wrong, Hint what to do about it.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// At is the place; without a line when the Job was read from a cluster.
	At manifest.Position `json:"-"`
	// Excerpt is the line in question, with a caret, if there is one.
	Excerpt string `json:"-"`
}

// Placed returns the finding, whose Field is a path from the object, with its place in the document of the object.
func (f Finding) Placed(o manifest.Origin, at manifest.Position) Finding {
	f.Field, f.At, f.Excerpt = o.Field(f.Field), at, o.Document.Excerpt(at)
	return f
}

// inFile tells whether a file can be pointed at.
func (f Finding) inFile() bool { return f.At.Line > 0 }

// Formats returns the names of the formats, the default first.
func Formats() []string {
	return []string{"table", "json", "yaml", "sarif", "junit", "github", "tap"}
}

// Write writes the report in one of the Formats.
func (r Report) Write(w io.Writer, format string) error {
	switch format {
	case "table":
		return r.writeText(w)
	case "json":
		return WriteJSON(w, r.list())
	case "yaml":
		return WriteYAML(w, r.list())
	case "sarif":
		return r.writeSARIF(w)
	case "junit":
		return r.outcomes().WriteJUnit(w)
	case "github":
		return r.writeGitHub(w)
	case "tap":
		return r.outcomes().WriteTAP(w)
	}
	return fmt.Errorf("no report format %q, there are %q", format, Formats())
}

// Count returns the number of findings with the given severities, or of all findings.
func (r Report) Count(severities ...string) int {
	n := 0
	for _, s := range r.Subjects {
		for _, f := range s.Findings {
			if len(severities) == 0 || slices.Contains(severities, f.Severity) {
				n++
			}
		}
	}
	return n
}

// title names a subject in reports for machines.
func (s Subject) title() string {
	if s.Kind != "" {
		return strings.ToLower(s.Kind) + " " + s.Name
	}
	return "job " + s.Namespace + "/" + s.Name
}
