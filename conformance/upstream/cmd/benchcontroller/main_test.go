package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	serveChild(append(broken(), upstream(), podverdict())...)
	os.Exit(controlplane.Run(m))
}

// TestBenchController runs both Jobs with both controllers. It does not check times.
func TestBenchController(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := benchcontroller(t.Context(), []string{"-n", "3", "-runs", "1"}, &stdout, &stderr); err != nil {
		t.Fatalf("%v, stderr:\n%s", err, &stderr)
	}
	// Each pod is created and released. Upstream may remove a finalizer more than once.
	for _, want := range []string{
		`(?m)^\| 3 succeed, until Complete( \| \d+\.\d\d){3} \| \d+ \| \d+ \|`,
		`(?m)^\| 3 succeed, until the last finalizer is gone( \| \d+\.\d\d){3} \| ([89]|\d\d) \| ([89]|1\d) \| [23]\.\d\d \| [1-9]\d* / [1-9]\d*( \| \d+\.\d\d){3}( \| [1-9]\d* / [1-9]\d*){2} \|$`,
		`(?m)^\| 3 fail, until they are replaced( \| \d+\.\d\d){3} \|`,
		`(?m)^\| 3 fail twice, until the last finalizer is gone( \| \d+\.\d\d){3} \| (1[4-9]|[2-9]\d) \| (1[4-9]|2\d) \|`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("no %s in\n%s", want, &stdout)
		}
	}
}

