package findings

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Report is what check found.
type Report struct {
	// Version is that of podverdict.
	Version string
	// Rules describe the checks that findings name.
	Rules []catalogue.Rule
	// Subjects are the Jobs, and the custom policies with what binds them, that were looked at, each in the order of the
	// input.
	Subjects []Subject
	// Screen is where people read the table.
	Screen print.Screen
}

// Subject is one object that was looked at.
type Subject struct {
	// Kind is "" for a Job, Document for what cannot be read, else that of the custom resource.
	Kind string
	// Namespace and Name are the object's; custom resources have no namespace.
	Namespace, Name string
	// File is where the object was read.
	File     string
	Findings []Finding
	// Ignored are findings that a comment or an annotation ignores.
	Ignored []Finding
}

// Document is the Kind of a Subject that is a file or a part of it, of which no object could be read.
const Document = "Document"

// Finding is one thing to say about a Subject.
type Finding struct {
	// Check is the id of the rule, as in unreachable-rule, and Aliases are its other ids.
	Check   string   `json:"check"`
	Aliases []string `json:"aliases,omitempty"`
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
	// At is the place; without a line when there is none, as of a file that cannot be opened.
	At manifest.Position `json:"-"`
	// Excerpt is the line in question, with a caret, if there is one.
	Excerpt string `json:"-"`
	// Document is where the object was read, if it was.
	Document *manifest.Document `json:"-"`
	// Reason is why the finding is ignored.
	Reason string `json:"-"`
}

// Placed returns the finding, whose Field is a path from the object, with its place in the document of the object.
func (f Finding) Placed(o manifest.Origin, at manifest.Position) Finding {
	f.Field, f.At, f.Excerpt, f.Document = o.Field(f.Field), at, o.Document.Excerpt(at), o.Document
	return f
}

// inFile reports whether a file can be pointed at.
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
		return print.JSON(w, r.list())
	case "yaml":
		return print.YAML(w, r.list())
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

// address returns where the rule of a finding is explained, or "".
func (r Report) address(id string) string {
	if slices.ContainsFunc(r.Rules, func(rule catalogue.Rule) bool { return rule.ID == id }) {
		return catalogue.Rule{ID: id}.Address()
	}
	return ""
}

// sentence returns what a finding says, without its place and what to do about it.
func (f Finding) sentence() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// title names a subject in reports for machines.
func (s Subject) title() string {
	if s.Kind != "" {
		return strings.ToLower(s.Kind) + " " + s.Name
	}
	return "job " + s.Namespace + "/" + s.Name
}
