package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/kube/restart"
	"github.com/podverdict/podverdict/runtime"
)

// The files testdata/golden/lint-*.txtar show the findings. This test compares them with the behaviour of the rules on every pod
// of a small domain.

// lintPods returns all pods with one failure, or with two at different places, of the template's containers and of two
// conditions. More pods would not reveal more: 9 represents all codes that no rule lists.
func lintPods(template *corev1.PodSpec) []*corev1.Pod {
	var places [][]corev1.PodStatus
	for _, c := range template.InitContainers {
		places = append(places, failures(func(s *corev1.PodStatus, f corev1.ContainerStatus) {
			s.InitContainerStatuses = append(s.InitContainerStatuses, f)
		}, c.Name))
	}
	for _, c := range template.Containers {
		places = append(places, failures(func(s *corev1.PodStatus, f corev1.ContainerStatus) {
			s.ContainerStatuses = append(s.ContainerStatuses, f)
		}, c.Name))
	}
	for _, typ := range []corev1.PodConditionType{"A", "B"} {
		var conditions []corev1.PodStatus
		for _, status := range []corev1.ConditionStatus{"True", "False", "Unknown"} {
			conditions = append(conditions, corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: typ, Status: status}}})
		}
		places = append(places, conditions)
	}
	return combine(places)
}

func failures(add func(*corev1.PodStatus, corev1.ContainerStatus), name string) []corev1.PodStatus {
	statuses := make([]corev1.PodStatus, 4)
	for i, code := range []int32{1, 2, 137, 9} {
		add(&statuses[i], corev1.ContainerStatus{
			Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
		})
	}
	return statuses
}

func combine(places [][]corev1.PodStatus) []*corev1.Pod {
	var pods []*corev1.Pod
	for i, place := range places {
		for _, one := range place {
			pods = append(pods, failedPod(one, corev1.PodStatus{}))
			for _, otherPlace := range places[:i] {
				for _, other := range otherPlace {
					pods = append(pods, failedPod(one, other))
				}
			}
		}
	}
	return pods
}

func failedPod(a, b corev1.PodStatus) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{
		Phase:                 corev1.PodFailed,
		InitContainerStatuses: append(append([]corev1.ContainerStatus{}, a.InitContainerStatuses...), b.InitContainerStatuses...),
		ContainerStatuses:     append(append([]corev1.ContainerStatus{}, a.ContainerStatuses...), b.ContainerStatuses...),
		Conditions:            append(append([]corev1.PodCondition{}, a.Conditions...), b.Conditions...),
	}}
}

var lintJobs = rapid.Custom(func(t *rapid.T) *batchv1.Job {
	job := &batchv1.Job{}
	containers := [][]corev1.Container{{{Name: "main"}}, {{Name: "main"}, {Name: "side"}}}
	job.Spec.Template.Spec.Containers = rapid.SampledFrom(containers).Draw(t, "containers")
	if rapid.Bool().Draw(t, "init container") {
		job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup"}}
	}
	rules := rapid.SliceOfN(rapid.Custom(drawLintRule), 1, 5).Draw(t, "rules")
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules}
	return job
})

func drawLintRule(t *rapid.T) batchv1.PodFailurePolicyRule {
	actions := []batchv1.PodFailurePolicyAction{"FailJob", "Ignore", "Count"}
	r := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom(actions).Draw(t, "action")}
	if rapid.IntRange(0, 2).Draw(t, "selector") == 0 {
		r.OnPodConditions = rapid.SliceOfN(rapid.SampledFrom([]batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: "A", Status: "True"}, {Type: "A", Status: "False"}, {Type: "B", Status: "True"}, {Type: "B", Status: "Unknown"},
		}), 1, 3).Draw(t, "patterns")
		return r
	}
	r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{"In", "NotIn"}).Draw(t, "operator"),
		Values:   rapid.SliceOfNDistinct(rapid.SampledFrom([]int32{0, 1, 2, 137}), 1, 3, rapid.ID).Draw(t, "values"),
	}
	if rapid.Bool().Draw(t, "named") {
		name := rapid.SampledFrom([]string{"main", "side", "setup", "ghost"}).Draw(t, "container")
		r.OnExitCodes.ContainerName = &name
	}
	return r
}

// decisions records which rule decides each pod, and which rules match it.
type decisions struct {
	pods    []*corev1.Pod
	decides []int
	matches [][]bool // indexed by pod and rule
}

func decide(t *rapid.T, env *compiler.Environment, job *batchv1.Job) decisions {
	t.Helper()
	whole := newProgram(t, env, job.Spec.PodFailurePolicy.Rules)
	var alone []*runtime.Program
	for _, r := range job.Spec.PodFailurePolicy.Rules {
		alone = append(alone, newProgram(t, env, []batchv1.PodFailurePolicyRule{r}))
	}
	d := decisions{pods: lintPods(&job.Spec.Template.Spec)}
	for _, pod := range d.pods {
		d.decides = append(d.decides, whole.Evaluate(t.Context(), pod).Rule)
		matches := make([]bool, len(alone))
		for i, p := range alone {
			matches[i] = p.Evaluate(t.Context(), pod).Matched
		}
		d.matches = append(d.matches, matches)
	}
	return d
}

func newProgram(t *rapid.T, env *compiler.Environment, rules []batchv1.PodFailurePolicyRule) *runtime.Program {
	t.Helper()
	c, err := env.Compile(compiler.StoredPolicy(&batchv1.PodFailurePolicy{Rules: rules}))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.NewProgram(c)
}

// TestLint checks the findings against the behaviour of the rules. A rule is unreachable if it decides no pod. It is shadowed by
// another rule if that rule decides a pod with a different action, and the rule itself matches the pod by the same failure.
func TestLint(t *testing.T) {
	env := newEnvironment(t)
	unreachableRules, reachable, shadowed := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		job := lintJobs.Draw(t, "job")
		rules := job.Spec.PodFailurePolicy.Rules
		findings := compiler.Lint(job, kubeversion.Last)
		d := decide(t, env, job)

		unreachable := map[int]bool{}
		for _, f := range findings {
			checkFinding(t, f, len(rules))
			if f.Check == compiler.CheckUnreachable {
				unreachable[f.Rule] = true
			}
		}
		for i := range rules {
			if slices.Contains(d.decides, i) == unreachable[i] {
				t.Fatalf("rule %d: reported unreachable is %t", i, unreachable[i])
			}
		}
		unreachableRules += len(unreachable)
		reachable += len(rules) - len(unreachable)

		want := map[[2]int]bool{}
		for i, pod := range d.pods {
			for rule, matches := range d.matches[i] {
				by := d.decides[i]
				if single(pod) && matches && by < rule && rules[by].Action != rules[rule].Action && !unreachable[rule] {
					want[[2]int{rule, by}] = true
				}
			}
		}
		got := map[[2]int]bool{}
		for _, f := range findings {
			if f.Check == compiler.CheckShadowed {
				by := 0
				if _, err := fmt.Sscanf(f.Message, "rule %d (", &by); err != nil {
					t.Fatalf("%s: %v", f.Message, err)
				}
				got[[2]int{f.Rule, by}] = true
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("rules that are shadowed, and by which (-want +got):\n%s", diff)
		}
		shadowed += len(got)
	})
	if (unreachableRules == 0 || reachable == 0 || shadowed == 0) && !testing.Short() {
		t.Errorf("%d unreachable rules, %d others, %d shadowed: one kind was not drawn", unreachableRules, reachable, shadowed)
	}
}

func single(pod *corev1.Pod) bool {
	return len(pod.Status.InitContainerStatuses)+len(pod.Status.ContainerStatuses)+len(pod.Status.Conditions) == 1
}

// checkFinding checks that a finding can be displayed: it has the index of an existing rule and a field below it.
func checkFinding(t *rapid.T, f compiler.Finding, rules int) {
	t.Helper()
	known := f.Severity == compiler.Error || f.Severity == compiler.Warning
	if f.Rule >= rules || !strings.HasPrefix(f.Field, fmt.Sprintf("spec.podFailurePolicy.rules[%d]", f.Rule)) || f.Message == "" || f.Hint == "" || !known {
		t.Fatalf("%+v", f)
	}
}

