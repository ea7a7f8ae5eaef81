package policies

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// registryOf returns a registry with n policies, each bound to the Jobs of a team in the namespaces of that team.
func registryOf(t testing.TB, n int) *Registry {
	t.Helper()
	config := memoryapi.New(time.Now).Config()
	client, err := kubernetes.NewForConfig(config)
	fixtures.Put(t, err)
	caches, err := caches.New(client, "", true)
	fixtures.Put(t, err)
	metrics, err := metrics.New(nil)
	fixtures.Put(t, err)
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	fixtures.Put(t, err)
	r, err := New(Options{
		Client: client, Watches: config, Writes: config, Environment: environment, Caches: caches,
		Recorder: &events.FakeRecorder{}, Metrics: metrics, Clock: clock.RealClock{},
	})
	fixtures.Put(t, err)
	for i := range n {
		team := fmt.Sprintf("team-%d", i)
		fixtures.Put(t, r.policies.GetIndexer().Add(scalePolicy(team, "Ignore")))
		selector := &v1alpha1.LabelSelector{MatchLabels: map[string]v1alpha1.LabelValue{"team": v1alpha1.LabelValue(team)}}
		b := &v1alpha1.PodFailurePolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: team, UID: types.UID("b-" + team), Generation: 1},
			Spec:       v1alpha1.PodFailurePolicyBindingSpec{PolicyName: team, NamespaceSelector: selector, JobSelector: selector},
		}
		b.SetDefaults()
		fixtures.Put(t, r.bindings.GetIndexer().Add(b))
	}
	fixtures.Put(t, r.namespaces.GetIndexer().Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "team-7"}}}))
	return r
}

func selectionOf(t testing.TB, r *Registry, job *batchv1.Job) binding.Selection {
	t.Helper()
	s, err := r.Selection(t.Context(), job)
	fixtures.Put(t, err)
	return s
}

// scalePolicy returns a realistic policy with a condition, variables, and some rules.
func scalePolicy(name string, action batchv1.PodFailurePolicyAction) *v1alpha1.PodFailurePolicy {
	p := &v1alpha1.PodFailurePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1},
		Spec: v1alpha1.PodFailurePolicySpec{
			MatchConditions: []v1alpha1.MatchCondition{{Name: "team", Expression: "job.metadata.?labels[?'team'].orValue('') == '" + name + "'"}},
			Variables:       []v1alpha1.Variable{{Name: "oom", Expression: "pod.failedContainers().exists(c, c.oomKilled)"}},
			Rules: []v1alpha1.Rule{
				{Name: "oom", When: "variables.oom && attempt < 3", Action: action, Reason: "OutOfMemory"},
				{Name: "preempted", When: "pod.hasCondition('DisruptionTarget')", Action: batchv1.PodFailurePolicyActionIgnore},
				{Name: "config", When: "pod.failedContainers().exists(c, c.exitCode == 78)", Action: batchv1.PodFailurePolicyActionFailJob},
			},
		},
	}
	p.SetDefaults()
	return p
}

func scaleJob() *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", Labels: map[string]string{"team": "team-7"}}}
}

// TestOneOfManyPoliciesChanges checks that when one of many policies changes, only this policy is compiled, and the change applies to the
// Jobs of its team.
func TestOneOfManyPoliciesChanges(t *testing.T) {
	r := registryOf(t, 300)
	r.build(t.Context())
	compilations := func() uint64 {
		var m dto.Metric
		fixtures.Put(t, r.metrics.PolicyCompilations.WithLabelValues("success").(prometheus.Histogram).Write(&m))
		return m.GetHistogram().GetSampleCount()
	}
	if got := compilations(); got != 300 {
		t.Fatalf("%d policies are compiled", got)
	}
	changed := scalePolicy("team-7", "Count")
	changed.Generation = 2
	fixtures.Put(t, r.policies.GetIndexer().Update(changed))
	fixtures.Put(t, r.policies.GetIndexer().Delete(scalePolicy("team-8", "")))
	r.build(t.Context())
	if got := compilations(); got != 301 {
		t.Errorf("%d policies are compiled, want one more", got)
	}
	program := selectionOf(t, r, scaleJob()).Effect(nil, true, v1alpha1.JobController).Acting
	pod := fixtures.FailedPod("a", 1)
	pod.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	if v := program.Judge(t.Context(), runtime.Input{Pod: pod, Job: scaleJob(), Attempt: 1}); v.Action != "Count" || v.Policy != "team-7" {
		t.Errorf("the verdict is %+v", v)
	}
	if r.version("team-8") != nil {
		t.Error("a policy that is gone is remembered")
	}
}

// TestLastGoodIsCompiledOnce checks that the last good version of a broken policy is not compiled again with every build.
func TestLastGoodIsCompiledOnce(t *testing.T) {
	r := registryOf(t, 1)
	p := scalePolicy("team-0", "Ignore")
	p.Status.LastGood = &v1alpha1.LastGood{Generation: 1, Spec: *p.Spec.DeepCopy()}
	p.Generation, p.Spec.Rules[0].When = 2, "pod"
	fixtures.Put(t, r.policies.GetIndexer().Update(p))
	r.build(t.Context())
	first := r.version("team-0")
	if first.InForce == nil || first.InForceGeneration != 1 {
		t.Fatalf("in force is %+v", first)
	}
	fixtures.Put(t, r.policies.GetIndexer().Add(scalePolicy("team-1", "Ignore")))
	r.build(t.Context())
	if again := r.version("team-0"); again.InForce != first.InForce {
		t.Error("it is compiled again")
	}
}

func BenchmarkRegistry(b *testing.B) {
	const many = 2000
	b.Run("first build", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r := registryOf(b, many)
			b.StartTimer()
			r.build(context.Background())
		}
	})
	r := registryOf(b, many)
	r.build(b.Context())
	b.Run("build after a change", func(b *testing.B) {
		p := scalePolicy("team-7", "Ignore")
		for b.Loop() {
			p = p.DeepCopy()
			p.Generation++
			fixtures.Put(b, r.policies.GetIndexer().Update(p))
			r.build(b.Context())
		}
	})
	b.Run("selection", func(b *testing.B) {
		job := scaleJob()
		b.ReportAllocs()
		for b.Loop() {
			if s := selectionOf(b, r, job); s.Empty() {
				b.Fatal("nothing is selected")
			}
		}
	})
}
