package metrics_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

func TestCallsAreCounted(t *testing.T) {
	for _, prefix := range []string{"", "/k8s/clusters/c-1"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			m := fixtures.NewCounted(t)
			makeCalls(t, &rest.Config{Host: answering(t).URL + prefix}, m)
			m.Expect(t, map[string]float64{
				"api_calls_total{code=2xx,resource=pods,verb=list}":          1,
				"api_calls_total{code=2xx,resource=pods,verb=watch}":         1,
				"api_calls_total{code=2xx,resource=pods,verb=patch}":         1,
				"api_calls_total{code=4xx,resource=pods,verb=create}":        1,
				"api_calls_total{code=2xx,resource=pods,verb=delete}":        1,
				"api_calls_total{code=2xx,resource=jobs,verb=get}":           1,
				"api_calls_total{code=2xx,resource=jobs/status,verb=update}": 1,
				"api_calls_total{code=2xx,resource=other,verb=get}":          1,
				"api_calls_total{code=2xx,resource=pods,verb=other}":         1,
				"api_calls_total{code=2xx,resource=other,verb=other}":        1,
			})
		})
	}
}

// answering returns an API server that accepts every call but creations.
func answering(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusConflict)
		}
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	return server
}

func makeCalls(t *testing.T, config *rest.Config, m fixtures.Counted) {
	t.Helper()
	config.Wrap(m.Transport)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	pods, jobs := client.CoreV1().Pods("apis"), client.BatchV1().Jobs("default")
	pods.List(ctx, metav1.ListOptions{LabelSelector: "a=b"})
	pods.Watch(ctx, metav1.ListOptions{})
	pods.Patch(ctx, "a", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	pods.Create(ctx, &corev1.Pod{}, metav1.CreateOptions{})
	pods.Delete(ctx, "a", metav1.DeleteOptions{})
	pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	jobs.Get(ctx, "a", metav1.GetOptions{})
	jobs.UpdateStatus(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{})
	client.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{})
	client.Discovery().ServerVersion()
}

func TestCallsWithoutResponse(t *testing.T) {
	m := fixtures.NewCounted(t)
	broken := errors.New("connection reset")
	through := m.Transport(brokenTransport{broken})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://host/api/v1/namespaces/default/pods/a", http.NoBody)
	if _, err := through.RoundTrip(r); !errors.Is(err, broken) { //nolint:bodyclose // there is none
		t.Errorf("the error is %v", err)
	}
	m.Expect(t, map[string]float64{"api_calls_total{code=error,resource=pods,verb=get}": 1})
}

type brokenTransport struct{ err error }

func (b brokenTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }
