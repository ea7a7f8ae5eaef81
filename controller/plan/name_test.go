package plan

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func namerOf(job string, uid types.UID, indexed bool) namer {
	return namer{job, indexed, newCipher(uid)}
}

// TestNames tests that names have upstream's form: its prefix of the Job's name, truncated in the same place, the index,
// and five characters. They do not change between versions, because a version must recognize the pods of earlier ones.
func TestNames(t *testing.T) {
	long := strings.Repeat("hhhhhooooo", 6)
	for _, test := range []struct {
		job           string
		indexed       bool
		slot, attempt int
		want          string
	}{
		{"train", true, 0, 0, "train-0-x48tt"},
		{"train", true, 0, 1, "train-0-8kdkf"},
		{"train", true, 1, 0, "train-1-zmh2n"},
		{"train", true, 99999, 7, "train-99999-gpsnc"},
		{"train-3", true, 12, 0, "train-3-12-fr6qp"},
		{"train", false, 0, 0, "train-x48tt"},
		{"train", false, 0, 1, "train-8kdkf"},
		{"train", false, 1, 0, "train-8lgbc"},
		{"a.b-c", false, 5000, 2, "a.b-c-ktzsh"},
		{long[:57], false, 1, 1, long[:57] + "-h5kxt"},
		{long[:58], false, 1, 1, long[:58] + "h5kxt"},
		{long, false, 1, 1, long[:58] + "h5kxt"},
		{long, true, 1, 1, long[:55] + "-1-95lp8"},
		{long, true, 12345, 1, long[:51] + "-12345-gtch6"},
		// Numbers that do not fit into five characters.
		{"train", true, 0, codes - 1, "train-0-pl57b"},
		{"train", true, 0, codes, "train-0-14348907-bfzbr"},
		{"train", true, maxNumber, codes - 1, "train-2147483647-4v56z"},
		{"train", false, 0, blockSize - 1, "train-x5bmr"},
		{"train", false, 0, blockSize, "train-0-717445-bfzbr"},
		{"train", false, 1<<19 - 1, 1, "train-6v56g"},
		{"train", false, 1<<19 - 1, 2, "train-524287-2-bfzbr"},
		{"train", false, 1 << 19, 0, "train-524288-0-bfzbr"},
		{"train", false, maxNumber, 0, "train-2147483647-0-bfzbr"},
	} {
		n := namerOf(test.job, "uid", test.indexed)
		name := n.name(test.slot, test.attempt)
		if name != test.want {
			t.Errorf("attempt %d at slot %d of %s is named %s, want %s", test.attempt, test.slot, test.job, name, test.want)
		}
		if slot, attempt, ok := n.parse(name); !ok || slot != test.slot || attempt != test.attempt {
			t.Errorf("%s is parsed as %d, %d, %t", name, slot, attempt, ok)
		}
	}
}

// drawnNames is a random Job name, with places of its pods, most of them near a limit.
type drawnNames struct {
	namer

	places [][2]int
}

func drawNames(t *rapid.T) drawnNames {
	job := rapid.SampledFrom([]string{
		"a", "train", "a.b-c", "x-1-2", strings.Repeat("1-", 31) + "1", strings.Repeat("long", 15) + ".x", strings.Repeat("y", 50) + strings.Repeat(".z", 6),
	}).Draw(t, "job")
	indexed := rapid.Bool().Draw(t, "indexed") && !strings.Contains(job, ".") // the API rejects these
	d := drawnNames{namer: namerOf(job, types.UID(rapid.String().Draw(t, "uid")), indexed)}
	number := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 1<<20), rapid.IntRange(codes-2, codes+2), rapid.IntRange(0, maxNumber))
	for range 10 {
		d.places = append(d.places, [2]int{number.Draw(t, "slot"), number.Draw(t, "attempt")})
	}
	return d
}

// TestNamesTellAttempts tests that names encode slot and attempt, in this version's form and in earlier ones', and that
// no two attempts have the same name.
func TestNamesTellAttempts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawNames(t)
		names := map[string][2]int{}
		for _, place := range d.places {
			for _, name := range []string{d.name(place[0], place[1]), d.longName(place[0], place[1])} {
				if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 || len(name) > 63 {
					t.Errorf("%s: %v", name, faults)
				}
				if slot, attempt, ok := d.parse(name); !ok || slot != place[0] || attempt != place[1] {
					t.Errorf("%s is parsed as %d, %d, %t, want %v", name, slot, attempt, ok, place)
				}
				if other, found := names[name]; found && other != place {
					t.Errorf("%s is a name of %v and %v", name, other, place)
				}
				names[name] = place
			}
		}
	})
}

