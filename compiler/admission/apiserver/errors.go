package apiserver

import (
	"errors"
	"fmt"
)

func errReview(what string, err error) error { return fmt.Errorf("review: %s: %w", what, err) }

func errNoSubject() error { return errors.New("review: neither an object nor an old object") }

func errNoNamespace(name string) error {
	return fmt.Errorf("review: the policy selects namespaces by label, but namespace %q is not given", name)
}

func errNoMutationAPI(kubernetes string) error {
	return fmt.Errorf("kubernetes %s has no MutatingAdmissionPolicy: it came with %s", kubernetes, mutationAPIs[len(mutationAPIs)-1].since)
}
