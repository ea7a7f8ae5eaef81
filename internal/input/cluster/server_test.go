package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// server answers requests for Jobs and Pods with scripted responses, and records the requests.
type server struct {
	*httptest.Server

	mutex    sync.Mutex
	requests []string
	answers  map[string][]answer // by "list pods", "watch pods", "get jobs/demo"; the last answer repeats
}

// namespace is the request for the namespace used in all tests.
const namespace = "list /api/v1/namespaces/test"

// answer writes one response.
type answer func(w http.ResponseWriter, r *http.Request)

func newServer(t *testing.T, answers map[string][]answer) *server {
	t.Helper()
	s := &server{answers: answers}
	if answers[namespace] == nil {
		answers[namespace] = []answer{send(corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}})}
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := "list"
	_, path, _ := strings.Cut(r.URL.Path, "/namespaces/test/")
	switch {
	case path == "":
		path = r.URL.Path
	case r.URL.Query().Get("watch") != "":
		key = "watch"
	case strings.Contains(path, "/"):
		key = "get"
	}
	key += " " + path
	s.mutex.Lock()
	query := r.URL.Query()
	query.Del("timeout")
	s.requests = append(s.requests, key+"?"+query.Encode())
	var next answer
	if all := s.answers[key]; len(all) > 0 {
		if next = all[0]; len(all) > 1 {
			s.answers[key] = all[1:]
		}
	}
	s.mutex.Unlock()
	if next == nil {
		next = refuse(http.StatusNotFound, metav1.StatusReasonNotFound)
	}
	w.Header().Set("Content-Type", "application/json")
	next(w, r)
}

// asked returns the requests so far that begin with a prefix.
func (s *server) asked(prefix string) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found []string
	for _, request := range s.requests {
		if strings.HasPrefix(request, prefix) {
			found = append(found, request)
		}
	}
	return found
}

// cluster connects to the server, with short delays.
func (s *server) cluster(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{Namespace: "test", Progress: func(int) {}, server: s.URL}
	c.retry = wait.Backoff{Duration: time.Millisecond}
	if err := c.connect(&rest.Config{Host: s.URL}); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(object any) answer {
	return func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(object) }
}

func refuse(code int, reason metav1.StatusReason) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		json.NewEncoder(w).Encode(status(code, reason))
	}
}

func status(code int, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason) + ", says the server",
	}
}

// drop closes the connection without a response.
func drop(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

// stream sends events, then ends the watch.
func stream(events ...string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, event := range events {
			fmt.Fprintln(w, event)
		}
	}
}

// cut sends events, then closes the connection in the middle of another.
func cut(events ...string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(events...)(w, r)
		fmt.Fprint(w, `{"type":"ADDED","object":{"kind":"Po`)
		w.(http.Flusher).Flush()
		drop(w, r)
	}
}

// stay sends events, then keeps the watch open until the client disconnects.
func stay(events ...string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(events...)(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func event(kind string, object any) string {
	text, err := json.Marshal(map[string]any{"type": kind, "object": object})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func bookmark(version string) string {
	return event("BOOKMARK", corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: version},
	})
}

// demo returns the Job that the Pods below belong to.
func demo() *batchv1.Job {
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Namespace: "test", UID: "demo-uid"},
		Spec: batchv1.JobSpec{Selector: &metav1.LabelSelector{
			MatchLabels: map[string]string{batchv1.ControllerUidLabel: "demo-uid"},
		}},
	}
}

func failed(name, version string) corev1.Pod {
	return corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "test", UID: types.UID(name + "-uid"), ResourceVersion: version,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "demo", UID: "demo-uid", Controller: new(true),
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodFailed},
	}
}

func pods(version, more string, items ...corev1.Pod) answer {
	return send(corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: version, Continue: more}, Items: items,
	})
}

func jobs(items ...batchv1.Job) answer {
	return send(batchv1.JobList{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}, Items: items})
}
