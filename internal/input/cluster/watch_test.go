package cluster

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// watched holds the Pods and notices that a watch reports, up to the last Pod of a test.
type watched struct {
	pods, notices []string
}

func watchUntil(t *testing.T, c *Cluster, target Target, last string) watched {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var seen watched
	err := c.Watch(ctx, Query{Targets: []Target{target}}, Listener{
		Failed: func(_ manifest.Job, pod manifest.Pod) error {
			seen.pods = append(seen.pods, pod.Object.Name)
			if pod.Object.Name == last {
				cancel()
			}
			return nil
		},
		Notice: func(text string) { seen.notices = append(seen.notices, text) },
	})
	if err != nil {
		t.Error(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error("the last Pod is not told of in time")
	}
	return seen
}

func TestWatch(t *testing.T) {
	gone := event("ERROR", status(http.StatusGone, metav1.StatusReasonExpired))
	for name, test := range map[string]struct {
		list, watch []answer
		want        watched
		versions    string // resource versions that the watches start from
	}{
		"stream ends": {
			watch:    []answer{stream(event("ADDED", failed("b", "6"))), stream(), stay(event("ADDED", failed("z", "9")))},
			versions: "5 6 6",
			want:     watched{pods: []string{"a", "b", "z"}},
		},
		"bookmark": {
			watch:    []answer{stream(bookmark("8")), stay(event("ADDED", failed("z", "9")))},
			versions: "5 8",
			want:     watched{pods: []string{"a", "z"}},
		},
		"connection breaks off": {
			watch:    []answer{cut(event("ADDED", failed("b", "6"))), drop, drop, stay(event("ADDED", failed("z", "9")))},
			versions: "5 6 6 6",
			want:     watched{pods: []string{"a", "b", "z"}},
		},
		"server is overloaded": {
			watch: []answer{
				refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError), stay(event("ADDED", failed("z", "9"))),
			},
			versions: "5 5",
			want: watched{pods: []string{"a", "z"}, notices: []string{
				"cannot watch pods: InternalError, says the server; trying again", "connected again",
			}},
		},
		"expired in the stream": {
			list:     []answer{pods("5", "", failed("a", "1")), pods("20", "", failed("a", "1"), failed("c", "15"))},
			watch:    []answer{stream(event("ADDED", failed("b", "6")), gone), stay(event("ADDED", failed("z", "21")))},
			versions: "5 20",
			want:     watched{pods: []string{"a", "b", "c", "z"}},
		},
		"expired before the stream": {
			list: []answer{
				pods("5", "", failed("a", "1")), refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError),
				pods("20", "", failed("a", "1"), failed("c", "15")),
			},
			watch:    []answer{refuse(http.StatusGone, metav1.StatusReasonExpired), stay(event("ADDED", failed("z", "21")))},
			versions: "5 20",
			want: watched{pods: []string{"a", "c", "z"}, notices: []string{
				"cannot list pods: InternalError, says the server; trying again", "connected again",
			}},
		},
		"changed and deleted": {
			watch: []answer{stay(
				event("MODIFIED", failed("a", "6")), event("ADDED", failed("b", "7")), event("DELETED", failed("b", "8")),
				event("DELETED", failed("a", "9")), event("DELETED", running("d", "10")), event("ADDED", failed("z", "11")),
			)},
			versions: "5",
			want:     watched{pods: []string{"a", "b", "z"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.list == nil {
				test.list = []answer{pods("5", "", failed("a", "1"))}
			}
			s := newServer(t, map[string][]answer{
				"get jobs/demo": {send(demo())}, "list pods": test.list, "watch pods": test.watch,
			})
			got := watchUntil(t, s.cluster(t), Target{Job, "demo"}, "z")
			for i := range got.notices {
				got.notices[i] = strings.ReplaceAll(got.notices[i], s.URL, "URL")
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(watched{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := versions(s); got != test.versions {
				t.Errorf("watched from %s, want %s", got, test.versions)
			}
		})
	}
}

func running(name, version string) corev1.Pod {
	pod := failed(name, version)
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// versions returns the resource versions that watches started from.
func versions(s *server) string {
	var all []string
	for _, request := range s.asked("watch pods") {
		_, version, _ := strings.Cut(request, "resourceVersion=")
		version, _, _ = strings.Cut(version, "&")
		all = append(all, version)
	}
	return strings.Join(all, " ")
}

// TestWatchReadsJobAgain checks that no verdict is lost if a Job temporarily cannot be read: the event is handled again.
func TestWatchReadsJobAgain(t *testing.T) {
	other := failed("z", "6")
	other.OwnerReferences[0].Name, other.OwnerReferences[0].UID = "later", "later-uid"
	later := demo()
	later.Name, later.UID = "later", "later-uid"
	s := newServer(t, map[string][]answer{
		"list jobs": {jobs()}, "list pods": {pods("5", "")},
		"watch pods":     {stay(event("ADDED", other))},
		"get jobs/later": {refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError), send(later)},
	})
	c := s.cluster(t)
	seen := watchUntil(t, c, Target{Kind: Job}, "z")
	if diff := cmp.Diff([]string{"z"}, seen.pods); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := versions(s); got != "5 5" {
		t.Errorf("watched from %s, want 5 5", got)
	}
}

// TestWatchEnds checks that a watch is not retried if the user lacks permission, or if the listener returns an error.
func TestWatchEnds(t *testing.T) {
	full := errors.New("disk full")
	for name, test := range map[string]struct {
		watch  answer
		failed error
		want   string
	}{
		"forbidden": {refuse(http.StatusForbidden, metav1.StatusReasonForbidden), nil, "Forbidden, says the server\nsee kubectl auth can-i watch pods -n test"},
		"listener":  {stay(event("ADDED", failed("b", "6"))), full, "disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, map[string][]answer{
				"get jobs/demo": {send(demo())}, "list pods": {pods("5", "")}, "watch pods": {test.watch},
			})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := s.cluster(t).Watch(ctx, Query{Targets: []Target{{Job, "demo"}}}, Listener{
				Failed: func(manifest.Job, manifest.Pod) error { return test.failed },
				Notice: func(text string) { t.Error(text) },
			})
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestWatchForgets checks that a watch forgets deleted Pods and Jobs, so that its memory does not grow.
func TestWatchForgets(t *testing.T) {
	s := newServer(t, map[string][]answer{
		"get jobs/demo": {send(demo())}, "list pods": {pods("5", "", failed("a", "1"), failed("b", "2")), pods("9", "", failed("b", "2")), pods("12", "")},
	})
	w := newWatcher(s.cluster(t), Query{}, &selection{laterJobs: labels.Everything()}, Listener{
		Failed: func(manifest.Job, manifest.Pod) error { return nil },
	})
	for _, want := range []int{2, 1, 0} {
		if _, err := w.list(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(w.judged) != want {
			t.Errorf("%d Pods are kept, want %d", len(w.judged), want)
		}
	}
}
