package caches

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
)

// documentsOf returns the objects of a kind from the YAML of the repository's examples, tests and scenarios.
func documentsOf[T any](t *testing.T, kind string) []T {
	t.Helper()
	var texts []string
	for _, pattern := range []string{
		"../../../examples/*/*/*.yaml", "../../../examples/*/*.yaml", "../../../conformance/cluster/*/testdata/*.yaml",
		"../../../cmd/podverdict/testdata/*/*.txtar", "../../../conformance/cluster/life/scenarios/*/*.txtar",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			fixtures.Put(t, err)
			if !strings.HasSuffix(file, ".txtar") {
				texts = append(texts, string(text))
				continue
			}
			for _, f := range txtar.Parse(text).Files {
				texts = append(texts, string(f.Data))
			}
		}
	}
	var all []T
	of := regexp.MustCompile(`(?m)^kind: *` + kind + ` *$`)
	for _, text := range texts {
		for document := range strings.SplitSeq(text, "\n---\n") {
			var object T
			if of.MatchString(document) && yaml.Unmarshal([]byte(document), &object) == nil {
				all = append(all, object)
			}
		}
	}
	return all
}

// policiesOf returns all policies in the repository, and some that read more of a pod than the controller needs.
func policiesOf(t *testing.T) []v1alpha1.PodFailurePolicy {
	t.Helper()
	policies := append(documentsOf[v1alpha1.PodFailurePolicy](t, v1alpha1.KindPodFailurePolicy), *typicalPolicy())
	for _, when := range []string{
		"dyn(pod).metadata.labels['app'] == 'train' && dyn(pod).status.message == 'a message'", "pod.metadata.annotations.size() > 1",
		"pod.metadata.labels['app'] == 'train'", "pod.metadata.ownerReferences.size() == 2", "pod.spec.initContainers.exists(c, c.name == 'init')",
		"pod.status.conditions.exists(c, c.message == 'ready')", "pod.metadata == job.metadata || pod.metadata.labels.size() == 2",
		"dyn(pod.spec).initContainers.size() == 2", "has(pod.metadata.managedFields)", "pod.metadata.?managedFields.orValue([]).size() > 0",
		"job.metadata.?annotations[?'note'].orValue('') == 'yes'", "job.spec.template.spec.containers[0].image == 'main'",
		"has(job.metadata.managedFields) || has(job.spec.selector)",
	} {
		for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodPending, corev1.PodRunning} {
			p := typicalPolicy()
			p.Spec.FailurePolicy = v1alpha1.FailurePolicyFail // makes errors visible
			p.Spec.Rules = []v1alpha1.Rule{{Name: "r", Phase: phase, When: when, Action: "Ignore"}}
			policies = append(policies, *p)
		}
	}
	return policies
}

// TestCachesKeepEnough checks that policies and the Job's own podFailurePolicy have the same results for cached objects as for complete
// ones.
func TestCachesKeepEnough(t *testing.T) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	fixtures.Put(t, err)
	own, err := fixtures.Program(fixtures.FailJobOn(42))
	fixtures.Put(t, err)
	pods, jobs := documentsOf[corev1.Pod](t, "Pod"), documentsOf[batchv1.Job](t, "Job")
	for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodPending, corev1.PodRunning} {
		pods = append(pods, *fullPod(phase, nil), *largePod(1, 1, phase))
	}
	noted := fixtures.OthersJob(fixtures.FailJobOn(42))
	noted.Annotations, noted.Spec.Selector = map[string]string{"note": "yes"}, &metav1.LabelSelector{}
	noted.Spec.Template.Spec = fullPod(corev1.PodFailed, nil).Spec
	jobs = slices.DeleteFunc(jobs, func(j batchv1.Job) bool { return plan.Managed(&j) })
	jobs = append(jobs[:3], *noted)
	said := map[string]bool{}
	policies := policiesOf(t)
	for n, p := range policies {
		p.SetDefaults()
		compiled, err := runtime.NewCustomPolicy(environment, &p)
		if err != nil {
			continue // some are invalid on purpose
		}
		caching := newCaching(true)
		caching.keep(compiled.Compiled.Reads, v1alpha1.LivingPhases...)
		program := runtime.Join([]*runtime.Policy{compiled}, own, nil)
		for i := range pods {
			pod, job := pods[i].DeepCopy(), jobs[(i+n/4)%len(jobs)].DeepCopy()
			pod.ManagedFields, job.ManagedFields = nil, nil
			share := 4 // fraction of all pairs that is tested, to limit the time
			if testing.Short() {
				share = 12
			}
			if rare := i >= len(pods)-6; !judgeable(pod, true) || !rare && (i+n)%share > 0 {
				continue
			}
			want := saidOf(t, program, compiled, runtime.Input{Pod: pod.DeepCopy(), Job: job.DeepCopy(), Attempt: 2, Now: time.Unix(2e9, 0)})
			caching.trimPod(pod)
			caching.trimJob(job)
			got := saidOf(t, program, compiled, Snapshot(job, snapshot.Rules{}, time.Unix(2e9, 0), snapshot.Pod{Object: pod, Attempt: 2}).Input(0))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("policy %s, pod %s, job %s (-whole +kept):\n%s", p.Name, pod.Name, job.Name, diff)
			}
			said[want] = true
		}
	}
	t.Logf("%d policies, %d pods, %d Jobs, %d different answers", len(policies), len(pods), len(jobs), len(said))
	if len(said) < 500 {
		t.Error("that is too little")
	}
}

// saidOf formats all results for a pod.
func saidOf(t *testing.T, program *runtime.Program, policy *runtime.Policy, in runtime.Input) string {
	t.Helper()
	verdict := program.Judge(t.Context(), in)
	pending, decided := policy.Living(t.Context(), in)
	applies, err := policy.Applies(t.Context(), in.Job)
	explanation, failed := program.Explain(t.Context(), in)
	fixtures.Put(t, failed)
	rules, failed := policy.Explain(t.Context(), in)
	fixtures.Put(t, failed)
	conditions, failed := policy.ExplainConditions(t.Context(), in.Job)
	fixtures.Put(t, failed)
	text, failed := json.MarshalIndent([]any{verdict, pending, explanation, rules, conditions}, "", " ")
	fixtures.Put(t, failed)
	return fmt.Sprintln(string(text), verdict.Message(), verdict.Err, pending.Message(), decided, applies, err, runtime.EndedBy(in.Pod), timesOf(in.Pod))
}

// timesOf returns the times of a pod's changes, from which the loops derive when it failed.
func timesOf(pod *corev1.Pod) []metav1.Time {
	times := []metav1.Time{pod.CreationTimestamp}
	for _, c := range pod.Status.Conditions {
		times = append(times, c.LastTransitionTime)
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.State.Terminated != nil {
			times = append(times, c.State.Terminated.FinishedAt)
		}
	}
	return times
}
