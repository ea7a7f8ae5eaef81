package memoryapi

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	errChanged      = errors.New("the object has been modified; please apply your changes to the latest version and try again")
	errPrecondition = errors.New("precondition failed: the object is another one")
)

func errPath(path string) error { return fmt.Errorf("path %q is not served", path) }

func errNotServed(resource string) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{Resource: resource}, "", "404 page not found", 0, true)
}

func errUnsupported(what string) error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "", what, 0, false)
}

// status returns the API server's form of an error.
func status(err error) *metav1.Status {
	known := apierrors.APIStatus(nil)
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	s := known.Status()
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return &s
}
