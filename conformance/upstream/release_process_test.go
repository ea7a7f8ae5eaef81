package upstream

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance/upstream/release"
)

// TestMain makes the test binary behave like cmd/release if a test starts it that way.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_RELEASE") != "" {
		if err := release.Serve(os.Stdin, os.Stdout); err != nil {
			panic(err) //nolint:forbidigo // there is no test to fail
		}
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // main of the tests
}

func start(t *testing.T) *release.Process {
	t.Helper()
	t.Setenv("SERVE_RELEASE", "1")
	p, err := release.Start(context.WithoutCancel(t.Context()), os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func exits(code int32) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace = "p", "default"
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
	return pod
}

func onCode(action batchv1.PodFailurePolicyAction, code int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}},
	}}}
}

// TestProcessAsks tests that a process running the same program has the same matcher.
func TestProcessAsks(t *testing.T) {
	p := start(t)
	if p.Kubernetes != "1.37" {
		t.Errorf("it is Kubernetes %s", p.Kubernetes)
	}
	const sentence = "Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0"
	for name, tt := range map[string]struct {
		policy *batchv1.PodFailurePolicy
		pod    *corev1.Pod
		want   release.Answer
	}{
		"FailJob":      {onCode(batchv1.PodFailurePolicyActionFailJob, 42), exits(42), release.Answer{Action: "FailJob", Counted: true, Sentence: sentence}},
		"Ignore":       {onCode(batchv1.PodFailurePolicyActionIgnore, 42), exits(42), release.Answer{Action: "Ignore", Sentence: sentence, Borrowed: true}},
		"no match":     {onCode(batchv1.PodFailurePolicyActionIgnore, 1), exits(42), release.Answer{Counted: true}},
		"no policy":    {nil, exits(42), release.Answer{Counted: true}},
		"empty policy": {&batchv1.PodFailurePolicy{}, exits(0), release.Answer{Counted: true}},
	} {
		witness := onCode(batchv1.PodFailurePolicyActionFailJob, 42)
		for who, process := range map[string]*release.Process{"linked in": nil, "process": p} {
			if got, err := process.Ask(tt.policy, witness, tt.pod); err != nil || got != tt.want {
				t.Errorf("%s, %s: %+v, %v, want %+v", name, who, got, err, tt.want)
			}
		}
	}
}

// TestProcessValidates tests that a process validates a Job like this one.
func TestProcessValidates(t *testing.T) {
	p := start(t)
	for _, s := range []release.Submission{
		{Object: []byte(aJob)},
		{Object: []byte(strings.Replace(aJob, `"spec":{`, `"spec":{"backoffLimit":-1,`, 1))},
		{Object: []byte(strings.Replace(aJob, `"spec":{`, `"spec":{"completions":2,`, 1)), Old: []byte(aJob)},
	} {
		want, wantPanicked, err := release.APIServer(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		got, panicked, err := p.APIServer(t.Context(), s)
		if diff := cmp.Diff(want, got); err != nil || panicked != wantPanicked || diff != "" {
			t.Errorf("%s: panicked %t, error %v, faults (-want +got):\n%s", s.Object, panicked, err, diff)
		}
	}
	if _, _, err := p.APIServer(t.Context(), release.Submission{Object: []byte("{")}); err == nil {
		t.Error("what is no JSON is no error")
	}
}

// TestProcessFails tests that a process that ends before it answers causes an error, and so does a panic.
func TestProcessFails(t *testing.T) {
	if p, err := release.Start(t.Context(), "/bin/true"); err == nil {
		t.Errorf("it is Kubernetes %s", p.Kubernetes)
	}
	if p, err := release.Start(t.Context(), ""); p != nil || err != nil {
		t.Errorf("no program: %v, %v", p, err)
	}
	q := release.Question{Pods: [][]byte{{1}}}
	if answers, err := start(t).AskAll([]release.Question{q}); err == nil {
		t.Errorf("a pod that is none: %v", answers)
	}
	err := release.Service{}.Ask([]release.Question{{}}, nil) // a nil pointer for the answers
	if err == nil || !strings.HasPrefix(err.Error(), "panic: ") {
		t.Errorf("a panic: %v", err)
	}
}
