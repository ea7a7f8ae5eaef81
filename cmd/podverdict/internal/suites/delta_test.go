package suites

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func podOf(t testing.TB, text string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(text), &pod); err != nil {
		t.Fatal(err)
	}
	return &pod
}

func treeOf(t testing.TB, text string) any {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

const mergedInto = `
metadata: {name: p, labels: {a: "1", b: "2"}, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  nodeName: n
  activeDeadlineSeconds: 5
  containers:
  - {name: main, image: one, args: [x, "y"], resources: {limits: {memory: 1Gi}}, ports: [{containerPort: 80, name: web}]}
  - {name: other, image: two}
status:
  phase: Failed
  reason: Evicted
  conditions:
  - {type: Ready, status: "False"}
  - {type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}
  containerStatuses:
  - {name: main, state: {terminated: {exitCode: 1, reason: Error}}}
  - {name: other, state: {running: {}}}
`

func TestDelta(t *testing.T) {
	for name, c := range map[string]struct {
		delta string
		want  func(*corev1.Pod)
	}{
		"nothing":         {`{}`, func(*corev1.Pod) {}},
		"a text":          {`{status: {reason: Terminated}}`, func(p *corev1.Pod) { p.Status.Reason = "Terminated" }},
		"null of a text":  {`{status: {reason: null}}`, func(p *corev1.Pod) { p.Status.Reason = "" }},
		"null of a list":  {`{status: {conditions: null}}`, func(p *corev1.Pod) { p.Status.Conditions = nil }},
		"null of a field": {`{spec: {activeDeadlineSeconds: null}}`, func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = nil }},
		"a number":        {`{spec: {activeDeadlineSeconds: 7}}`, func(p *corev1.Pod) { *p.Spec.ActiveDeadlineSeconds = 7 }},
		"labels": {`{metadata: {labels: {a: null, b: "3", c.d/e: "4"}}}`, func(p *corev1.Pod) {
			p.Labels = map[string]string{"b": "3", "c.d/e": "4"}
		}},
		"a new map": {`{metadata: {annotations: {x: "y"}}}`, func(p *corev1.Pod) { p.Annotations = map[string]string{"x": "y"} }},
		"a time": {`{metadata: {creationTimestamp: null}}`, func(p *corev1.Pod) {
			p.CreationTimestamp.Reset()
		}},
		"a condition of a type": {`{status: {conditions: [{type: DisruptionTarget, reason: Other}, {type: New, status: "True"}]}}`, func(p *corev1.Pod) {
			p.Status.Conditions[1].Reason = "Other"
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "New", Status: "True"})
		}},
		"a status of a name": {`{status: {containerStatuses: [{name: main, state: {terminated: {exitCode: 3}}}]}}`, func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State.Terminated.ExitCode = 3
		}},
		"another state": {`{status: {containerStatuses: [{name: main, state: {waiting: {reason: x}}}]}}`, func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "x"}}
		}},
		"the same state": {`{status: {containerStatuses: [{name: other, state: {}}]}}`, func(*corev1.Pod) {}},
		"a list without a key": {`{spec: {containers: [{name: main, args: [z]}]}}`, func(p *corev1.Pod) {
			p.Spec.Containers[0].Args = []string{"z"}
		}},
		"a list of objects without a key": {`{spec: {containers: [{name: main, ports: [{containerPort: 81}]}]}}`, func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 81}}
		}},
		"one item twice": {`{status: {conditions: [{type: New, status: "True"}, {type: New, reason: x}]}}`, func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "New", Status: "True", Reason: "x"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := podOf(t, mergedInto), podOf(t, mergedInto)
			c.want(want)
			delta{treeOf(t, c.delta), "pod"}.apply(got, func(field, message string) { t.Errorf("%s: %s", field, message) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDeltaWithoutKey(t *testing.T) {
	tree := treeOf(t, `{status: {conditions: [{type: Ready}, {status: "True"}], containerStatuses: [{name: null}]}}`)
	fields := map[string]bool{}
	delta{tree, "cases[0].pod"}.apply(podOf(t, mergedInto), func(field, _ string) { fields[field] = true })
	want := map[string]bool{
		"cases[0].pod.status.conditions[1].type": true, "cases[0].pod.status.containerStatuses[0].name": true,
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
