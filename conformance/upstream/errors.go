package upstream

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

var errNoEmulation = errors.New("upstream's feature gate emulates no versions")

func badVersion(kubernetes string, err error) error {
	return fmt.Errorf("kubernetes version %q: %w", kubernetes, err)
}

func newerThanLinked(kubernetes string, linked *version.Version) error {
	return fmt.Errorf("kubernetes version %q: newer than the matcher linked here, %s", kubernetes, linked)
}

// contradiction is an answer of upstream's that does not fit together: this
// package has misunderstood upstream.
func contradiction(format string, args ...any) error {
	return fmt.Errorf("upstream's answers contradict each other: "+format, args...)
}

// otherMessage is a verdict that is upstream's in everything but its message:
// runtime.Verdict does not make upstream's sentence of it.
func otherMessage(theirs, ours string) error {
	return fmt.Errorf("upstream's message is %q, that of the same verdict is %q", theirs, ours)
}
