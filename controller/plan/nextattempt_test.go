package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// memory returns a request and a limit, given as in "512Mi/1Gi", "512Mi/" or "/1Gi".
func memory(text string) (r corev1.ResourceRequirements) {
	request, limit, _ := strings.Cut(text, "/")
	if request != "" {
		r.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)}
	}
	if limit != "" {
		r.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
	}
	return r
}

// specOf returns a spec, given the memory of its containers as in "main=512Mi/1Gi helper=". init names an init container,
// sidecar a sidecar, and pod the pod's own memory.
func specOf(text string) *corev1.PodSpec {
	spec := &corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}
	for given := range strings.FieldsSeq(text) {
		name, size, _ := strings.Cut(given, "=")
		c := corev1.Container{Name: name, Image: "registry.example/train", Resources: memory(size)}
		switch name {
		case "pod":
			spec.Resources = &c.Resources
		case "sidecar":
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
			fallthrough
		case "init":
			spec.InitContainers = append(spec.InitContainers, c)
		default:
			spec.Containers = append(spec.Containers, c)
		}
	}
	return spec
}

// specText returns the parts of a spec that Mend may change, in the form that specOf reads, then the terms of the node
// affinity.
func specText(spec *corev1.PodSpec) string {
	var parts []string
	add := func(name string, r *corev1.ResourceRequirements) {
		var text string
		if q := memoryOf(r.Requests); q != nil {
			text = q.String()
		}
		text += "/"
		if q := memoryOf(r.Limits); q != nil {
			text += q.String()
		}
		if text == "/" {
			text = ""
		}
		parts = append(parts, name+"="+text)
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			add(containers[i].Name, &containers[i].Resources)
		}
	}
	if spec.Resources != nil {
		add("pod", spec.Resources)
	}
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		node := spec.Affinity.NodeAffinity
		if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			for _, term := range required.NodeSelectorTerms {
				parts = append(parts, "must["+termText(term)+"]")
			}
		}
		for _, term := range node.PreferredDuringSchedulingIgnoredDuringExecution {
			parts = append(parts, fmt.Sprintf("%d[%s]", term.Weight, termText(term.Preference)))
		}
	}
	return strings.Join(parts, " ")
}

func termText(term corev1.NodeSelectorTerm) string {
	var parts []string
	for _, e := range append(term.MatchFields, term.MatchExpressions...) {
		parts = append(parts, strings.TrimPrefix(e.Key, "kubernetes.io/")+" "+string(e.Operator)+" "+strings.Join(e.Values, ","))
	}
	return strings.Join(parts, " & ")
}

func more(factor, most string) *v1alpha1.RetryMemory {
	return &v1alpha1.RetryMemory{Factor: factor, Max: most}
}

func (r Retried) killed(container string, matches int32) Retried {
	if r.OOMKilled == nil {
		r.OOMKilled = map[string]int32{}
	}
	r.OOMKilled[container] = matches
	return r
}

func growing(factor, most string) Retried {
	return Retried{Retry: v1alpha1.Retry{Memory: more(factor, most)}}
}

func avoiding(how v1alpha1.AvoidNode, nodes ...string) Retried {
	return Retried{Retry: v1alpha1.Retry{AvoidNode: how}, Nodes: nodes}
}

