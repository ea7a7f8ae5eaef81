package runtime_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// someTime is the time of all events.
var someTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// filler fills objects of any type randomly with few different values, so that comparisons have
// both results.
type filler struct{ *rand.Rand }

var (
	fillStrings = []string{"", "main", "OOMKilled", "True", "a"}
	fillNumbers = []int64{0, 1, 137, 143}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (f filler) fill(v reflect.Value, depth int) {
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 8 && f.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
				neverNull(v.Type().Field(i), v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(3), 3))
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(3) {
			element := reflect.New(v.Type().Elem()).Elem()
			f.fill(element, depth+1)
			v.SetMapIndex(reflect.ValueOf(pick(f.Rand, fillStrings[1:])).Convert(v.Type().Key()), element)
		}
	case reflect.String:
		v.SetString(pick(f.Rand, fillStrings))
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(pick(f.Rand, fillNumbers))
	}
}

// special fills types that have a form of their own, and reports whether it did.
func (f filler) special(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		if f.IntN(2) == 0 {
			*p = metav1.NewTime(someTime)
		}
	case *resource.Quantity:
		*p = pick(f.Rand, []resource.Quantity{{}, resource.MustParse("500m"), resource.MustParse("1Gi")})
	case *intstr.IntOrString:
		*p = pick(f.Rand, []intstr.IntOrString{intstr.FromInt32(137), intstr.FromString("main")})
	case *metav1.FieldsV1, **metav1.FieldsV1:
	default:
		return false
	}
	return true
}

// neverNull leaves lists that the API requires empty rather than nil.
func neverNull(field reflect.StructField, v reflect.Value) {
	if v.Kind() == reflect.Slice && v.Len() == 0 && strings.Contains(field.Tag.Get("json"), "omitempty") {
		v.SetZero()
	}
}

func randomObject[T any](r *rand.Rand) *T {
	var object T
	filler{r}.fill(reflect.ValueOf(&object).Elem(), 0)
	return &object
}

// randomPod returns a failed pod with random content in every field.
func randomPod(r *rand.Rand) *corev1.Pod {
	pod := randomObject[corev1.Pod](r)
	pod.Status.Phase = corev1.PodFailed
	return pod
}

// plausibleNode returns a node, or nil.
func plausibleNode(r *rand.Rand) *corev1.Node {
	if r.IntN(4) == 0 {
		return nil
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if r.IntN(2) == 0 {
		node.Labels = map[string]string{"zone": pick(r, []string{"a", "b"}), "training": "yes"}
	}
	for _, key := range []string{"spot", "web", corev1.TaintNodeUnreachable} {
		if r.IntN(3) == 0 {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	for _, condition := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeDiskPressure} {
		status := pick(r, []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown})
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: condition, Status: status, Message: "m"})
	}
	node.Spec.Unschedulable = r.IntN(2) == 0
	return node
}

// plausiblePod returns a Pod with existing kinds of containers and conditions.
func plausiblePod(r *rand.Rand) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", CreationTimestamp: metav1.NewTime(someTime)}}
	pod.Status.Phase = pick(r, []corev1.PodPhase{corev1.PodFailed, corev1.PodFailed, corev1.PodPending})
	pod.Status.Reason = pick(r, []string{"", "Evicted", "NodeAffinity"})
	if r.IntN(2) == 0 {
		pod.Labels = map[string]string{"team": pick(r, []string{"training", "web"})}
	}
	names := []string{"main", "helper", "setup", "proxy"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		switch r.IntN(4) {
		case 0:
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: name})
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, plausibleStatus(r, name))
		case 1:
			always := corev1.ContainerRestartPolicyAlways
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: name, RestartPolicy: &always})
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, plausibleStatus(r, name))
		case 2:
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, plausibleStatus(r, name))
		}
	}
	if r.IntN(2) == 0 {
		slices.Reverse(pod.Status.InitContainerStatuses)
	}
	for _, t := range []corev1.PodConditionType{corev1.DisruptionTarget, corev1.PodScheduled} {
		if r.IntN(2) == 0 {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: t, Status: pick(r, []corev1.ConditionStatus{"True", "False", "Unknown"}),
				Reason: pick(r, []string{"", "Unschedulable", "PreemptionByScheduler"}),
			})
		}
	}
	return pod
}

func plausibleStatus(r *rand.Rand, name string) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name, Image: name + ":1", RestartCount: int32(r.IntN(3))}
	switch r.IntN(5) {
	case 0:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: pick(r, []string{"", "ImagePullBackOff", "CrashLoopBackOff"}), Message: "waits"}
	case 1:
		s.State.Running = &corev1.ContainerStateRunning{}
	default:
		s.State.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: pick(r, []int32{0, 1, 2, 42, 129, 137, 143, 192, 300, -1}), Signal: pick(r, []int32{0, 0, 0, 9, 11, 34}),
			Reason: pick(r, []string{"", "OOMKilled", "Error", "StartError"}), Message: pick(r, []string{"", "out of memory", "CUDA error 719"}),
		}
	}
	return s
}

func plausibleJob(r *rand.Rand) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "n"}}
	if r.IntN(2) == 0 {
		job.Labels = map[string]string{"team": pick(r, []string{"training", "web"})}
	}
	if r.IntN(2) == 0 {
		limit := int32(r.IntN(7))
		job.Spec.BackoffLimit = &limit
	}
	job.Status.Failed = int32(r.IntN(5))
	if r.IntN(2) == 0 {
		job.Status.FailedIndexes = new(pick(r, []string{"", "1,3-4", "x"}))
	}
	suspend := r.IntN(2) == 0
	job.Spec.Suspend = &suspend
	return job
}