// TestLoads tests that pods of a stream end one after the other, with a profile for each controller, and that small Jobs
// complete by themselves.
func TestLoads(t *testing.T) {
	var stdout, stderr bytes.Buffer
	profiles := filepath.Join(t.TempDir(), "cpu-*")
	if err := benchcontroller(t.Context(), []string{"-n", "40", "-length", "500ms", "-shapes", "stream,many", "-profile", profiles}, &stdout, &stderr); err != nil {
		t.Fatalf("%v, stderr:\n%s", err, &stderr)
	}
	for _, want := range []string{
		`(?m)^\| 40 of which a tenth is active, a stream of ends( \| \d+\.\d\d){3} \| \d\d+ \| \d\d+ \|`,
		`(?m)^\| 40 succeed in Jobs of 10, until Complete( \| \d+\.\d\d){3} \| [4-9]\d|1\d\d \| [4-9]\d|1\d\d \|`,
		`(?m)^\| 40 succeed in Jobs of 10, until the last finalizer is gone( \| \d+\.\d\d){3} \| ([89]\d|1\d\d) \| ([89]\d|1\d\d) \|`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("no %s in\n%s", want, &stdout)
		}
	}
	for _, name := range []string{"upstream", "podverdict"} {
		if file, err := os.Stat(strings.Replace(profiles, "*", name+"-40", 1)); err != nil || file.Size() == 0 {
			t.Errorf("the profile of %s: %v", name, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"}, {"-n", "10,ten"}, {"-n", "100001"}, {"-shapes", "hang"}, {"-until", "later"}, {"-runs", "-1"}, {"-length", "-1s"}, {"-frob"}, {"10"},
	} {
		if _, err := parse(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// broken returns controllers that end before their Jobs.
func broken() []contender {
	return []contender{
		{name: "fails at once", run: func(context.Context, *rest.Config, string, func()) error { return errors.New("broken") }},
		{name: "fails later", run: func(_ context.Context, _ *rest.Config, _ string, up func()) error {
			up()
			time.Sleep(time.Second)
			return errors.New("broken")
		}},
		{name: "gives up", run: func(_ context.Context, _ *rest.Config, _ string, up func()) error {
			up()
			time.Sleep(time.Second)
			return nil
		}},
	}
}

func TestBrokenController(t *testing.T) {
	config := controlplane.Start(t).Config
	for _, contender := range broken() {
		shape := succeeding()
		_, err := trial{config: config, contender: contender, shape: shape, pods: 3, phases: shape.phases}.run(t.Context())
		if err == nil || !regexp.MustCompile("^the controller: (exit status 1|it ended before the Job did)$").MatchString(err.Error()) {
			t.Errorf("%s: %v", contender.name, err)
		}
	}
}

func TestMilestones(t *testing.T) {
	running := func(failed int32) batchv1.JobStatus { return batchv1.JobStatus{Active: 3, Failed: failed} }
	allReady := func(failed int32) batchv1.JobStatus {
		status := running(failed)
		status.Ready = new(status.Active)
		return status
	}
	ended := func(c batchv1.JobConditionType) batchv1.JobStatus {
		return batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: c}}}
	}
	for name, tt := range map[string]struct {
		milestone milestone
		sight     sight
		want      bool
	}{
		"nothing":              {created, sight{}, false},
		"not counted":          {created, sight{pods: 3, unfinished: 3}, false},
		"created":              {created, sight{status: running(0), pods: 3, unfinished: 3}, true},
		"not seen":             {replaced, sight{status: running(3), pods: 5, unfinished: 3}, false},
		"failures not counted": {replaced, sight{status: running(2), pods: 6, unfinished: 3}, false},
		"replaced":             {replaced, sight{status: running(3), pods: 6, unfinished: 3}, true},
		"heading for its end":  {finished, sight{status: ended(batchv1.JobFailureTarget)}, false},
		"failed":               {finished, sight{status: ended(batchv1.JobFailed), over: 1}, true},
		"not ready":            {ready, sight{status: running(0), pods: 3, unfinished: 3}, false},
		"ready":                {ready, sight{status: allReady(0), pods: 3, unfinished: 3}, true},
		"ends not counted":     {streamed, sight{status: allReady(1), pods: 5, unfinished: 3}, false},
		"streamed":             {streamed, sight{status: allReady(2), pods: 5, unfinished: 3}, true},
		"held":                 {released, sight{pods: 3, held: 1}, false},
		"released":             {released, sight{pods: 3}, true},
	} {
		if got := tt.sight.reached(tt.milestone, 3, 1); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAwaitTheRightEnd tests that await fails if a Job ends in another way.
func TestAwaitTheRightEnd(t *testing.T) {
	for goal, end := range map[milestone]batchv1.JobConditionType{created: batchv1.JobFailed, replaced: batchv1.JobFailed, finished: batchv1.JobComplete} {
		s := scene{trial: trial{shape: failing(), pods: 1}, observer: &observer{}}
		s.observer.now.status.Conditions = []batchv1.JobCondition{{Type: end, Reason: "R", Message: "M"}}
		if err := s.await(t.Context(), goal); err == nil || err.Error() != "the Job is "+string(end)+" before its pods are "+string(goal)+": R: M" {
			t.Errorf("%s: %v", goal, err)
		}
	}
}

// TestMeter tests that lists and watches are not counted, that events are counted separately, and that only other calls
// count as work on the Job.
func TestMeter(t *testing.T) {
	type counts struct {
		calls, events int
		work, idle    bool
	}
	for request, want := range map[string]counts{
		"POST /api/v1/namespaces/n/pods":                       {calls: 1, work: true},
		"GET /api/v1/namespaces/n/pods/p":                      {calls: 1, work: true},
		"PUT /apis/batch/v1/namespaces/n/jobs/j/status":        {calls: 1, work: true},
		"PATCH /apis/events.k8s.io/v1/namespaces/n/events/e":   {events: 1},
		"POST /api/v1/namespaces/n/events":                     {events: 1},
		"GET /api/v1/namespaces/n/pods?limit=500":              {idle: true},
		"GET /api/v1/namespaces/n/pods?watch=true&limit=500":   {idle: true},
		"GET /apis/batch/v1/namespaces/n/jobs?resourceVersion": {idle: true},
	} {
		m := &meter{}
		transport := m.wrap(roundTrip(func(*http.Request) (*http.Response, error) { return &http.Response{Body: http.NoBody}, nil }))
		method, path, _ := strings.Cut(request, " ")
		response, err := transport.RoundTrip(httptest.NewRequest(method, "https://server"+path, http.NoBody))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		used, err := m.usage("")
		if err != nil {
			t.Fatal(err)
		}
		if got := (counts{used.Calls, used.Events, !used.Work.IsZero(), used.Last.IsZero()}); got != want {
			t.Errorf("%s: %+v, want %+v", request, got, want)
		}
	}
}

// TestRows tests that a measure adds up the phases up to its milestone, and the controller's work between them.
func TestRows(t *testing.T) {
	runs := func(steps ...time.Duration) (runs [][]phase) {
		for _, step := range steps {
			p := phase{reached: step, worked: step + time.Second/2, ends: 1000, used: usage{Calls: 1500, Events: 2, CPU: step, Heap: 3 << 20, Resident: 9 << 20}}
			runs = append(runs, []phase{p, p, p, p})
		}
		return runs
	}
	shape := failing()
	var got strings.Builder
	writeRows(&got, trial{shape: shape, pods: 1000, phases: shape.until(finished)}, runs(9*time.Second, 2*time.Second, time.Second), runs(time.Second))
	want := `| 1000 fail, until they are replaced | 2.00 | 1.00 | 0.50 | 1500 | 1500 | 1.50 | 2 / 2 | 2.00 | 1.00 | 0.50 | 3 / 3 | 9 / 9 |
| 1000 fail twice, until Failed | 7.00 | 4.00 | 0.57 | 4500 | 4500 | 1.50 | 6 / 6 | 2.00 | 1.00 | 0.50 | 3 / 3 | 9 / 9 |
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	if got := median([]float64{4, 1, 2, 9}); got != 3 {
		t.Errorf("the median is %v", got)
	}
}
