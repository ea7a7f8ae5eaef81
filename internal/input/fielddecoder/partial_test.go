package fielddecoder

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	strictjson "sigs.k8s.io/json"

	"github.com/podverdict/podverdict/compiler/cel"
)

// fields selects enough fields to cover each kind of value.
var fields = cel.NewFields(
	"Pod.metadata", "ObjectMeta.name", "ObjectMeta.labels", "ObjectMeta.finalizers", "ObjectMeta.deletionTimestamp", "ObjectMeta.ownerReferences",
	"ObjectMeta.deletionGracePeriodSeconds", "OwnerReference.*",
	"Pod.spec", "PodSpec.initContainers", "PodSpec.containers", "Container.name", "Container.restartPolicy", "Container.resources",
	"ResourceRequirements.*",
	"Pod.status", "PodStatus.phase", "PodStatus.containerStatuses", "ContainerStatus.name", "ContainerStatus.state", "ContainerState.terminated",
	"ContainerStateTerminated.exitCode", "ContainerStateTerminated.finishedAt",
)

const whole = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b\n","c":""},"annotations":{"x":"y"},"finalizers":["f"],
"deletionTimestamp":"2026-06-15T09:01:37Z","deletionGracePeriodSeconds":30,"creationTimestamp":null,
"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1","controller":true}]},
"spec":{"volumes":[{"name":"v","emptyDir":{}}],"initContainers":[{"name":"i","restartPolicy":"Always"}],
"containers":[{"name":"m","image":"x","resources":{"limits":{"memory":"64Mi","cpu":1}}},{"name":"n"}],"nodeName":"node"},
"status":{"phase":"Failed","containerStatuses":[{"name":"m","image":"x","state":{"terminated":{"exitCode":42,"reason":"Error","finishedAt":"2026-06-15T09:01:37Z"}}},
{"name":"n","state":{"running":{}}}]}}
`

// reference decodes everything strictly, and drops the fields that are not kept.
func reference(data []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	refused, err := strictjson.UnmarshalStrict(data, pod)
	if err == nil && len(refused) > 0 {
		err = refused[0]
	}
	objects := cel.Load()
	objects.Pruner(objects.Pod, fields).Prune(pod)
	return pod, err
}

// TestDecode decodes variants of a Pod and compares them with the reference: the decoded fields are equal, and errors of the reference in
// kept fields are errors of the decoder.
func TestDecode(t *testing.T) {
	plan := NewPlan[corev1.Pod](fields)
	for name, c := range map[string]struct {
		data string
		ok   bool
	}{
		"whole":                     {whole, true},
		"empty":                     {`{}`, true},
		"null":                      {`{"metadata":null,"spec":{"containers":null},"status":{"containerStatuses":[{"state":null}]}}`, true},
		"empty lists":               {`{"metadata":{"labels":{},"finalizers":[],"ownerReferences":[]},"spec":{"containers":[]}}`, true},
		"escapes in names":          {`{"metadata":{"n\u0061me":"p"}}`, false}, // left to another decoder
		"unknown field":             {`{"metadata":{"Name":"p"}}`, false},
		"unknown field of a struct": {`{"status":{"containerStatuses":[{"nam":"m"}]}}`, false},
		"twice":                     {`{"metadata":{"name":"p","name":"q"}}`, false},
		"label twice":               {`{"metadata":{"labels":{"a":"b","a":"c"}}}`, false},
		"text for number":           {`{"metadata":{"deletionGracePeriodSeconds":"30"}}`, false},
		"fraction":                  {`{"status":{"containerStatuses":[{"state":{"terminated":{"exitCode":1.5}}}]}}`, false},
		"too large":                 {`{"status":{"containerStatuses":[{"state":{"terminated":{"exitCode":4294967296}}}]}}`, false},
		"number for text":           {`{"metadata":{"name":1}}`, false},
		"number for label":          {`{"metadata":{"labels":{"a":1}}}`, false},
		"list for object":           {`{"metadata":[]}`, false},
		"object for list":           {`{"spec":{"containers":{}}}`, false},
		"text in list":              {`{"spec":{"containers":["x"]}}`, false},
		"text for boolean":          {`{"metadata":{"ownerReferences":[{"controller":"true"}]}}`, false},
		"no time":                   {`{"metadata":{"deletionTimestamp":"yesterday"}}`, false},
		"no object":                 {`[]`, false},
		"two objects":               {`{}{}`, false},
		"no JSON where not kept":    {`{"spec":{"volumes":[tru]}}`, false},
		"no UTF-8 where not kept":   {"{\"spec\":{\"nodeName\":\"\xff\"}}", false},
		"cut":                       {whole[:500], false},
	} {
		t.Run(name, func(t *testing.T) {
			got := &corev1.Pod{}
			err := plan.NewDecoder().Decode([]byte(c.data), got)
			if (err == nil) != c.ok {
				t.Fatalf("error %v", err)
			}
			want, refused := reference([]byte(c.data))
			if diff := cmp.Diff(want, got); err == nil && (refused != nil || diff != "") {
				t.Errorf("reference: %v (-want +got)\n%s", refused, diff)
			}
		})
	}
}

// TestDecodeAgain checks that a decoder retains nothing of one object when it decodes the next.
func TestDecodeAgain(t *testing.T) {
	decoder := NewPlan[corev1.Pod](fields).NewDecoder()
	for _, data := range []string{whole, `{"spec":`, `{"metadata":{"name":1}}`, whole} {
		got := &corev1.Pod{}
		if err := decoder.Decode([]byte(data), got); err != nil {
			continue
		}
		if want, _ := reference([]byte(data)); !cmp.Equal(want, got) {
			t.Errorf("%s", cmp.Diff(want, got))
		}
	}
}

// TestDecodeMutations checks that every decoded object equals the reference.
func TestDecodeMutations(t *testing.T) {
	plan := NewPlan[corev1.Pod](fields)
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(whole)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			data[at] = rapid.SampledFrom([]byte(`{}[]",:0tfn \x`)).Draw(t, "byte")
		}
		got := &corev1.Pod{}
		if plan.NewDecoder().Decode(data, got) != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("decoded, and no JSON: %s", data)
		}
		var tree map[string]any // duplicate fields are merged: the last one counts
		if err := json.Unmarshal(data, &tree); err != nil {
			t.Fatal(err)
		}
		want := &corev1.Pod{}
		if json.Unmarshal(data, want) != nil {
			return // error in a field that is not kept
		}
		objects := cel.Load()
		objects.Pruner(objects.Pod, fields).Prune(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n(-want +got)\n%s", data, diff)
		}
	})
}