func TestForeignNames(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		n := namerOf("train", "uid", indexed)
		tag, code := n.cipher.tag, n.cipher.encode(0)
		for _, name := range []string{
			"", "train", "train-0-0", "train-00-0-" + tag, "train--1-0-" + tag, "train-0-99999999999999999999-" + tag, "b-0-0-" + tag, "train-" + tag, "-" + tag,
			"b-0-" + code, "b-" + code, "train-00-" + code, "train--" + code, "train-x-" + code, "train-2147483648-" + code, code, "-" + code,
			"train-0-aaaaa", "train-aaaaa", "train-0-" + code + "x", "train-0-" + code[1:], "train" + code,
		} {
			if slot, attempt, ok := n.parse(name); ok {
				t.Errorf("%q is parsed as %d, %d, indexed %t", name, slot, attempt, indexed)
			}
		}
	}
}

// TestPlace tests that a pod belongs to the controller if its labels agree with its name. A pod of an earlier version
// needs only its name.
func TestPlace(t *testing.T) {
	change := func(pod *corev1.Pod, how func(*corev1.Pod)) *corev1.Pod {
		changed := pod.DeepCopy()
		how(changed)
		return changed
	}
	for _, b := range []jobBuilder{indexed(4, 4), nonIndexed(4, 4), workQueue(4), indexed(4, 4).named(strings.Repeat("l", 58)), nonIndexed(4, 4).named(strings.Repeat("l.", 31) + "l")} {
		n := newNamer(b.j)
		pods := planned(t, seen(b.started(), 60, podOf(b, 0, 0).exited(1, 1), podOf(b, 1, 0).ready())).Create
		made, short := pods[0], pods[0].Name
		earlier := change(made, func(p *corev1.Pod) {
			p.Name = n.longName(0, 1)
			delete(p.Labels, AttemptLabel)
			delete(p.Labels, SlotLabel)
		})
		for name, test := range map[string]struct {
			pod  *corev1.Pod
			want bool
		}{
			"made":                      {made, true},
			"without owner":             {change(made, func(p *corev1.Pod) { p.OwnerReferences = nil }), true},
			"of another Job":            {change(made, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }), false},
			"of another name":           {change(made, func(p *corev1.Pod) { p.Name = short[:len(short)-5] + "x7k2p" }), false},
			"of another attempt's name": {change(made, func(p *corev1.Pod) { p.Name = n.name(0, 2) }), false},
			"of another slot's name":    {change(made, func(p *corev1.Pod) { p.Name = n.name(2, 1) }), false},
			"with another number":       {change(made, func(p *corev1.Pod) { p.Labels[AttemptLabel] = "1" }), false},
			"with no number":            {change(made, func(p *corev1.Pod) { p.Labels[AttemptLabel] = "-" }), false},
			"with a negative number":    {change(made, func(p *corev1.Pod) { p.Labels[AttemptLabel] = "-1" }), false},
			"without its label":         {change(made, func(p *corev1.Pod) { delete(p.Labels, AttemptLabel) }), false},
			"without labels":            {change(made, func(p *corev1.Pod) { p.Labels = nil }), false},
			"earlier":                   {earlier, true},
			"earlier, without labels":   {change(earlier, func(p *corev1.Pod) { p.Labels = nil }), true},
			"earlier, without owner":    {change(earlier, func(p *corev1.Pod) { p.OwnerReferences = nil }), true},
			"earlier, of another Job":   {change(earlier, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }), false},
			"earlier, of another name":  {change(earlier, func(p *corev1.Pod) { p.Name = "train-x-0-" + n.cipher.tag }), false},
			"earlier, without UID":      {change(earlier, func(p *corev1.Pod) { p.OwnerReferences, p.Labels = nil, nil }), false},
			"of nobody":                 {&corev1.Pod{}, false},
		} {
			slot, attempt, ok := Place(test.pod)
			if ok != test.want || Made(test.pod) != test.want || ok && (slot != 0 || attempt != 2) {
				t.Errorf("%s, %s: slot %d, attempt %d, %t", test.pod.Name, name, slot, attempt, ok)
			}
		}
	}
}

