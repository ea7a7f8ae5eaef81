package runtime_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
)

const (
	containersRead = "Container.name Container.restartPolicy ContainerState.running ContainerState.terminated ContainerState.waiting " +
		"ContainerStateTerminated.exitCode ContainerStatus.name ContainerStatus.state " +
		"Pod.spec Pod.status PodSpec.initContainers PodStatus.containerStatuses PodStatus.initContainerStatuses"
	podLabels = "ObjectMeta.labels Pod.metadata"
	nodeName  = "Node.metadata ObjectMeta.name"
)

// TestReads checks the fields that rules read, by type and field.
func TestReads(t *testing.T) {
	env := newEnvironment(t)
	for when, want := range map[string]struct{ pod, job, node string }{
		"attempt > 3":                                     {},
		"pod.metadata.name == 'a'":                        {pod: "ObjectMeta.name Pod.metadata"},
		"has(pod.metadata.labels.team)":                   {pod: podLabels},
		"pod.metadata.labels[?'team'].orValue('') == 'a'": {pod: podLabels},
		"pod.metadata.?labels[?'team'].hasValue()":        {pod: podLabels},
		"job.metadata.labels['team'] == 'a'":              {job: "Job.metadata ObjectMeta.labels"},
		"pod.metadata.labels == job.metadata.labels":      {pod: podLabels, job: "Job.metadata ObjectMeta.labels"},
		"pod.spec.volumes.size() > 3":                     {pod: "Pod.spec PodSpec.volumes"},
		"pod.spec.containers.exists(c, c.image == 'a')":   {pod: "Container.image Pod.spec PodSpec.containers"},
		"pod.spec.containers[0].image == 'a'":             {pod: "Container.image Pod.spec PodSpec.containers"},
		"pod.spec.containers.filter(c, c.tty).map(c, c.name).size() == 1": {
			pod: "Container.name Container.tty Pod.spec PodSpec.containers",
		},
		"(pod.spec.containers + pod.spec.initContainers).all(c, c.tty)": {
			pod: "Container.tty Pod.spec PodSpec.containers PodSpec.initContainers",
		},
		"job.?spec.podFailurePolicy.hasValue()":                                  {job: "Job.spec JobSpec.podFailurePolicy"},
		"pod.?spec.affinity.optMap(a, has(a.nodeAffinity)) == optional.of(true)": {pod: "Affinity.nodeAffinity Pod.spec PodSpec.affinity"},
		// Containers and conditions.
		"pod.failedContainers().exists(c, c.exitCode == 3)": {pod: containersRead},
		"pod.containers().exists(c, c.image == 'a')":        {pod: "ContainerStatus.image " + containersRead},
		"pod.hasCondition('DisruptionTarget')":              {pod: "Pod.status PodCondition.status PodCondition.type PodStatus.conditions"},
		"pod.condition('DisruptionTarget').reason == 'a'":   {pod: "Pod.status PodCondition.reason PodCondition.type PodStatus.conditions"},
		"job.failedIndexCount() > 1":                        {job: "Job.status JobStatus.failedIndexes"},
		// If a value cannot be tracked, all of its fields are read.
		"dyn(pod).metadata.name == 'a'":                    {pod: "Pod.*"},
		"[dyn(1), dyn(pod)].size() == 2":                   {pod: "Pod.*"},
		"{'a': pod.spec}.size() == 2":                      {pod: "Pod.spec"},
		"pod.spec == job.spec.template.spec":               {pod: "Pod.spec PodSpec.*", job: "Job.spec JobSpec.template PodSpec.* PodTemplateSpec.spec"},
		"pod.spec.volumes.distinct().size() == 1":          {pod: "Pod.spec PodSpec.volumes Volume.*"},
		"pod.spec.volumes[0] in pod.spec.volumes":          {pod: "Pod.spec PodSpec.volumes Volume.*"},
		"pod.containers()[0] in variables.oom":             {pod: "ContainerStateTerminated.message ContainerStateTerminated.reason ContainerStateTerminated.signal ContainerStateWaiting.message ContainerStateWaiting.reason ContainerStatus.image ContainerStatus.lastState ContainerStatus.restartCount " + containersRead},
		"optional.ofNonZeroValue(pod.metadata).hasValue()": {pod: "ObjectMeta.* Pod.metadata"},
		// A variable that contains a part of an object refers to that object. Other variables do not.
		"variables.meta.labels.size() == 0":                      {pod: "ObjectMeta.labels Pod.metadata"},
		"variables.any && job.metadata.labels.size() == 0":       {pod: containersRead, job: "Job.metadata ObjectMeta.labels"},
		"variables.meta.name == 'a' && has(job.metadata.labels)": {pod: "ObjectMeta.name Pod.metadata", job: "Job.metadata ObjectMeta.labels ObjectMeta.name"},
		// Only the fields that are read of the node are included. Reading a node's labels does not make caches keep pods'
		// labels.
		"node.hasValue()":                      {node: nodeName},
		"node.ready()":                         {node: nodeName + " Node.status NodeCondition.status NodeCondition.type NodeStatus.conditions"},
		"pod.node().hasTaint('a')":             {node: nodeName + " Node.spec NodeSpec.taints Taint.key"},
		"node.label(pod.metadata.name) == 'a'": {pod: "ObjectMeta.name Pod.metadata", node: nodeName + " ObjectMeta.labels"},
		"node.?spec.?unschedulable.orValue(false) && pod.spec.hostNetwork": {pod: "Pod.spec PodSpec.hostNetwork", node: nodeName + " Node.spec NodeSpec.unschedulable"},
		"node.spec.taints.orValue([]).exists(t, t.effect == 'a')":          {node: nodeName + " Node.spec NodeSpec.taints Taint.effect"},
		"dyn(node) == dyn(1)":        {node: nodeName + " Node.*"},
		"[1].exists(node, node > 1)": {},
	} {
		spec := inCorner(when)
		spec.Variables = slices.DeleteFunc(append(spec.Variables, v1alpha1.Variable{Name: "meta", Expression: "pod.metadata"}), func(v v1alpha1.Variable) bool {
			return !strings.Contains(when, "variables."+v.Name)
		})
		policy, err := newPolicy(env, spec)
		if err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		for name, got := range map[string]struct {
			fields cel.Fields
			want   string
		}{"pod": {policy.Compiled.Reads.Pod, want.pod}, "job": {policy.Compiled.Reads.Job, want.job}, "node": {policy.Compiled.Reads.Node, want.node}} {
			fields, want := slices.Sorted(maps.Keys(got.fields)), strings.Fields(got.want)
			slices.Sort(want)
			if strings.Contains(when, "variables.oom") { // its own reads are a subset of these
				want = slices.Compact(want)
			}
			if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(fields, "\n")); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", when, name, diff)
			}
		}
	}
}

