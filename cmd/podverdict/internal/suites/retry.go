package suites

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
)

// nextAttempt describes the Pod that follows the Pod of a case.
type nextAttempt struct {
	spec   corev1.PodSpec
	avoids []string // excluded nodes
}

// next returns the next attempt, changed by the retries of the case and of the earlier attempts that name a rule. It returns nil if there
// is no next attempt.
func (t *trial) next(o decision) *nextAttempt {
	v, job := o.verdict, t.judge.job
	indexFails := v.Action == batchv1.PodFailurePolicyActionFailIndex && job.Spec.BackoffLimitPerIndex != nil
	if !v.Terminal && !o.ended || v.Action == batchv1.PodFailurePolicyActionFailJob || indexFails {
		return nil
	}
	var retries plan.Retries
	for _, a := range slices.Backward(t.pod.Earlier) {
		retries = t.after(retries, a)
	}
	if v.Retry != nil {
		retries = retries.After(v, t.pod.Object)
	}
	spec, changes := retries.Mend(&job.Spec.Template.Spec)
	n := nextAttempt{spec: spec}
	for _, change := range changes {
		n.avoids = append(n.avoids, change.Avoid...)
	}
	return &n
}

// after applies the retry of an earlier attempt. An OOMKilled attempt is assumed to have had the same OOMKilled containers as the case, or
// the first container if the case has none.
func (t *trial) after(r plan.Retries, a cel.Attempt) plan.Retries {
	pod := t.pod.Object.DeepCopy()
	pod.Spec.NodeName = a.Node
	if !a.OOMKilled {
		pod.Status = corev1.PodStatus{}
	} else if len(cel.OOMKilled(pod)) == 0 {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name:  t.judge.job.Spec.Template.Spec.Containers[0].Name,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled"}},
		}}
	}
	for _, f := range t.judge.order {
		for i := range f.policy.Rules {
			if rule := &f.policy.Rules[i]; rule.Retry != nil && rule.Name == a.Rule && (a.Policy == "" || a.Policy == f.policy.Name) {
				r = r.After(runtime.Verdict{Policy: f.policy.Name, RuleName: rule.Name, Retry: rule.Retry}, pod)
			}
		}
	}
	return r
}

// check reports mistakes in the expectation, such as unknown containers.
func (e *expectedRetry) check(spec *corev1.PodSpec, field string, fail func(field, message string)) {
	if e.Memory == nil && e.Avoids == nil {
		fail(field, "expects nothing: give memory, avoids or both")
	}
	var known []string
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		known = append(known, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Memory)) {
		if !slices.Contains(known, name) {
			fail(manifest.FieldOfKey(field+".memory", name), cli.UnknownName("container", name, known))
		}
	}
}

// differences compares the next attempt with the expectation.
func (e *expectedRetry) differences(differ func(field, want, got string), o decision) {
	if o.next == nil {
		differ("retry", "a next attempt", "none: "+cmp.Or(string(o.verdict.Action), "the Pod has not failed"))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.Memory)) {
		want, got := e.Memory[name], plan.Memory(&o.next.spec, name)
		if want.Cmp(got) != 0 {
			differ("retry.memory."+name, want.String(), got.String())
		}
	}
	if list := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }; e.Avoids != nil && !slices.Equal(e.Avoids, o.next.avoids) {
		differ("retry.avoids", list(e.Avoids), list(o.next.avoids))
	}
}
