package serving_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/controller/serving"
)

func TestAuthorized(t *testing.T) {
	client := &reviewing{fake.NewClientset(), nil, 0}
	client.PrependReactor("create", "*", client.review)
	handler := serving.Authorized(client, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for _, test := range []struct {
		name, header string
		fails        error
		status       int
		calls        int
	}{
		{"no token", "", nil, http.StatusUnauthorized, 0},
		{"another scheme", "Basic reader", nil, http.StatusUnauthorized, 0},
		{"an empty token", "Bearer ", nil, http.StatusUnauthorized, 0},
		{"a wrong token", "Bearer wrong", nil, http.StatusUnauthorized, 1},
		{"the same again", "Bearer wrong", nil, http.StatusUnauthorized, 0},
		{"a token without the right", "Bearer stranger", nil, http.StatusForbidden, 2},
		{"the API server is away", "Bearer reader", errors.New("away"), http.StatusServiceUnavailable, 1},
		{"and back", "bearer reader", nil, http.StatusOK, 2},
		{"it is away again, and the answer is known", "Bearer reader", errors.New("away"), http.StatusOK, 0},
	} {
		client.fails, client.calls = test.fails, 0
		request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		request.Header.Set("Authorization", test.header)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, request)
		if w.Code != test.status || client.calls != test.calls {
			t.Errorf("%s: status %d after %d calls, want %d after %d", test.name, w.Code, client.calls, test.status, test.calls)
		}
		if asks := w.Header().Get("WWW-Authenticate") != ""; asks != (w.Code == http.StatusUnauthorized) {
			t.Errorf("%s: headers %v", test.name, w.Header())
		}
	}
	// Permissions depend on the path and the verb, so cached answers must not apply to other requests.
	request := httptest.NewRequest(http.MethodPost, "/metrics", http.NoBody)
	request.Header.Set("Authorization", "Bearer reader")
	w := httptest.NewRecorder()
	client.fails = nil
	handler.ServeHTTP(w, request)
	if w.Code != http.StatusForbidden {
		t.Errorf("POST: status %d", w.Code)
	}
}

// reviewing is an API server that knows the tokens of a reader and of a stranger.
type reviewing struct {
	*fake.Clientset

	fails error
	calls int
}

func (r *reviewing) review(action clienttesting.Action) (bool, runtime.Object, error) {
	r.calls++
	if r.fails != nil {
		return true, nil, r.fails
	}
	switch review := action.(clienttesting.CreateAction).GetObject().(type) {
	case *authenticationv1.TokenReview:
		review.Status.Authenticated = review.Spec.Token != "wrong"
		review.Status.User.Username = review.Spec.Token
		review.Status.User.Extra = map[string]authenticationv1.ExtraValue{"of": {"token"}}
		return true, review, nil
	case *authorizationv1.SubjectAccessReview:
		asked := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "reader" && asked.Path == "/metrics" && asked.Verb == "get" && review.Spec.Extra["of"][0] == "token"
		return true, review, nil
	}
	return false, nil, nil
}