// escapes are rules in which values are difficult to track.
var escapes = []string{
	"dyn(pod).status.reason == 'main'", "dyn(pod.spec).nodeName == 'main'", "[dyn(pod), dyn(job)].exists(o, o.metadata.name == 'main')",
	"dyn(pod.status.containerStatuses).exists(c, c.image == 'main')", "{'a': pod.spec}['a'].nodeName == 'main'",
	"(attempt > 1 ? pod.metadata : job.metadata).annotations.size() == 1", "pod.metadata == job.metadata || pod.spec != job.spec.template.spec",
	"[pod.metadata, job.metadata].exists(m, m.generateName == 'main')", "pod.spec.containers.map(c, c).exists(c, c.workingDir == 'a')",
	"pod.spec.containers.transformList(i, c, c.ports).exists(p, p.size() > 1)", "pod.spec.volumes.distinct().size() == 1",
	"pod.spec.containers.sortBy(c, c.name).exists(c, c.workingDir == 'main')", "pod.spec.containers.slice(0, 1)[0].tty",
	"pod.spec.containers.map(c, {'all': c}).exists(m, m.all.stdin)", "pod.spec.containers.map(c, [c, c]).flatten().exists(c, c.stdin)",
	"[pod.spec.containers, pod.spec.initContainers].flatten().exists(c, c.stdinOnce)", "pod.spec.containers.first().value().tty",
	"pod.?spec.affinity.optMap(a, a).hasValue() && !has(pod.spec.affinity.podAffinity)", "pod.spec.?affinity.optFlatMap(a, a.?podAffinity).hasValue()",
	"optional.of(pod.spec).value().hostname == 'main'", "optional.ofNonZeroValue(pod.spec.securityContext).hasValue()",
	"[?pod.?spec.affinity, ?pod.spec.?affinity].size() == 2", "optional.none().or(optional.of(pod.spec)).value().hostIPC",
	"pod.containers()[0] == pod.failedContainers()[0]", "pod.containers()[0] in variables.oom", "variables.oom.exists(c, c.message == 'main')",
	"variables.oom == pod.containers()", "pod.condition('main') == pod.condition('True')", "dyn(pod).containers().exists(c, dyn(c).image == 'a')",
	"[pod].exists(p, p.containers().exists(c, c.signal == 1))", "pod.spec.containers.exists(c, c.env.exists(e, e.value == 'main'))",
	"pod.spec.containers.exists(c, has(c.lifecycle.preStop.exec) && c.lifecycle.preStop.exec.command.size() > 0)",
	"pod.spec.containers.exists(c, c.resources.limits.filter(k, c.resources.limits[k] == '1Gi').size() > 0)", "pod.spec.volumes.exists(v, has(v.emptyDir))",
	"pod.status.containerStatuses.exists(c, c.lastState == c.state)", "pod.metadata.ownerReferences.exists(o, o.controller)",
	"pod.spec.containers.exists_one(c, c == pod.spec.containers[0])", "pod.neverStarted()", "pod.unschedulable()", "pod.waitingReasons().size() > 1",
	"pod.metadata.creationTimestamp == job.metadata.creationTimestamp", "string(pod.status.startTime) == string(job.status.startTime)",
}

