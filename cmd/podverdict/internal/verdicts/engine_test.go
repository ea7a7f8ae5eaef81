package verdicts

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	embedded "github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

var comparedVerdicts = flag.Int("engine-verdicts", 100_000, "how many generated verdicts of the engine are compared with eval's")

// both holds eval's planner and the embeddable engine, with the same policies.
type both struct {
	planner  *Planner
	engine   *embedded.Engine
	verdicts int
	plans    map[planOf]*planned
}

type planOf struct {
	job      *batchv1.Job
	enforced bool
}

// planned is eval's plan of a Job, which is reused, or the error in the Job.
type planned struct {
	plan  *Plan
	wrong error
}

// planOf returns the plan of a Job, which may be nil.
func (b *both) planOf(t *testing.T, job *batchv1.Job, enforced bool) *planned {
	t.Helper()
	of := planOf{job, enforced}
	if b.plans[of] == nil {
		given := noJob("default")
		if job != nil {
			given = &manifest.Job{Object: job.DeepCopy(), Origin: manifest.Origin{Document: &manifest.Document{}}}
			if enforced {
				given.Object.Spec.ManagedBy = new(v1alpha1.JobController)
			}
		}
		made, wrong := b.planner.Plan(t.Context(), *given)
		if wrong != nil {
			made = &Plan{Planner: b.planner}
		}
		made.Stored = given.Stored()
		b.plans[of] = &planned{made, wrong}
	}
	return b.plans[of]
}

func newBoth(t *testing.T, policies ...*v1alpha1.PodFailurePolicy) *both {
	t.Helper()
	set := &manifest.Set{}
	for _, p := range policies {
		set.Policies = append(set.Policies, manifest.Policy{Object: p})
	}
	planner, err := NewPlanner(&cli.Console{Stderr: io.Discard}, compiler.DefaultVersion, effective.FromFiles(set), nil)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := embedded.New(policies...)
	if err != nil {
		t.Fatal(err)
	}
	return &both{planner: planner, engine: engine, plans: map[planOf]*planned{}}
}

// compare judges a Job's Pods with both, with policies enforced and not enforced. The Job may be nil. The engine judges each Pod with all
// others as earlier Pods; eval judges them together.
func (b *both) compare(t *testing.T, job *batchv1.Job, pods ...*corev1.Pod) {
	t.Helper()
	for _, enforced := range []bool{true, false} {
		of := b.planOf(t, job, enforced)
		judged := make([]manifest.Pod, len(pods))
		for i, pod := range pods {
			judged[i].Object = pod
		}
		stored := of.plan.Stored
		var items []Item
		if of.wrong == nil {
			of.plan.setPods(judged)
			items = of.plan.Judge(t.Context(), time.Unix(1_800_000_000, 0)).Items
		}
		if job == nil && (!enforced || of.plan.noRules != "") {
			return // eval prints no action when nothing decides
		}
		if job == nil {
			stored = nil
		}
		for i, pod := range pods {
			options := []embedded.Option{embedded.Enforced(enforced)}
			if len(pods) > 1 {
				options = append(options, embedded.Earlier(pods...))
			}
			got, err := b.engine.Judge(t.Context(), stored, pod, options...)
			if (err != nil) != (of.wrong != nil) {
				t.Fatalf("enforced %t: engine %v, eval %v", enforced, err, of.wrong)
			}
			if b.verdicts++; err == nil && !got.Equal(items[i].Verdict) {
				t.Fatalf("enforced %t, Pod %s of %d:\nengine %+v\neval   %+v", enforced, pod.Name, len(pods), got, items[i].Verdict)
			}
		}
	}
}

func TestEngineSaysWhatEvalSaysOfVectors(t *testing.T) {
	all, err := vectors.Verdicts()
	if err != nil {
		t.Fatal(err)
	}
	alone, custom := newBoth(t), newBoth(t, drawPolicies(rand.New(rand.NewPCG(1, 1)), 3)...)
	for _, v := range all {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: v.Pod.Namespace, Name: "job"}}
		job.Spec.PodFailurePolicy = v.Policy
		alone.compare(t, job, v.Pod)
		custom.compare(t, job, v.Pod)
	}
	if alone.verdicts != 2*len(all) || len(all) < 50 {
		t.Errorf("%d verdicts on %d vectors", alone.verdicts, len(all))
	}
}

