package memoryapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RoundTrip handles a request.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	c, err := ReadCall(r)
	if err != nil {
		return Refuse(r, err), nil
	}
	if c.Verb == "watch" {
		return s.watch(r, c), nil
	}
	o, err := s.serve(c) //nolint:contextcheck // rules are evaluated in memory
	if err != nil {
		return Refuse(r, err), nil
	}
	code := http.StatusOK
	if c.Verb == "create" {
		code = http.StatusCreated
	}
	return respond(r, code, o), nil
}

// Refuse returns a response with an error.
func Refuse(r *http.Request, err error) *http.Response {
	told := status(err)
	return respond(r, int(told.Code), told)
}

func respond(r *http.Request, code int, o runtime.Object) *http.Response {
	media := mediaOf(r)
	text, err := runtime.Encode(media.Serializer, o)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(err.Error())
	}
	return response(r, code, media.MediaType, io.NopCloser(bytes.NewReader(text)))
}

func response(r *http.Request, code int, media string, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {media}}, Body: body, Request: r, ContentLength: -1,
	}
}

// mediaOf returns the media type for the response: protobuf if the client accepts it, else JSON.
func mediaOf(r *http.Request) runtime.SerializerInfo {
	wanted := runtime.ContentTypeJSON
	if strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		wanted = runtime.ContentTypeProtobuf
	}
	media, _ := runtime.SerializerInfoForMediaType(codecs().SupportedMediaTypes(), wanted) // the scheme has both
	return media
}

// serve executes a call. A deletion returns the object.
func (s *Server) serve(c Call) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[c.Resource]
	if t == nil || t.absent {
		return nil, errNotServed(c.Resource)
	}
	if c.Verb == "list" {
		return s.list(t, c)
	}
	o, err := s.single(t, c)
	if err != nil {
		return nil, err
	}
	return t.typed(o), nil
}

func (s *Server) single(t *table, c Call) (Object, error) {
	switch c.Verb {
	case "create":
		o, err := decode[Object](c.Body)
		if err != nil {
			return nil, err
		}
		o.SetNamespace(c.Namespace)
		return s.create(t, o)
	case "update":
		o, err := decode[Object](c.Body)
		if err != nil {
			return nil, err
		}
		return s.update(t, o, c.Subresource)
	case "patch":
		return s.patch(t, c)
	case "delete":
		options := &metav1.DeleteOptions{}
		if len(c.Body) > 0 {
			var err error
			if options, err = decode[*metav1.DeleteOptions](c.Body); err != nil {
				return nil, err
			}
		}
		return s.erase(t, c, options)
	default:
		return t.find(c)
	}
}

// decode reads a body in any encoding of the API.
func decode[T any](body []byte) (T, error) {
	o, _, err := codecs().UniversalDeserializer().Decode(body, nil, nil)
	object, ok := o.(T)
	if err == nil && !ok {
		err = errUnsupported("the body is of another kind")
	}
	return object, err
}