// TestPlaceDespiteTemplate tests a template with the labels of our pods, of a Job with or without indexes: a pod gets its
// own labels.
func TestPlaceDespiteTemplate(t *testing.T) {
	for _, b := range []jobBuilder{indexed(2, 2), nonIndexed(2, 2)} {
		b := b.with(func(j *batchv1.Job) {
			maps.Copy(j.Spec.Template.Labels, map[string]string{AttemptLabel: "9", SlotLabel: "9", batchv1.JobCompletionIndexAnnotation: "9"})
		})
		for i, pod := range planned(t, seen(b.started(), 0)).Create {
			if slot, attempt, ok := Place(pod); !ok || slot != i || attempt != 1 {
				t.Errorf("%s, %v: slot %d, attempt %d, %t", pod.Name, pod.Labels, slot, attempt, ok)
			}
		}
	}
}

// TestEarlierNames tests that a Job started by an earlier version continues: numbers follow those in names of either
// form.
func TestEarlierNames(t *testing.T) {
	for _, b := range []jobBuilder{indexed(3, 3).started(), nonIndexed(3, 3).started()} {
		n := newNamer(b.j)
		o := seen(b, 600, podOf(b, 0, 0).earlier().exited(1, 1), podOf(b, 0, 1).exited(1, 2), podOf(b, 1, 3).earlier().ready(), podOf(b, 2, 0).earlier().exited(0, 1))
		p := planned(t, o)
		if got := slotsAndAttempts(o.Job, p.Create); !slices.Equal(got, []string{"0/2"}) || p.Create[0].Name != n.name(0, 2) {
			t.Errorf("created are %v", got)
		}
		if s := p.Write.Status; s.Succeeded != 1 || s.Failed != 2 || s.Active != 1 {
			t.Errorf("the status becomes %+v", s)
		}
		b.j.Spec.ManagedBy = new(v1alpha1.JobController)
		if got := Attempts(b.j, o.Pods); !slices.Equal(got, []int64{1, 2, 4, 1}) {
			t.Errorf("the attempts are %v", got)
		}
	}
}

// TestHighestNumbers tests that names with the highest numbers do not block a slot: a user may create a pod with such a
// name.
func TestHighestNumbers(t *testing.T) {
	for _, b := range []jobBuilder{indexed(1, 1).started(), nonIndexed(1, 1).started()} {
		for want, attempts := range map[string][]int{
			"0/14348906": {codes - 2}, "0/14348907": {codes - 1}, "0/2147483647": {math.MaxInt32 - 1}, "0/0": {math.MaxInt32},
			"0/1": {0, math.MaxInt32}, "0/2": {0, 1, 4, math.MaxInt32 - 1, math.MaxInt32},
		} {
			var pods []podBuilder
			for _, attempt := range attempts {
				pods = append(pods, podOf(b, 0, attempt).exited(1, 1))
			}
			o := seen(b, 10_000, pods...)
			if got := slotsAndAttempts(o.Job, planned(t, o).Create); !slices.Equal(got, []string{want}) {
				t.Errorf("after attempts %d: created are %v, want %s", attempts, got, want)
			}
		}
	}
	// All possible names can be used by other owners' pods.
	b := indexed(1, 1).started()
	o, n := seen(b, 60, podOf(b, 0, codes-3).exited(1, 1)), newNamer(b.j)
	o.Taken = map[string]bool{n.name(0, codes-2): true, n.name(0, codes-1): true}
	if got := slotsAndAttempts(o.Job, planned(t, o).Create); !slices.Equal(got, []string{"0/" + strconv.Itoa(codes)}) {
		t.Errorf("created are %v", got)
	}
}

// TestForgedLabels tests that forged or removed labels have no effect: the name decides.
func TestForgedLabels(t *testing.T) {
	for _, b := range []jobBuilder{indexed(2, 2).started(), nonIndexed(2, 2).started()} {
		for _, labels := range []map[string]string{nil, {AttemptLabel: "9", SlotLabel: "1"}, {AttemptLabel: "x"}} {
			forged := podOf(b, 0, 0).exited(1, 1).with(func(p *corev1.Pod) { p.Labels = labels })
			o := seen(b, 60, forged, podOf(b, 1, 0).ready())
			if got := slotsAndAttempts(o.Job, planned(t, o).Create); !slices.Equal(got, []string{"0/1"}) {
				t.Errorf("labels %v: created are %v", labels, got)
			}
		}
	}
}

func (b jobBuilder) named(name string) jobBuilder {
	return b.with(func(j *batchv1.Job) { j.Name = name })
}

// earlier returns the pod with the name that an earlier version would give it.
func (b podBuilder) earlier() podBuilder {
	owner := metav1.GetControllerOfNoCopy(b.p)
	n := namerOf(owner.Name, owner.UID, b.p.Annotations[batchv1.JobCompletionIndexAnnotation] != "")
	slot, attempt, _ := n.parse(b.p.Name)
	return b.name(n.longName(slot, attempt))
}