func newEnvironment(t testing.TB) *compiler.Environment {
	t.Helper()
	env, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// TestLintOfRestarts checks findings against the kubelet's behaviour: for all combinations of container exits, no Pod fails and
// is decided by an exit code that is reported as restarting its container.
func TestLintOfRestarts(t *testing.T) {
	env := newEnvironment(t)
	hidden, decided := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		job := lintJobs.Draw(t, "job")
		for _, list := range [][]corev1.Container{job.Spec.Template.Spec.InitContainers, job.Spec.Template.Spec.Containers} {
			for i := range list {
				drawRestarts(t, &list[i])
			}
		}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		found := map[int]compiler.Finding{}
		for _, f := range compiler.Lint(job, kubeversion.Last) {
			if f.Check == compiler.CheckRestartedCode {
				checkFinding(t, f, len(job.Spec.PodFailurePolicy.Rules))
				found[f.Rule] = f
				hidden++
			}
		}
		program := newProgram(t, env, job.Spec.PodFailurePolicy.Rules)
		for _, pod := range exitedPods(&job.Spec.Template.Spec) {
			if pod.Status.Phase = restart.Phase(pod, false, true, restart.GatesOf(kubeversion.Last)); pod.Status.Phase != corev1.PodFailed {
				continue
			}
			v := program.Evaluate(t.Context(), pod)
			decided++
			_, on, _ := strings.Cut(found[v.Rule].Message, " in place on ")
			on, _, _ = strings.Cut(on, ", by ")
			if v.Matched && v.ExitCode != 137 && (strings.Contains(on, "every") || slices.Contains(strings.FieldsFunc(on, notDigit), fmt.Sprint(v.ExitCode))) {
				t.Fatalf("%s: %d of %s decides", found[v.Rule], v.ExitCode, v.Container)
			}
		}
	})
	if (hidden == 0 || decided == 0) && !testing.Short() {
		t.Errorf("%d findings, %d failed Pods: one kind was not drawn", hidden, decided)
	}
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

func drawRestarts(t *rapid.T, c *corev1.Container) {
	policy := rapid.SampledFrom([]corev1.ContainerRestartPolicy{"", "Never", "Never", "OnFailure"}).Draw(t, "policy")
	if policy == "" {
		return
	}
	c.RestartPolicy = &policy
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		c.RestartPolicyRules = append(c.RestartPolicyRules, corev1.ContainerRestartRule{
			Action: rapid.SampledFrom([]corev1.ContainerRestartRuleAction{"Restart", "RestartAllContainers"}).Draw(t, "restart"),
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: rapid.SampledFrom([]corev1.ContainerRestartRuleOnExitCodesOperator{"In", "NotIn"}).Draw(t, "of"),
				Values:   rapid.SliceOfN(rapid.SampledFrom([]int32{0, 1, 2, 137}), 1, 3).Draw(t, "codes"),
			},
		})
	}
}

// exitedPods returns the Pods of a template for all combinations of exit codes. If an init container fails, no other container
// starts.
func exitedPods(template *corev1.PodSpec) []*corev1.Pod {
	exits := func(name string) (statuses []corev1.ContainerStatus) {
		for _, code := range []int32{0, 1, 2, 137, 9} {
			s := corev1.ContainerStatus{Name: name}
			s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code}
			statuses = append(statuses, s)
		}
		return statuses
	}
	pods := []*corev1.Pod{{Spec: *template}}
	for _, c := range template.Containers {
		pods = each(pods, exits(c.Name), func(pod *corev1.Pod, s corev1.ContainerStatus) {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, s)
		})
	}
	for _, c := range template.InitContainers {
		pods = each(pods, exits(c.Name), func(pod *corev1.Pod, s corev1.ContainerStatus) {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, s)
			if s.State.Terminated.ExitCode != 0 {
				pod.Status.ContainerStatuses = nil
			}
		})
	}
	return pods
}

func each(pods []*corev1.Pod, statuses []corev1.ContainerStatus, add func(*corev1.Pod, corev1.ContainerStatus)) (all []*corev1.Pod) {
	for _, pod := range pods {
		for _, s := range statuses {
			with := pod.DeepCopy()
			add(with, s)
			all = append(all, with)
		}
	}
	return all
}
