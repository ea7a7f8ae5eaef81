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

// Report is the result of check.
type Report struct {
	// Version is the version of podverdict.
	Version string
	// Rules describe the checks that findings name.
	Rules []catalogue.Rule
	// Subjects are the inspected Jobs, custom policies and bindings, each kind in input order.
	Subjects []Subject
	// Screen describes the screen that the table is written to.
	Screen print.Screen
}

// Subject is an inspected object.
type Subject struct {
	// Kind is "" for a Job, Document for unreadable input, or else the kind of the object.
	Kind string
	// Namespace and Name identify the object; custom resources have no namespace.
	Namespace, Name string
	// File is the file that contains the object.
	File     string
	Findings []Finding
	// Ignored are findings that a comment or an annotation ignores.
	Ignored []Finding
}

// Document is the Kind of a Subject for an unreadable file, or for a part of a file without a readable object.
const Document = "Document"

// Finding is a problem of a Subject.
type Finding struct {
	// Check is the id of the rule, such as unreachable-rule, and Aliases are its other ids.
	Check   string   `json:"check"`
	Aliases []string `json:"aliases,omitempty"`
	// Severity is error or warning.
	Severity string `json:"severity"`
	// Rule is the index of the failure rule, or nil when the finding is not about one.
	Rule *int `json:"rule,omitempty"`
	// RuleName is the name of a custom policy's rule.
	RuleName string `json:"ruleName,omitempty"`
	// Field is the path in the document.
	Field string `json:"field"`
	// Type is the API server's name for the error, such as FieldValueInvalid, if it has one.
	Type string `json:"type,omitempty"`
	// Message describes the problem, and Hint suggests a solution.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// At is the position of the finding. It has no line for findings without a position, such as a file that cannot be opened.
	At manifest.Position `json:"-"`
	// Excerpt is the line at the position, with a caret, if available.
	Excerpt string `json:"-"`
	// Document is the document that contains the object, if any.
	Document *manifest.Document `json:"-"`
	// Reason is the reason for which the finding is ignored.
	Reason string `json:"-"`
}

// Placed returns the finding with its position in the document of the object. On input, Field is a path from the object.
func (f Finding) Placed(o manifest.Origin, at manifest.Position) Finding {
	f.Field, f.At, f.Excerpt, f.Document = o.Field(f.Field), at, o.Document.Excerpt(at), o.Document
	return f
}

// inFile reports whether the finding has a line in a file.
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

// address returns the URL of the page about a finding's rule, or "".
func (r Report) address(id string) string {
	if slices.ContainsFunc(r.Rules, func(rule catalogue.Rule) bool { return rule.ID == id }) {
		return catalogue.Rule{ID: id}.Address()
	}
	return ""
}

// sentence returns the field and message of a finding, without position and hint.
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
