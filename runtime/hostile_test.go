package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
)

// hostileJob returns a Job with n of everything that its author can repeat.
func hostileJob(n int) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Labels: map[string]string{}, Annotations: map[string]string{"long": strings.Repeat("a", n)}}}
	parallelism := int32(1 << 30)
	job.Spec.Parallelism = &parallelism
	spec := &job.Spec.Template.Spec
	main := corev1.Container{Name: "main", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{}}}
	for i := range n {
		name := fmt.Sprint(i)
		job.Labels[name], job.Annotations[name] = "v", "v"
		job.OwnerReferences = append(job.OwnerReferences, metav1.OwnerReference{Name: name})
		main.Env = append(main.Env, corev1.EnvVar{Name: "E" + name})
		main.Args = append(main.Args, name)
		main.Resources.Limits[corev1.ResourceName(name)] = resource.MustParse("1")
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: name})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name})
	}
	spec.Containers = []corev1.Container{main}
	return job
}

// hostileConditions iterate over the contents of hostileJob once, or with a call that reads all of it.
var hostileConditions = []string{
	"job.spec.template.spec.containers.all(c, c.?env.orValue([]).all(e, e.name != 'OPT_OUT'))",
	"!job.spec.template.spec.containers[0].env.exists(e, e.name == 'OPT_OUT' || e.?value.orValue('') == 'x')",
	"job.spec.template.spec.containers[0].env.filter(e, e.name.startsWith('X')).size() == 0",
	"job.spec.template.spec.containers[0].env.map(e, e.name).size() > 0",
	"job.spec.template.spec.containers[0].env.exists_one(e, e.name == 'E1')",
	"job.spec.template.spec.containers[0].env.all(i, e, i >= 0 && e.name != '')",
	"job.spec.template.spec.containers[0].env.transformList(i, e, e.name).size() > 0",
	"job.spec.template.spec.containers[0].env.all(e, job.spec.template.spec.containers[0].env.size() > 0)",
	"job.spec.template.spec.containers[0].env.all(e, job.metadata.annotations.exists(k, k != ''))",
	"job.spec.template.spec.containers[0].env.all(e, job.spec.template.spec.volumes.exists(v, v.name != ''))",
	"job.spec.template.spec.containers[0].env.all(e, size(job.metadata.annotations['long']) > 0)",
	"job.spec.template.spec.containers[0].env.all(e, job.metadata.annotations['long'] == job.metadata.annotations['long'])",
	"job.spec.template.spec.containers[0].env.all(e, e in job.spec.template.spec.containers[0].env)",
	"job.spec.template.spec.containers[0].args.all(a, a in job.spec.template.spec.containers[0].args)",
	"job.spec.template.spec.containers[0].args.all(a, job.spec.template.spec.containers[0].args.join(',') != '')",
	"job.spec.template.spec.containers[0].resources.limits.all(k, quantity(job.spec.template.spec.containers[0].resources.limits[k]).isInteger())",
	"job.metadata.annotations.all(k, k != 'opt-out')",
	"job.metadata.labels.all(k, v, k != v)",
	"job.metadata.labels.all(k, job.metadata.annotations.exists(a, a != k))",
	"job.metadata.ownerReferences.all(r, r.name != 'x')",
	"job.spec.template.spec.tolerations.all(t, t.?key.orValue('') != 'x')",
	"job.spec.template.spec.volumes == job.spec.template.spec.volumes",
	"job.spec.template.spec.volumes.all(v, job.spec == job.spec)",
	"job.spec.template.spec.volumes.map(v, v.name).distinct().size() > 0",
	"sets.contains(job.spec.template.spec.volumes.map(v, v.name), job.spec.template.spec.volumes.map(v, v.name))",
	"job.metadata.annotations['long'].matches(job.metadata.annotations['long'] + 'b')",
	"job.metadata.annotations['long'].matches('(((a{100}){100})' + job.metadata.name + ')')",
	"job.metadata.annotations['long'].indexOf(job.metadata.annotations['long'] + 'b') < 0",
	"job.metadata.annotations['long'].replace('', job.metadata.annotations['long']).size() > 0",
	"job.metadata.annotations['long'].split('').size() > 0",
	"'%s'.format([job.metadata.annotations]) != ''",
	"lists.range(job.spec.parallelism).size() > 0",
	"job.metadata.annotations['long'].split('').all(s, s != 'x')",
}

