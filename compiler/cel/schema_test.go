package cel_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podverdict/podverdict/compiler/cel"
)

// testPod returns a pod with a value of every kind.
func testPod() *corev1.Pod {
	started := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b"}, Finalizers: []string{"x", "y"}, DeletionTimestamp: &metav1.Time{}},
		Spec: corev1.PodSpec{
			HostNetwork: true,
			Overhead:    corev1.ResourceList{"cpu": resource.MustParse("0.5"), "memory": {}},
			Containers: []corev1.Container{{
				Name: "main",
				LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")},
				}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)},
				}},
			}},
			SecurityContext: &corev1.PodSecurityContext{},
		},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, StartTime: &started},
	}
}

func TestValues(t *testing.T) {
	var zero int32
	input := map[string]any{"pod": testPod(), "job": &batchv1.Job{Spec: batchv1.JobSpec{BackoffLimit: &zero}}}
	for expression, want := range map[string]string{
		"pod.metadata.name == 'p'":                                     "true",
		"pod.metadata.labels.a == 'b' && 'a' in pod.metadata.labels":   "true",
		"pod.metadata.finalizers == ['x', 'y']":                        "true",
		"pod.metadata == job.metadata":                                 "false",
		"pod.spec == pod.spec && dyn(pod.spec) != dyn(pod.status)":     "true",
		"pod.spec.hostNetwork":                                         "true",
		"pod.spec.overhead['cpu'] == '500m'":                           "true",
		"pod.spec.overhead == {'cpu': '500m', 'memory': '0'}":          "true",
		"pod.spec.containers[0].livenessProbe.httpGet.port == 'http'":  "true",
		"pod.spec.containers[0].readinessProbe.tcpSocket.port == 80":   "true",
		"pod.status.startTime == timestamp('2026-03-01T12:00:00Z')":    "true",
		"pod.status.startTime + duration('1m') > pod.status.startTime": "true",
		"job.spec.backoffLimit == 0":                                   "true", // a pointer to zero is there
		"has(job.spec.backoffLimit) && !has(job.spec.completions)":     "true",
		"has(pod.spec.securityContext)":                                "true", // an empty object is there
		"has(job.spec.template) && has(job.metadata)":                  "true", // structs are never left out
		"has(pod.metadata.creationTimestamp)":                          "false",
		"has(pod.metadata.deletionTimestamp)":                          "false", // null
		"has(pod.status.reason)":                                       "false",
		"pod.status.reason == ''":                                      "no such key: reason",
		"dyn(pod).status.reason == ''":                                 "no such key: reason",
		"dyn(pod).status.phase == 'Failed'":                            "true",
		"has(dyn(pod).status.message)":                                 "false",
		"dyn(pod).status.fase == 'Failed'":                             "no such field fase in PodStatus",
		"dyn(pod)[1] == 1":                                             "no such field 1 in Pod",
		"job.spec.template.spec.containers.size() == 0":                "true", // required, so never null
		"pod.apiVersion == 'v1' && pod.kind == 'Pod'":                  "true",
		"job.apiVersion == 'batch/v1' && job.kind == 'Job'":            "true",
		"pod.spec == pod.spec && pod.status != dyn(pod.spec)":          "true",
		"type(pod.spec) == type(job.spec.template.spec)":               "true",
		"type(pod) == type(job)":                                       "false",
		"pod.status.?reason.orValue('none') == 'none'":                 "true",
		"pod.?metadata.?labels.a.orValue('') == 'b'":                   "true",
		"pod.metadata.__namespace__ == 'n'":                            "no such key: namespace",
	} {
		t.Run(expression, func(t *testing.T) {
			if got := evaluate(t, expression, input); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestNothingIsLeftOut checks that the schema contains every field of every Go type, except those
// that no schema describes.
func TestNothingIsLeftOut(t *testing.T) {
	s := cel.Load()
	var missing []string
	seen := map[reflect.Type]bool{}
	for _, root := range []reflect.Type{reflect.TypeFor[corev1.Pod](), reflect.TypeFor[batchv1.Job](), reflect.TypeFor[corev1.Node]()} {
		missing = append(missing, leftOut(t, s, root, root.Name(), seen)...)
	}
	if diff := cmp.Diff([]string{"ManagedFieldsEntry.fieldsV1"}, missing); diff != "" {
		t.Errorf("fields without a place (-want +got):\n%s", diff)
	}
	if len(seen) < 100 {
		t.Errorf("only %d Go types found", len(seen))
	}
	byName := map[string]reflect.Type{}
	for goType := range seen {
		if other, ok := byName[goType.Name()]; ok {
			t.Errorf("%s and %s have one name, and so one type", goType, other)
		}
		byName[goType.Name()] = goType
	}
}

func leftOut(t *testing.T, s *cel.Schema, goType reflect.Type, owner string, seen map[reflect.Type]bool) []string {
	t.Helper()
	var missing []string
	for field := range goType.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			if field.Type.Kind() != reflect.Struct {
				t.Fatalf("%s embeds %s, whose fields cannot be read", owner, field.Type)
			}
			missing = append(missing, leftOut(t, s, field.Type, owner, seen)...)
			continue
		}
		typ, ok := s.Type(owner)
		if !ok {
			t.Fatalf("no type %s", owner)
		}
		if _, ok := typ.Field(name); !ok {
			missing = append(missing, owner+"."+name)
			continue
		}
		next := field.Type
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, next.Kind()) {
			next = next.Elem()
		}
		if _, ok := s.Type(next.Name()); ok && next.Kind() == reflect.Struct && !seen[next] {
			seen[next] = true
			missing = append(missing, leftOut(t, s, next, next.Name(), seen)...)
		}
	}
	return missing
}

// TestQuantitiesAreNotWritten checks that the shared object is only read: a Quantity caches its
// string on conversion.
func TestQuantitiesAreNotWritten(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": resource.MustParse("0.5")}}}
	q := pod.Spec.Overhead["cpu"]
	before := q
	if got := evaluate(t, "pod.spec.overhead.cpu == '500m'", map[string]any{"pod": pod}); got != "true" {
		t.Error(got)
	}
	if after := pod.Spec.Overhead["cpu"]; !reflect.DeepEqual(before, after) {
		t.Errorf("the quantity was %#v and is %#v", before, after)
	}
}

func TestValue(t *testing.T) {
	s := cel.Load()
	var none *corev1.Pod
	if v, ok := s.Value(none); !ok || v != types.NullValue {
		t.Errorf("a nil pod is %v, %t", v, ok)
	}
	for _, other := range []any{nil, 1, "x", &struct{}{}, corev1.Pod{}} {
		if v, ok := s.Value(other); ok {
			t.Errorf("%T is %v", other, v)
		}
	}
	pod := testPod()
	v, ok := s.Value(pod)
	if !ok || v.Value() != any(pod) {
		t.Errorf("got %v, %t, want the pod itself", v, ok)
	}
	if native, err := v.ConvertToNative(reflect.TypeFor[*corev1.Pod]()); err != nil || native != any(pod) {
		t.Errorf("as a *Pod it is %v, %v", native, err)
	}
	if _, err := v.ConvertToNative(reflect.TypeFor[string]()); err == nil {
		t.Error("it is a string too")
	}
	if v.ConvertToType(types.StringType).Type() != types.ErrType {
		t.Error("it can be converted to a string")
	}
}
