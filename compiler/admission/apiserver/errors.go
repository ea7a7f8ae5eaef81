package apiserver

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func errReview(what string, err error) error { return fmt.Errorf("review: %s: %w", what, err) }

func errNoSubject() error { return errors.New("review: neither an object nor an old object") }

func errNoNamespace(name string) error {
	return fmt.Errorf("review: the policy selects namespaces by label, but namespace %q is not given", name)
}

func errUnknownKind(gvk schema.GroupVersionKind) error {
	return fmt.Errorf("the schema of %s is not known", gvk)
}

func errUnknownResource(groups, versions []string, resource string) error {
	return fmt.Errorf("no kind is known for %q in %s/%s", resource, strings.Join(groups, "|"), strings.Join(versions, "|"))
}

func errWildcard() error { return errors.New("what a wildcard stands for cannot be checked") }

func errNoMutationAPI(kubernetes string) error {
	return fmt.Errorf("kubernetes %s has no MutatingAdmissionPolicy: it came with %s", kubernetes, mutationAPIs[len(mutationAPIs)-1].since)
}