// took returns the shortest of several evaluation times of a condition on a Job. The evaluation must return a result or
// exceed its cost limit.
func took(t *testing.T, p *runtime.Policy, job *batchv1.Job) time.Duration {
	t.Helper()
	shortest := time.Hour
	for range 3 {
		start := time.Now()
		_, err := p.Applies(context.Background(), job)
		shortest = min(shortest, time.Since(start))
		var failed *runtime.EvaluationError
		if err != nil && (!errors.As(err, &failed) || failed.Cause() != runtime.CauseCost) {
			t.Fatal(err)
		}
	}
	return shortest
}

// TestHostileJobs evaluates each condition on a Job and on one of four times its size. A time quadratic in the size
// would be sixteen times as long, and end at the time limit, which no evaluation here may reach.
func TestHostileJobs(t *testing.T) {
	env := newEnvironment(t)
	small, large := hostileJob(draws(5_000, 100)), hostileJob(draws(20_000, 200))
	for _, text := range hostileConditions {
		spec := rules("true")
		spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: text}}
		p, err := newPolicy(env, spec)
		if err != nil {
			t.Logf("refused: %s: %v", text, err)
			continue
		}
		a, b := took(t, p, small), took(t, p, large)
		t.Logf("%10v %10v %s", a, b, text)
		if b > 8*a+400*time.Millisecond {
			t.Errorf("%s: took %v, and %v for a Job of four times the size", text, a, b)
		}
	}
}

// TestLongListsHaveAnAnswer checks that the longest list that a Job can have is searched to its end.
func TestLongListsHaveAnAnswer(t *testing.T) {
	job := &batchv1.Job{}
	main := corev1.Container{Name: "main", Env: make([]corev1.EnvVar, 60_000)}
	job.Spec.Template.Spec.Containers = []corev1.Container{main}
	spec := rules("job.spec.template.spec.containers.exists(c, c.?env.orValue([]).exists(e, e.name == 'OPT_OUT'))", "true")
	spec.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: "job.spec.template.spec.containers.all(c, c.?env.orValue([]).all(e, e.name != 'OPT_OUT'))"}}
	policy := compilePolicy(t, newEnvironment(t), spec)
	if applies, err := policy.Applies(t.Context(), job); !applies || err != nil {
		t.Errorf("applies %t, %v", applies, err)
	}
	if match, err := policy.Evaluate(t.Context(), runtime.Input{Pod: exitCode(1), Job: job, Attempt: 1}); match.Rule != 1 || err != nil {
		t.Errorf("rule %d, %v", match.Rule, err)
	}
	main.Env[59_999].Name = "OPT_OUT"
	if applies, err := policy.Applies(t.Context(), job); applies || err != nil {
		t.Errorf("applies %t, %v to a Job that opts out", applies, err)
	}
}

// TestPricesAreThoseOfCEL checks that on objects of ordinary size, an evaluation costs about what CEL's own tracker
// counts.
func TestPricesAreThoseOfCEL(t *testing.T) {
	env := newEnvironment(t)
	compared := 0
	for seed := range uint64(draws(400, 80)) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := (&writer{Rand: r}).bool(r.IntN(4))
		policy, err := newPolicy(env, rules(text))
		if err != nil {
			continue
		}
		checked, issues := env.LivingRules.Compile(text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.LivingRules.Program(checked)
		if err != nil {
			t.Fatal(err)
		}
		in := runtime.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: 1, Now: someTime}
		in.Pod.Status.Phase = corev1.PodFailed
		_, details, err := program.Eval(map[string]any{"pod": in.Pod, "job": in.Job, "attempt": in.Attempt, "now": in.Now})
		if err != nil {
			continue
		}
		compared++
		if got, want := policy.ActualCost(0, in), *details.ActualCost(); got < want/2 || got > 4*want+64 {
			t.Errorf("%s cost %d, and %d by CEL's tracker", text, got, want)
		}
	}
	if compared < draws(200, 40) {
		t.Errorf("only %d expressions were compared", compared)
	}
}