// policiesToRead returns all policies in the repository and additional ones.
func policiesToRead(t *testing.T, env *compiler.Environment) map[string]*v1alpha1.PodFailurePolicySpec {
	t.Helper()
	all := map[string]*v1alpha1.PodFailurePolicySpec{}
	for _, when := range slices.Concat(corners, escapes) {
		all[when] = inCorner(when)
	}
	for i, spec := range fixtures.SpecsIn(t, "../compiler/custom/testdata/findings") {
		if _, err := newPolicy(env, &spec); err == nil {
			all[fmt.Sprint("golden ", i)] = &spec
		}
	}
	for seed := range uint64(30) {
		spec := randomPolicy(rand.New(rand.NewPCG(seed, 21)))
		if _, err := newPolicy(env, spec); err == nil {
			all[fmt.Sprint("random ", seed)] = spec
		}
	}
	files, err := filepath.Glob("../examples/*/*/policy.yaml")
	if err != nil || len(files) < 11 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var policy v1alpha1.PodFailurePolicy
		if err := yaml.Unmarshal(text, &policy); err != nil {
			t.Fatal(err)
		}
		policy.SetDefaults()
		all[file] = &policy.Spec
	}
	return all
}

// TestReadsAreEnough checks that a policy has the same results on objects reduced to the fields that it reads as on whole
// objects: verdicts, messages, errors, explanations and costs.
func TestReadsAreEnough(t *testing.T) {
	env, s := newEnvironment(t), cel.Load()
	smaller, outcomes := 0, map[string]bool{}
	for name, spec := range policiesToRead(t, env) {
		policy, err := newPolicy(env, spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kept := cel.NewFields("Pod.status", "PodStatus.phase", // selects the rules; the other fields appear in explanations
			"PodStatus.containerStatuses", "PodStatus.initContainerStatuses", "PodStatus.conditions", "PodCondition.type", "PodCondition.status",
			"ContainerStatus.name", "ContainerStatus.state", "ContainerState.running", "ContainerState.terminated", "ContainerState.waiting",
			"ContainerStateTerminated.exitCode")
		kept.AddAll(policy.Compiled.Reads.Pod)
		pods := s.Pruner(s.Pod, kept)
		jobs, nodes := s.Pruner(s.Job, policy.Compiled.Reads.Job), s.Pruner(s.Node, policy.Compiled.Reads.Node)
		for seed := range uint64(draws(30, 2)) {
			r := rand.New(rand.NewPCG(seed, 22))
			in := runtime.Input{Pod: plausiblePod(r), Job: plausibleJob(r), Attempt: int64(1 + r.IntN(3)), Now: someTime.Add(1e9 * 700), Node: plausibleNode(r)}
			if seed%2 == 0 {
				in.Pod, in.Job = randomPod(r), randomObject[batchv1.Job](r)
			}
			if seed%3 == 0 { // a container that has run before
				in.Pod.Status.InitContainerStatuses = nil
				in.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", LastTerminationState: plausibleStatus(r, "").State}}
			}
			less := in
			less.Pod, less.Job = in.Pod.DeepCopy(), in.Job.DeepCopy()
			pods.Prune(less.Pod)
			jobs.Prune(less.Job)
			if less.Node = in.Node.DeepCopy(); less.Node != nil {
				nodes.Prune(less.Node)
			}
			if less.Pod.Size() < in.Pod.Size() {
				smaller++
			}
			got, want := everything(t, policy, less), everything(t, policy, in)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-whole +kept):\n%s\n%v", name, diff, slices.Sorted(maps.Keys(policy.Compiled.Reads.Pod)))
			}
			outcomes[want] = true
		}
	}
	if least := draws(1000, 40); smaller < least || len(outcomes) < least {
		t.Errorf("only %d pods have lost something, and %d outcomes are different", smaller, len(outcomes))
	}
}

// everything returns all results of a policy for a Pod and a Job.
func everything(t *testing.T, policy *runtime.Policy, in runtime.Input) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(outcome(t.Context(), policy, in) + "\n" + outcome(t.Context(), policy.Interpreted(), in) + "\n")
	applies, err := policy.Applies(t.Context(), in.Job)
	fmt.Fprintln(&b, applies, err)
	rules, err := policy.Explain(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	conditions, err := policy.ExplainConditions(t.Context(), in.Job)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%+v\n%+v\n", rules, conditions)
	return b.String()
}
