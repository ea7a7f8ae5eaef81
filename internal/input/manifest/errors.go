package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/internal/terminal"
)

const (
	messageRequired = "is required"
	messagePatch    = "is a patch, a part of an object: build it first, with kubectl kustomize"
	messageNoObject = "expected an object"
)

// Error is a problem in a document: an unreadable value, an unknown field, or an object that conflicts with others.
type Error struct {
	// Field is the path within the document; "" means the whole document.
	Field string
	// Message describes the problem in lower case, without the position.
	Message string
	// Hint suggests a fix, or is empty.
	Hint string

	origin Origin
	name   bool      // the field's name is wrong, not its value
	at     *Position // overrides the field's position: syntax errors have no field
	// excerpt replaces the lines of the file; objects read from a cluster have none.
	excerpt string
}

// Position returns the position of the error.
func (e *Error) Position() Position {
	switch {
	case e.at != nil:
		return *e.at
	case e.name:
		return e.origin.Document.keyPosition(steps(e.path()))
	}
	return e.origin.Document.position(steps(e.path()))
}

// path returns the field's path within the part of the document that was given.
func (e *Error) path() string { return strings.TrimPrefix(e.Field, e.origin.Document.within()) }

// Error returns the file, line and column, the document number if the file has several, the field and the message. The text is a
// single line, whatever the names in it contain.
func (e *Error) Error() string {
	text := e.Position().String() + ": "
	if d := e.origin.Document; d.several() {
		text += fmt.Sprintf("document %d: ", d.Number)
	}
	if e.Field != "" {
		text += e.Field + ": "
	}
	return terminal.Line(text + e.Message)
}

// Excerpt returns the line of the error with a caret, as Document.Excerpt does.
func (e *Error) Excerpt() string {
	if e.excerpt != "" {
		return e.excerpt
	}
	return e.origin.Document.Excerpt(e.Position())
}

// withheld replaces the errors of a document by a single one if the document is not a manifest and the user did not name it:
// quotes from it could reveal a secret.
func withheld(d *Document, errs []error) []error {
	if len(errs) == 0 || !d.found || d.isItem() || namesType(d) {
		return errs
	}
	at, message := Position{File: d.File, Line: d.Line, Column: d.Column + 1}, "is not a manifest: it lacks apiVersion or kind"
	if d.tree() == nil {
		message = "is not a manifest: it is no YAML, and lacks apiVersion or kind"
		if first, ok := errors.AsType[*Error](errs[0]); ok {
			at = first.Position()
		}
	}
	return []error{&Error{origin: Origin{Document: d.without()}, at: &at, Message: message}}
}

// errAt returns an error at a node; a nil node means the document.
func errAt(d *Document, node *yaml.Node, message string) error {
	at := d.begin(1)
	if node != nil {
		at = d.nodePosition(node)
	}
	return &Error{origin: Origin{Document: d}, at: &at, Message: message}
}

// ErrUnreadable returns an error with the reason why a file cannot be read.
func ErrUnreadable(name string, cause error) error {
	if path, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = path.Err // the message starts with the name already
	}
	return fmt.Errorf("%s: cannot read: %w", name, cause)
}

// ErrOutside reports a file outside the root of the Options.
var ErrOutside = errors.New("outside of the directory")

func errOutside(root string) error { return fmt.Errorf("%w %s", ErrOutside, root) }

const (
	messageMoreUnread = "too many errors, the rest of the items were not read"
	messageRestUnread = "too many errors, the rest of the file was not read"
)

func messageTwice(kind, name string, first Position) string {
	return fmt.Sprintf("%s %s is given twice, first at %s", kind, name, first)
}

// TwiceError returns an error about two Jobs of the same name.
func TwiceError(first, second Job) error {
	at := first.Whole().Position("metadata.name")
	return second.Whole().Error("metadata.name", messageTwice("job", second.Reference().String(), at))
}

var (
	errNoFilenames = errors.New("no input: give files, directories or URLs with -f, or - for standard input")
	errStdinTwice  = errors.New("-f -: standard input can be read only once")
)

// OnlyDocuments reports whether all errors are about single documents, so that the rest of the Set can be used.
func OnlyDocuments(wrong error) bool {
	return !slices.ContainsFunc(EachError(wrong), func(err error) bool {
		_, ok := errors.AsType[*Error](err)
		return !ok
	})
}

var errPolicyUnread = errors.New("nothing is judged: it takes the policies that are wrong")

// CheckUnread returns nil if Pods can be judged without the invalid documents, and otherwise the reason why not. All policies and
// bindings are needed. Pods that were given but could not be read are not replaced by scenarios.
func (s *Set) CheckUnread(wrong error) error {
	if !OnlyDocuments(wrong) {
		return wrong
	}
	for _, err := range EachError(wrong) {
		switch placed, _ := errors.AsType[*Error](err); {
		case placed.mentions("PodFailurePolicy(Binding)?"):
			return errors.Join(wrong, errPolicyUnread)
		case len(s.Pods)+s.passed == 0 && placed.mentions("Pod(List)?"):
			return wrong
		}
	}
	return nil
}

// mentions reports whether the document's text names a kind; kind is a regular expression.
func (e *Error) mentions(kind string) bool {
	return regexp.MustCompile(`\bkind["']?\s*:\s*["']?(` + kind + `)\b`).Match(e.origin.Document.Text)
}

// EachError flattens errors joined by errors.Join. It returns nil for nil.
func EachError(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, EachError(err)...)
	}
	return all
}
