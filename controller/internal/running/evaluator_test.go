package running

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// TestOwnRulesAreNotVolatile checks that the Job's own rules are not considered volatile if they were evicted from the cache and compiled
// again, which yields a different program with the same rules.
func TestOwnRulesAreNotVolatile(t *testing.T) {
	of := func() *runtime.Program { return fixtures.MustProgram(t, fixtures.FailJobOn(42)) }
	w := &work{reconciler: newTestJob(t, fixtures.OwnJob(nil)).reconciler, state: &jobState{verdicts: newVerdicts()}, job: fixtures.OwnJob(nil)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "a"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	first := w.newEvaluator(of(), binding.Selection{})
	first.judge(t.Context(), pod, 1, func() []cel.Attempt { return nil })
	if w.newEvaluator(of(), binding.Selection{}).volatile() {
		t.Error("the Job's own rules may be others the next time")
	}
}

// TestVerdictsKeepTheNode checks that a failed pod, which is evaluated again after each change, keeps the node on which it failed, in the
// state at that time.
func TestVerdictsKeepTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memoryapi.New(time.Now)
		label := func(pool string) {
			fixtures.Put(t, server.Apply(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"pool": pool}}}))
			synctest.Wait()
		}
		label("spot")
		d := newTestJob(t, fixtures.OwnJob(nil))
		client, err := kubernetes.NewForConfig(server.Config())
		fixtures.Put(t, err)
		d.Caches, err = caches.New(client, "", false)
		fixtures.Put(t, err)
		d.Caches.Keep(custom.Reads{Node: cel.NewFields("Node.metadata", "ObjectMeta.name", "ObjectMeta.labels")})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		d.Caches.Start(ctx, &running)
		environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
		fixtures.Put(t, err)
		policy, err := runtime.NewCustomPolicy(environment, &v1alpha1.PodFailurePolicy{Spec: v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{
			{Name: "spot", When: "node.label('pool') == 'spot'", Action: "Ignore"},
		}}})
		fixtures.Put(t, err)
		w := &work{reconciler: d.reconciler, state: &jobState{verdicts: newVerdicts()}, job: fixtures.OwnJob(nil)}
		version := 0
		expect := func(name string, want bool) {
			t.Helper()
			version++
			pod := fixtures.FailedPod(name, 1)
			pod.Spec.NodeName, pod.ResourceVersion = "a", strconv.Itoa(version)
			e := w.newEvaluator(runtime.Join([]*runtime.Policy{policy}, nil, nil), binding.Selection{})
			if v := e.judge(t.Context(), pod, 1, func() []cel.Attempt { return nil }); v.Matched != want || v.Err != nil {
				t.Errorf("the %s pod: %+v", name, v)
			}
		}
		expect("first", true)
		label("regular")
		expect("first", true)
		expect("second", false)
		label("spot")
		expect("second", false)
		server.Delete(memoryapi.Nodes, "a")
		synctest.Wait()
		expect("first", true)
		expect("third", false)
		stop()
		running.Wait()
	})
}

// TestNews checks that the number of a Job's remembered problems is limited, regardless of tenants' input.
func TestNews(t *testing.T) {
	var told knownTexts
	long := strings.Repeat("x", 200_000)
	if !told.add("a") || told.add("a") {
		t.Error("a problem is not told once")
	}
	told.add(long)
	if told.add(long + "y") {
		t.Error("the end of a long text makes news")
	}
	n := 0
	for i := range 1500 {
		if told.add(strings.Repeat("z", i) + long) {
			n++
		}
	}
	kept := 0
	for text := range told {
		kept += len(text)
	}
	if n == 0 || n > maxTexts || kept > maxTexts*maxTextLength {
		t.Errorf("%d of 1500 were told, %d bytes are kept", n, kept)
	}
}

// TestStopTellsNoVerdict checks that a verdict interrupted by a stop is neither reported nor acted upon.
func TestStopTellsNoVerdict(t *testing.T) {
	job := fixtures.ManagedJob(1)
	job.Spec.PodFailurePolicy = fixtures.FailJobOn(42)
	d, told := newTestJob(t, job), false
	d.Judged = func(*corev1.Pod, runtime.Verdict, []binding.Would) { told = true }
	pod := fixtures.FailedPod("a", 42)
	pod.Namespace, pod.OwnerReferences[0].UID = job.Namespace, job.UID
	if err := d.Caches.Pods.Add(pod); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := d.sync(ctx, d.key); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if calls := d.calls(); told || len(calls) > 0 {
		t.Errorf("a verdict is told: %t; calls are %v", told, calls)
	}
}
