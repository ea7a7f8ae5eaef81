package memoryapi

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	// The path is /api/v1 or /apis/GROUP/VERSION, then namespaces/NAME, then RESOURCE/NAME/SUBRESOURCE.
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return c, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, metav1.Unversioned.WithResource("").GroupResource(), "", errPath(r.URL.Path).Error(), 0, false)
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		c.Namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	c.Resource, c.Name, c.Subresource = parts[0], parts[1], parts[2]
	c.Verb = verb(r.Method, c)
	return c, nil
}

func verb(method string, c Call) string {
	switch {
	case method == http.MethodGet && c.query.Get("watch") == "true":
		return "watch"
	case method == http.MethodGet && c.Name == "":
		return "list"
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	default:
		return strings.ToLower(method)
	}
}
