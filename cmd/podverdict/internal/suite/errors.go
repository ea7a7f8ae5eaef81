package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// ErrNoneSelected is that no case has a name that was asked for.
var ErrNoneSelected = errors.New("no case of any suite has a name that matches --run")

func errUnreadable(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name is said already
	}
	return fmt.Errorf("%s: cannot read: %w", name, err)
}

const messageRequired = "is required"

func messageNothingIn(file, what string) string {
	return fmt.Sprintf("%s: there is no %s in it", file, what)
}

const messageNoStatuses = "no container of the Pod has a status"

const hintOutside = "test with a directory that holds both, or with --load-restrictor LoadRestrictionsNone"

const messageNothingToTest = "a suite names policies, a job, or both"

// messageUnknown says that there is no such thing, and which is likely to be meant.
func messageUnknown(what, name string, known []string) string {
	text := fmt.Sprintf("there is no %s %q", what, name)
	switch near := manifest.Nearest(name, known); {
	case near != "":
		text += ", did you mean " + near + "?"
	case len(known) > 0 && len(known) <= maxListed:
		text += ", there are: " + strings.Join(known, ", ")
	}
	return text
}

// maxListed is how many names are few enough to tell.
const maxListed = 30

func messageTaken(name, by string) string { return fmt.Sprintf("the name %q is taken by %s", name, by) }

const (
	messageNoExpectation = "expects nothing: a case without an expectation cannot fail"
	messageBoth          = "is not for a case with pendingFor"
	messageAttempt       = "must be 1 or more"
	messageNegative      = "must not be negative"
	messageBeforeCreated = "must be a duration from 0s"
)

func errBuiltin(name string) error {
	var known []string
	for _, b := range Builtins {
		known = append(known, b.Name)
	}
	return errors.New(messageUnknown("scenario", name, known))
}
