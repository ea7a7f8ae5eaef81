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

// Error is something wrong in a document: an unreadable value, an unknown field, an object that does not fit the
// others.
type Error struct {
	// Field is the path within the document; "" when the document as a whole is meant.
	Field string
	// Message says what is wrong, in lower case and without the place.
	Message string
	// Hint says what to do about it, or is empty.
	Hint string

	origin Origin
	name   bool      // the field's name is wrong, not its value
	at     *Position // overrides the field's place: errors of syntax have no field
	// excerpt stands in for lines, of which what was read from a cluster has none.
	excerpt string
}

// Position returns where to look.
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

// Error names file, line and column, the document if the file has several, and the field. It is one line, whatever the names
// in it are.
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

// Excerpt shows the line in question with a caret, as Document.Excerpt does.
func (e *Error) Excerpt() string {
	if e.excerpt != "" {
		return e.excerpt
	}
	return e.origin.Document.Excerpt(e.Position())
}

// withheld replaces the errors of a document that is no manifest, and was not named by the user, by a single one: their quotes
// could reveal a secret.
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

// errAt returns an error at a node; nil is the document.
func errAt(d *Document, node *yaml.Node, message string) error {
	at := d.begin(1)
	if node != nil {
		at = d.nodePosition(node)
	}
	return &Error{origin: Origin{Document: d}, at: &at, Message: message}
}

// ErrUnreadable says why a file cannot be read.
func ErrUnreadable(name string, cause error) error {
	if path, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = path.Err // the name is said already
	}
	return fmt.Errorf("%s: cannot read: %w", name, cause)
}

// ErrOutside is of a file that is not in the root of the Options.
var ErrOutside = errors.New("outside of the directory")

func errOutside(root string) error { return fmt.Errorf("%w %s", ErrOutside, root) }

const (
	messageMoreUnread = "too many errors, the rest of the items were not read"
	messageRestUnread = "too many errors, the rest of the file was not read"
)

func messageTwice(kind, name string, first Position) string {
	return fmt.Sprintf("%s %s is given twice, first at %s", kind, name, first)
}

// TwiceError says that two Jobs have one name.
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

// CheckUnread returns nil if Pods can be judged without the documents that are wrong, and else why not: all policies and bindings
// are needed, and scenarios are no answer where Pods were given.
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

// mentions reports whether the text of the document says somewhere that it is of a kind, which is a regular expression.
func (e *Error) mentions(kind string) bool {
	return regexp.MustCompile(`\bkind["']?\s*:\s*["']?(` + kind + `)\b`).Match(e.origin.Document.Text)
}

// EachError returns the errors that errors.Join has joined, one by one; of nil there are none.
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