var mendings = []struct {
	name    string
	spec    string
	retries Retries
	want    string
	changes string
}{
	{"nothing", "main=512Mi/1Gi", nil, "main=512Mi/1Gi", ""},
	{"once", "main=512Mi/512Mi", Retries{"p/oom": growing("1.5", "16Gi").killed("main", 1)}, "main=768Mi/768Mi",
		"memory of main: 512Mi -> 768Mi (oom of policy p, 1 match)"},
	{"twice, each by its own base", "main=512Mi/1Gi", Retries{"p/oom": growing("1.5", "16Gi").killed("main", 2)}, "main=1152Mi/2304Mi",
		"memory of main: request 512Mi -> 1152Mi, limit 1Gi -> 2304Mi (oom of policy p, 2 matches)"},
	{"rounded up once, not in between", "main=100Mi/", Retries{"p/oom": growing("1.01", "16Gi").killed("main", 3)}, "main=104Mi/",
		"memory of main: request 100Mi -> 104Mi (oom of policy p, 3 matches)"},
	{"only a limit", "main=/100M", Retries{"p/oom": growing("2", "16Gi").killed("main", 1)}, "main=/191Mi",
		"memory of main: limit 100M -> 191Mi (oom of policy p, 1 match)"},
	{"max is reached, not rounded", "main=1Gi/1Gi", Retries{"p/oom": growing("10", "5G").killed("main", 1)}, "main=5G/5G",
		"memory of main: 1Gi -> 5G, the max (oom of policy p, 1 match)"},
	{"max between request and limit", "main=1Gi/8Gi", Retries{"p/oom": growing("2", "4Gi").killed("main", 5)}, "main=4Gi/8Gi",
		"memory of main: request 1Gi -> 4Gi, the max (oom of policy p, 5 matches)"},
	{"max below base", "main=8Gi/8Gi", Retries{"p/oom": growing("2", "4Gi").killed("main", 1)}, "main=8Gi/8Gi", ""},
	{"max is base", "main=8Gi/8Gi", Retries{"p/oom": growing("2", "8Gi").killed("main", 1)}, "main=8Gi/8Gi", ""},
	{"no memory", "main=", Retries{"p/oom": growing("2", "8Gi").killed("main", 1)}, "main=", ""},
	{"a request of 0", "main=0/1Gi", Retries{"p/oom": growing("2", "8Gi").killed("main", 1)}, "main=0/2Gi",
		"memory of main: limit 1Gi -> 2Gi (oom of policy p, 1 match)"},
	{"a container that is gone", "main=1Gi/", Retries{"p/oom": growing("2", "8Gi").killed("old", 1)}, "main=1Gi/", ""},
	{"each container by its own matches", "init=100Mi/ sidecar=/200Mi main=1Gi/1Gi other=1Gi/1Gi",
		Retries{"p/oom": growing("2", "8Gi").killed("init", 1).killed("sidecar", 2).killed("main", 1)},
		"init=200Mi/ sidecar=/800Mi main=2Gi/2Gi other=1Gi/1Gi",
		"memory of init: request 100Mi -> 200Mi (oom of policy p, 1 match); memory of sidecar: limit 200Mi -> 800Mi (oom of policy p, 2 matches); memory of main: 1Gi -> 2Gi (oom of policy p, 1 match)"},
	{"two rules: the larger size", "main=1Gi/1Gi", Retries{"p/a": growing("2", "8Gi").killed("main", 1), "p/b": growing("1.5", "8Gi").killed("main", 2), "q/c": growing("1.1", "8Gi").killed("main", 3)},
		"main=2304Mi/2304Mi", "memory of main: 1Gi -> 2304Mi (b of policy p, 2 matches)"},
	{"two rules: one more request, one more limit", "main=1Gi/3Gi", Retries{"p/a": growing("2", "2Gi").killed("main", 1), "p/b": growing("1.5", "8Gi").killed("main", 1)},
		"main=2Gi/4608Mi", "memory of main: request 1Gi -> 2Gi, the max, limit 3Gi -> 4608Mi (b of policy p, 1 match)"},
	{"a rule without memory", "main=1Gi/1Gi", Retries{"p/a": {Retry: v1alpha1.Retry{AvoidNode: v1alpha1.AvoidPreferred}, Nodes: []string{"n1"}}}, "main=1Gi/1Gi 100[hostname NotIn n1]",
		"avoids n1 (preferred)"},
	{"a cut key", "main=1Gi/1Gi", Retries{"cut~0123": growing("2", "8Gi").killed("main", 1)}, "main=2Gi/2Gi", "memory of main: 1Gi -> 2Gi (cut~0123, 1 match)"},

	{"the pod's grows with its containers", "main=1Gi/2Gi other=1Gi/1Gi pod=4Gi/8Gi", Retries{"p/oom": growing("2", "8Gi").killed("main", 1)}, "main=2Gi/4Gi other=1Gi/1Gi pod=5Gi/10Gi",
		"memory of main: request 1Gi -> 2Gi, limit 2Gi -> 4Gi (oom of policy p, 1 match); memory of the pod: request 4Gi -> 5Gi, limit 8Gi -> 10Gi (oom of policy p, 1 match)"},
	{"the pod's grows for a container without", "main= other=1Gi/1Gi pod=4Gi/4Gi", Retries{"p/oom": growing("1.5", "8Gi").killed("main", 1)}, "main= other=1Gi/1Gi pod=6Gi/6Gi",
		"memory of the pod: 4Gi -> 6Gi (oom of policy p, 1 match)"},
	{"for each match of each such container", "main= other= pod=/4Gi", Retries{"p/oom": growing("1.5", "80Gi").killed("main", 1).killed("other", 1)}, "main= other= pod=/9Gi",
		"memory of the pod: limit 4Gi -> 9Gi (oom of policy p, 2 matches)"},
	{"for both kinds", "main= other=1Gi/1Gi pod=4Gi/4Gi", Retries{"p/oom": growing("1.5", "8Gi").killed("main", 1).killed("other", 1)}, "main= other=1536Mi/1536Mi pod=6656Mi/6656Mi",
		"memory of other: 1Gi -> 1536Mi (oom of policy p, 1 match); memory of the pod: 4Gi -> 6656Mi (oom of policy p, 1 match)"},
	{"a limit is a request too", "main=/1Gi pod=4Gi/4Gi", Retries{"p/oom": growing("2", "8Gi").killed("main", 1)}, "main=/2Gi pod=5Gi/5Gi",
		"memory of main: limit 1Gi -> 2Gi (oom of policy p, 1 match); memory of the pod: 4Gi -> 5Gi (oom of policy p, 1 match)"},
	{"a request needs room below the limit", "main=1Gi/ pod=1Gi/1Gi", Retries{"p/oom": growing("2", "8Gi").killed("main", 1)}, "main=2Gi/ pod=2Gi/2Gi",
		"memory of main: request 1Gi -> 2Gi (oom of policy p, 1 match); memory of the pod: 1Gi -> 2Gi (oom of policy p, 1 match)"},

	{"nodes", "main=", Retries{"p/bad": avoiding("Preferred", "n2", "n1")}, "main= 100[hostname NotIn n2,n1]", "avoids n2, n1 (preferred)"},
	{"nodes that are required to be avoided", "main=", Retries{"p/bad": avoiding("Required", "n2", "n1")}, "main= must[hostname NotIn n2,n1]", "avoids n2, n1 (required)"},
	{"two rules: required wins", "main=", Retries{"p/a": avoiding("Preferred", "n2", "n1"), "p/b": avoiding("Required", "n3", "n2")},
		"main= must[hostname NotIn n3,n2] 100[hostname NotIn n1]", "avoids n3, n2 (required); avoids n1 (preferred)"},
	{"two rules: required wins for all nodes", "main=", Retries{"p/a": avoiding("Preferred", "n2"), "p/b": avoiding("Required", "n2")}, "main= must[hostname NotIn n2]", "avoids n2 (required)"},
	{"two rules of a kind", "main=", Retries{"p/a": avoiding("Preferred", "n2", "n1"), "q/b": avoiding("Preferred", "n3", "n1")},
		"main= 100[hostname NotIn n2,n1,n3]", "avoids n2, n1 (preferred); avoids n3 (preferred)"},
}

