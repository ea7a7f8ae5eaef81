package serving

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

const (
	// allowedPeriod and deniedPeriod are the times for which the API server's answers are cached.
	allowedPeriod, deniedPeriod = time.Minute, 10 * time.Second
	// maxAnswers is the maximum number of cached answers.
	maxAnswers = 1000
)

// Authorized restricts a handler to authorized clients. The API server authenticates the bearer token of a request
// (TokenReview) and authorizes its user (SubjectAccessReview). Other clients get 401 or 403; all clients get 503 while the
// API server is unavailable. The rate limit and timeout of client bound these calls. Permissions are cached for a minute,
// denials for 10 seconds.
//
// The libraries of k8s.io/apiserver do the same, but make the binary 36 MB larger (82 instead of 46 MB).
func Authorized(client kubernetes.Interface, served http.Handler) http.Handler {
	a := &access{client: client, answers: cache.NewLRUExpireCache(maxAnswers)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch status, err := a.check(r); {
		case err != nil:
			klog.FromContext(r.Context()).Error(err, "It is not known who asks", "path", r.URL.Path)
			http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		case status == http.StatusOK:
			served.ServeHTTP(w, r)
		default:
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			http.Error(w, http.StatusText(status), status)
		}
	})
}

// access authorizes requests by reviews of the API server.
type access struct {
	client  kubernetes.Interface
	answers *cache.LRUExpireCache // HTTP statuses by accessKey
}

// accessKey is the key of a cached answer. The token itself is not stored.
type accessKey struct {
	token      [sha256.Size]byte
	verb, path string
}

// check returns the HTTP status for a request, or an error if the API server did not answer.
func (a *access) check(r *http.Request) (status int, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	key := accessKey{sha256.Sum256([]byte(token)), strings.ToLower(r.Method), r.URL.Path}
	if known, ok := a.answers.Get(key); ok {
		return known.(int), nil //nolint:forcetypeassert // nothing else is stored
	}
	status, err = a.review(r.Context(), token, key)
	if err != nil {
		return 0, err
	}
	period := deniedPeriod
	if status == http.StatusOK {
		period = allowedPeriod
	}
	a.answers.Add(key, status, period)
	return status, nil
}

// review authenticates the token and authorizes its user with calls to the API server.
func (a *access) review(ctx context.Context, token string, key accessKey) (status int, err error) {
	who, err := a.client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review a request: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user, extra := who.Status.User, map[string]authorizationv1.ExtraValue{}
	for name, value := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(value)
	}
	may, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: key.path, Verb: key.verb},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review a request: %w", err)
	}
	if may.Status.Allowed {
		return http.StatusOK, nil
	}
	return http.StatusForbidden, nil
}