// wideStruct returns a struct type with n fields of type string, F0 to F(n-1).
func wideStruct(n int) reflect.Type {
	all := make([]reflect.StructField, n)
	for i := range all {
		name := "F" + strconv.Itoa(i)
		all[i] = reflect.StructField{Name: name, Type: reflect.TypeFor[string](), Tag: reflect.StructTag(`json:"` + name + `"`)}
	}
	return reflect.StructOf(all)
}

// TestDecodeWideStructs decodes structs of up to 130 fields: each field separately, all of them, and each of them twice.
func TestDecodeWideStructs(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128, 129, 130} {
		wide := wideStruct(n)
		decoder := newPlan(wide, nil).NewDecoder()
		all := make([]string, n)
		for i := range n {
			all[i] = fmt.Sprintf(`"F%d":"%d"`, i, i)
			got := reflect.New(wide)
			if err := decoder.Decode([]byte(`{`+all[i]+`}`), got.Interface()); err != nil || got.Elem().Field(i).String() != strconv.Itoa(i) {
				t.Errorf("%d fields: F%d alone: got %q, error %v", n, i, got.Elem().Field(i), err)
			}
			if decoder.Decode([]byte(`{`+all[i]+`,`+all[i]+`}`), reflect.New(wide).Interface()) == nil {
				t.Errorf("%d fields: F%d twice: decoded, want an error", n, i)
			}
		}
		if err := decoder.Decode([]byte(`{`+strings.Join(all, ",")+`}`), reflect.New(wide).Interface()); err != nil {
			t.Errorf("%d fields, each once: %v", n, err)
		}
	}
}