func TestMend(t *testing.T) {
	for _, test := range mendings {
		t.Run(test.name, func(t *testing.T) {
			spec := specOf(test.spec)
			before := spec.DeepCopy()
			mended, changes := test.retries.Mend(spec)
			if got := specText(&mended); got != test.want {
				t.Errorf("the spec is %s\nwant        %s", got, test.want)
			}
			var texts []string
			for _, change := range changes {
				texts = append(texts, change.String())
			}
			if diff := cmp.Diff(test.changes, strings.Join(texts, "; ")); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, spec); diff != "" {
				t.Errorf("the template changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMendAffinity tests that an affinity in the template stays in force.
func TestMendAffinity(t *testing.T) {
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	spec := specOf("main=1Gi/1Gi")
	required := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: append(make([]corev1.NodeSelectorRequirement, 0, 9), in("zone", "a"))}, {},
		{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", "n7")}},
	}}
	spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: required,
		PreferredDuringSchedulingIgnoredDuringExecution: append(make([]corev1.PreferredSchedulingTerm, 0, 9),
			corev1.PreferredSchedulingTerm{Weight: 7, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in("zone", "b")}}}),
	}}
	before := spec.DeepCopy()
	for nodes, want := range map[string]string{
		"n1": "main=1Gi/1Gi must[zone In a & hostname NotIn n1] must[] must[metadata.name In n7 & hostname NotIn n1] 7[zone In b] 100[hostname NotIn p1]",
		"n2": "main=1Gi/1Gi must[zone In a & hostname NotIn n2] must[] must[metadata.name In n7 & hostname NotIn n2] 7[zone In b] 100[hostname NotIn p1]",
		"":   "main=1Gi/1Gi must[zone In a] must[] must[metadata.name In n7] 7[zone In b] 100[hostname NotIn p1]",
	} {
		retries := Retries{"p/preferred": avoiding("Preferred", "p1")}
		if nodes != "" {
			retries["p/required"] = avoiding("Required", nodes)
		}
		mended, _ := retries.Mend(spec)
		if got := specText(&mended); got != want {
			t.Errorf("the spec is %s\nwant        %s", got, want)
		}
		if mended.Affinity.PodAffinity == nil {
			t.Error("the pod affinity is gone")
		}
	}
	if diff := cmp.Diff(before, spec); diff != "" {
		t.Errorf("the template changes (-want +got):\n%s", diff)
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	mended, _ := Retries{"p/bad": avoiding("Required", "n1")}.Mend(spec)
	if got, want := specText(&mended), "main=1Gi/1Gi must[hostname NotIn n1] 7[zone In b]"; got != want {
		t.Errorf("without terms, the spec is %s, want %s", got, want)
	}
}

