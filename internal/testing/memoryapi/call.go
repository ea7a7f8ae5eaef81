package memoryapi

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Call is a request to the API.
type Call struct {
	Verb        string // get, list, watch, create, update, patch or delete
	Resource    string
	Namespace   string
	Name        string
	Subresource string
	Body        []byte

	query     url.Values
	patchType types.PatchType
}

// Writes reports whether the call's verb changes objects.
func (c Call) Writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, c.Verb)
}

func (c Call) String() string {
	return strings.TrimSpace(c.Verb + " " + c.Resource + " " + c.Name + " " + c.Subresource)
}

// ReadCall parses a request. It leaves the request's body readable.
func ReadCall(r *http.Request) (Call, error) {
	c := Call{query: r.URL.Query(), patchType: types.PatchType(r.Header.Get("Content-Type"))}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return c, err
		}
		c.Body, r.Body = body, io.NopCloser(bytes.NewReader(body))
	}
	info, err := requests.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return c, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", errPath(r.URL.Path).Error(), 0, false)
	}
	c.Verb, c.Namespace, c.Resource, c.Name, c.Subresource = info.Verb, info.Namespace, info.Resource, info.Name, info.Subresource
	if c.Resource == Namespaces {
		c.Namespace = "" // namespaces are cluster-scoped
	}
	return c, nil
}

// requests reads paths as the API server does.
var requests = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