// Generated policies and Pods: one in four Jobs violates API server validation, and one in four Pods has siblings.
func TestEngineSaysWhatEvalSays(t *testing.T) {
	want := *comparedVerdicts
	if testing.Short() {
		want = 10_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	usual, hostile := generators.NewPairs(1, false), generators.NewPairs(1, true)
	verdicts := 0
	for round := 0; verdicts < want; round++ {
		b := newBoth(t, drawPolicies(r, round%4)...)
		for range 10 {
			pairs := usual
			if r.IntN(4) == 0 {
				pairs = hostile
			}
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "1"}}
			job.Spec.PodFailurePolicy = pairs.Policy()
			if r.IntN(2) == 0 {
				job.Spec.CompletionMode, job.Spec.Completions = new(batchv1.IndexedCompletion), new(int32(3))
			}
			for i := range want/2000 + 4 {
				b.compare(t, job, usual.Pod())
				b.compare(t, job, hostile.Pod())
				if i%4 == 0 {
					b.compare(t, job, drawFamily(r, usual)...)
				}
			}
			b.compare(t, nil, usual.Pod())
		}
		verdicts += b.verdicts
	}
}

// drawFamily returns two to four Pods that ran sequentially or in parallel.
func drawFamily(r *rand.Rand, pairs *generators.Pairs) []*corev1.Pod {
	pods := make([]*corev1.Pod, 2+r.IntN(3))
	for i := range pods {
		pod := pairs.Pod().DeepCopy()
		pod.Name, pod.Namespace = fmt.Sprintf("train-%d-%d", i%2, i), "default"
		pod.CreationTimestamp = metav1.Unix(int64(r.IntN(10)), 0)
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(r.IntN(2))}
		for j := range pod.Status.ContainerStatuses {
			if ended := pod.Status.ContainerStatuses[j].State.Terminated; ended != nil {
				ended.FinishedAt = metav1.Unix(int64(r.IntN(10)), 0)
			}
		}
		pods[i] = pod
	}
	return pods
}

// drawPolicies returns policies that read all properties in which the Pods differ.
func drawPolicies(r *rand.Rand, n int) []*v1alpha1.PodFailurePolicy {
	whens := []string{
		"pod.failedContainers().exists(c, c.exitCode == 42)", "pod.failedContainers().exists(c, c.exitCode.between(128, 159))",
		"pod.hasCondition('DisruptionTarget')", "pod.metadata.name.startsWith('train')", "attempt == 2", "attempt > 1 && pod.restarts() == 0",
		"attempts.exists(a, a.exitCode == 1)", "size(attempts) > 1", "job.metadata.name == 'train' && pod.containers().size() > 2",
		"pod.status.containerStatuses[0].state.terminated.exitCode == 1", "variables.codes.exists(c, c == 3)",
	}
	actions := []batchv1.PodFailurePolicyAction{"FailJob", "FailIndex", "Ignore", "Count"}
	policies := make([]*v1alpha1.PodFailurePolicy, n)
	for i := range policies {
		p := &v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("policy-%d", i)}}
		p.Spec.FailurePolicy = []v1alpha1.FailurePolicy{"Ignore", "Fail"}[r.IntN(2)]
		p.Spec.Variables = []v1alpha1.Variable{{Name: "codes", Expression: "pod.failedContainers().map(c, c.exitCode)"}}
		if r.IntN(4) == 0 {
			p.Spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "indexed", Expression: "job.spec.?completionMode.orValue('') == 'Indexed'"}}
		}
		for j := range 1 + r.IntN(3) {
			rule := v1alpha1.Rule{Name: fmt.Sprintf("rule-%d", j), When: whens[r.IntN(len(whens))], Action: actions[r.IntN(4)]}
			if r.IntN(2) == 0 {
				rule.Reason, rule.MessageExpression = "Because", "pod.metadata.name + ' ' + string(attempt)"
			}
			if r.IntN(2) == 0 && rule.Action != "FailJob" {
				rule.Budget = &v1alpha1.Budget{Limit: int32(1 + r.IntN(2)), Per: []v1alpha1.BudgetScope{"Job", "Index"}[r.IntN(2)], Then: "FailJob"}
			}
			p.Spec.Rules = append(p.Spec.Rules, rule)
		}
		p.SetDefaults()
		policies[i] = p
	}
	return policies
}
