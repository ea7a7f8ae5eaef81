package suites

import (
	"errors"
	"fmt"
)

// ErrNoneSelected means that no case name matches --run.
var ErrNoneSelected = errors.New("no case of any suite has a name that matches --run")

const messageRequired = "is required"

func messageNothingIn(file, what string) string {
	return fmt.Sprintf("%s: there is no %s in it", file, what)
}

func messageTaken(name, by string) string { return fmt.Sprintf("the name %q is taken by %s", name, by) }