// wantMemory defines the size after a number of matches, with fractions: the smallest multiple of a Mi that is not below
// base x factor^matches, at most max, and at least base.
func wantMemory(base, factor, most string, matches int32) *big.Rat {
	size, by := bytesOf(base), new(big.Rat)
	by.SetString(factor)
	for range matches {
		size = new(big.Rat).Mul(size, by)
	}
	mi := big.NewRat(1<<20, 1)
	size.Quo(size, mi)
	whole, rest := new(big.Int).DivMod(size.Num(), size.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	size = new(big.Rat).Mul(new(big.Rat).SetInt(whole), mi)
	if limit := bytesOf(most); size.Cmp(limit) > 0 {
		size = limit
	}
	if template := bytesOf(base); size.Cmp(template) < 0 {
		size = template
	}
	return size
}

func bytesOf(quantity string) *big.Rat {
	q := resource.MustParse(quantity)
	bytes, _ := new(big.Rat).SetString(q.AsDec().String())
	return bytes
}

// TestSizes tests that sizes are exact for all numbers, up to a max that fits into 64 bits: Quantity is limited to that
// in some of its forms.
func TestSizes(t *testing.T) {
	units := rapid.SampledFrom([]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "k", "M", "G", "T", "P"})
	rapid.Check(t, func(t *rapid.T) {
		quantity := func(label string) string {
			return fmt.Sprint(rapid.Int64Range(1, rapid.SampledFrom([]int64{9, 5000, 1 << 40}).Draw(t, label+" up to")).Draw(t, label)) + units.Draw(t, label+" unit")
		}
		base, most := quantity("base"), quantity("max")
		for bytesOf(most).Cmp(new(big.Rat).SetInt64(math.MaxInt64)) > 0 {
			most = quantity("smaller max")
		}
		hundredths := rapid.IntRange(101, 1000).Draw(t, "hundredths")
		factor := fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
		matches := rapid.Int32Range(1, rapid.SampledFrom([]int32{4, 40, 400}).Draw(t, "up to")).Draw(t, "matches")
		got := resource.MustParse(base)
		if growth := grown(&got, more(factor, most), matches); growth != nil {
			got = growth.To
			if at := got.Cmp(resource.MustParse(most)) == 0; growth.AtMax != at {
				t.Errorf("%s is at the max %s: %v", &got, most, growth.AtMax)
			}
		}
		if want := wantMemory(base, factor, most, matches); bytesOf(got.String()).Cmp(want) != 0 {
			t.Errorf("%s x %s^%d up to %s is %s, want %s bytes", base, factor, matches, most, &got, want)
		}
	})
}

func TestMendedJSON(t *testing.T) {
	_, changes := Retries{
		"p/oom": {Retry: v1alpha1.Retry{Memory: more("2", "4Gi"), AvoidNode: "Required"}, OOMKilled: map[string]int32{"main": 2}, Nodes: []string{"n1"}},
	}.Mend(specOf("main=512Mi/1Gi"))
	got, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"rule":"p/oom","container":"main","matches":2,"request":{"from":"512Mi","to":"2Gi"},"limit":{"from":"1Gi","to":"4Gi","atMax":true}},` +
		`{"rule":"p/oom","avoid":["n1"],"avoidNode":"Required"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
