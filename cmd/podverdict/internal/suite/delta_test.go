package suite

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"pgregory.net/rapid"
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
		"a list by number": {`{spec: {containers: [{name: main, ports: [{containerPort: 80, name: new}, {containerPort: 81}]}]}}`, func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports[0].Name = "new"
			p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 81})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := podOf(t, mergedInto), podOf(t, mergedInto)
			c.want(want)
			if errs := (delta{treeOf(t, c.delta), "pod"}).apply(got); len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDeltaWithoutKey(t *testing.T) {
	tree := treeOf(t, `{status: {conditions: [{type: Ready}, {status: "True"}], containerStatuses: [{name: null}]}}`)
	errs := delta{tree, "cases[0].pod"}.apply(podOf(t, mergedInto))
	fields := map[string]bool{}
	for _, e := range errs {
		fields[e.field] = true
	}
	want := map[string]bool{
		"cases[0].pod.status.conditions[1].type": true, "cases[0].pod.status.containerStatuses[0].name": true,
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestDeltaIsStrategic: where the API has merge keys, a delta is kubectl's strategic merge patch.
func TestDeltaIsStrategic(t *testing.T) {
	pick := func(r *rapid.T, label string, from ...any) any { return rapid.SampledFrom(from).Draw(r, label) }
	object := func(r *rapid.T, label string, members map[string]func() any) map[string]any {
		o := map[string]any{}
		for name, value := range members {
			if rapid.Bool().Draw(r, label+name) {
				o[name] = value()
			}
		}
		return o
	}
	list := func(r *rapid.T, label, key string, values []any, members map[string]func() any) any {
		if rapid.IntRange(0, 9).Draw(r, label+"null") == 0 {
			return nil
		}
		items := []any{}
		for _, value := range values {
			if rapid.Bool().Draw(r, label+"has") {
				item := object(r, label, members)
				item[key] = value
				items = append(items, item)
			}
		}
		return items
	}
	base := podOf(t, mergedInto)
	rapid.Check(t, func(r *rapid.T) {
		text := func() any { return pick(r, "text", "", "x", "Error", nil) }
		tree := object(r, "pod", map[string]func() any{
			"metadata": func() any {
				return object(r, "metadata", map[string]func() any{"labels": func() any {
					return object(r, "labels", map[string]func() any{"a": text, "b": text, "c": text})
				}, "creationTimestamp": func() any { return pick(r, "time", nil, "2027-01-01T00:00:00Z") }})
			},
			"spec": func() any {
				return object(r, "spec", map[string]func() any{
					"nodeName":              text,
					"activeDeadlineSeconds": func() any { return pick(r, "seconds", nil, 1.0, 100.0) },
					"containers": func() any {
						return list(r, "containers", "name", []any{"main", "third"}, map[string]func() any{
							"image": text, "args": func() any { return pick(r, "args", nil, []any{"p"}) },
							"ports": func() any {
								return list(r, "ports", "containerPort", []any{80.0, 90.0}, map[string]func() any{"name": text})
							},
						})
					},
				})
			},
			"status": func() any {
				return object(r, "status", map[string]func() any{"reason": text, "conditions": func() any {
					return list(r, "conditions", "type", []any{"Ready", "DisruptionTarget", "New"}, map[string]func() any{
						"status": text, "reason": text, "lastTransitionTime": func() any { return nil },
					})
				}})
			},
		})
		got := base.DeepCopy()
		if errs := (delta{tree, "pod"}).apply(got); len(errs) > 0 {
			r.Fatal(errs)
		}
		if diff := cmp.Diff(canonical(r, strategic(r, base, tree)), canonical(r, got)); diff != "" {
			r.Errorf("%v: (-want +got)\n%s", tree, diff)
		}
	})
}

func strategic(t rapid.TB, base *corev1.Pod, tree any) *corev1.Pod {
	original, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(original, patch, corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := json.Unmarshal(merged, &pod); err != nil {
		t.Fatal(err)
	}
	return &pod
}

// canonical returns the Pod by the names of its parts: where strategic merge puts what is new in a list says nothing.
func canonical(t rapid.TB, pod *corev1.Pod) map[string]any {
	data, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	parts := map[string]any{"metadata": tree["metadata"]}
	for _, c := range pod.Spec.Containers {
		ports := map[int32]corev1.ContainerPort{}
		for _, p := range c.Ports {
			ports[p.ContainerPort] = p
		}
		parts["container "+c.Name] = []any{c.Image, c.Args, ports}
	}
	for _, c := range pod.Status.Conditions {
		parts["condition "+string(c.Type)] = c
	}
	parts["rest"] = []any{pod.Spec.NodeName, pod.Spec.ActiveDeadlineSeconds, pod.Status.Reason, len(pod.Spec.Containers)}
	return parts
}

// FuzzDelta: what fits the type is merged, whatever it is, and merging it again changes nothing.
func FuzzDelta(f *testing.F) {
	for _, seed := range []string{`{}`, mergedInto, `{status: null}`, `{spec: {containers: [{name: main, resources: {limits: {cpu: 1}}}]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var typed corev1.Pod
		var tree any
		if yaml.UnmarshalStrict([]byte(text), &typed) != nil || yaml.Unmarshal([]byte(text), &tree) != nil {
			t.Skip()
		}
		d := delta{tree, "pod"}
		once := podOf(t, mergedInto)
		if len(d.apply(once)) > 0 {
			t.Skip() // an item without its key
		}
		twice := once.DeepCopy()
		if errs := d.apply(twice); len(errs) > 0 {
			t.Fatal(errs)
		}
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Errorf("(-once +twice)\n%s", diff)
		}
	})
}
