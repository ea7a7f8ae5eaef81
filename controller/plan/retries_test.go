package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func (r customRule) giving(memory *v1alpha1.RetryMemory, avoid v1alpha1.AvoidNode) customRule {
	r.mend = &v1alpha1.Retry{Memory: memory, AvoidNode: avoid}
	return r
}

func (b jobBuilder) memory(containers string) jobBuilder {
	return b.with(func(j *batchv1.Job) {
		spec := specOf(containers)
		j.Spec.Template.Spec.InitContainers, j.Spec.Template.Spec.Containers, j.Spec.Template.Spec.Resources = spec.InitContainers, spec.Containers, spec.Resources
	})
}

// killed makes the given containers OOMKilled.
func (b podBuilder) killed(containers ...string) podBuilder {
	return b.with(func(p *corev1.Pod) {
		ended := p.Status.ContainerStatuses[0].State
		p.Status.ContainerStatuses = p.Status.ContainerStatuses[:0]
		for _, name := range containers {
			status := corev1.ContainerStatus{Name: name, State: *ended.DeepCopy()}
			status.State.Terminated.Reason = "OOMKilled"
			if name == "init" || name == "sidecar" {
				p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status)
			} else {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status)
			}
		}
		if len(p.Status.ContainerStatuses) == 0 {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: ended}}
		}
	})
}

// A story is a sequence of events in the only slot of a Job: "oom node-1 main" if a container is OOMKilled, "exit 51
// node-1", "evict node-1", "vanish" if a pod without a node is deleted, "suspend" and "resume", "policies gone". It lists
// the created pods.
type story struct {
	name  string
	job   jobBuilder
	rules customRules
	tale  string
	want  string
}

func stories() []story {
	ni, ix := nonIndexed(1, 1).replaceFailed().backoffLimit(100), indexed(1, 1).replaceFailed().backoffLimit(100)
	pi, wq := perIndex(1, 1, 100).replaceFailed(), workQueue(1).replaceFailed().backoffLimit(100)
	oom := counting().giving(more("1.5", "3Gi"), "")
	elsewhere := counting().giving(nil, "Required")
	rules := customRules{137: oom, 51: elsewhere, 52: ignoring().giving(nil, "Preferred"), 53: counting().giving(more("2", "2Gi"), "Preferred")}
	const longTale = "oom n1 main; evict n2; oom n3 main; suspend; resume; vanish; exit 1 n4; exit 51 n1; evict n1; oom n1 main"
	const longWant = `1 main=512Mi/1Gi
2 main=768Mi/1536Mi
3 main=768Mi/1536Mi
4 main=1152Mi/2304Mi
5 main=1152Mi/2304Mi
6 main=1152Mi/2304Mi
7 main=1152Mi/2304Mi
8 main=1152Mi/2304Mi must[hostname NotIn n1]
9 main=1152Mi/2304Mi must[hostname NotIn n1]
10 main=1728Mi/3Gi must[hostname NotIn n1]`
	return []story{
		{"without indexes", ni.memory("main=512Mi/1Gi"), rules, longTale, longWant},
		{"an index", ix.memory("main=512Mi/1Gi"), rules, longTale, longWant},
		{"an index with a limit", pi.memory("main=512Mi/1Gi"), rules, longTale, longWant},
		{"a work queue", wq.memory("main=512Mi/1Gi"), rules, longTale, longWant},
		{"the rule matches without a killed container", ix.memory("main=512Mi/1Gi"), rules, "exit 137 n1; oom n1 main; exit 137 n1", "1 main=512Mi/1Gi\n2 main=512Mi/1Gi\n3 main=768Mi/1536Mi\n4 main=768Mi/1536Mi"},
		{"containers of all kinds", ix.memory("init=1Gi/ sidecar=/1Gi main=1Gi/1Gi other=1Gi/1Gi"), rules, "oom n1 init; oom n1 sidecar other; oom n1 other", `1 init=1Gi/ sidecar=/1Gi main=1Gi/1Gi other=1Gi/1Gi
2 init=1536Mi/ sidecar=/1Gi main=1Gi/1Gi other=1Gi/1Gi
3 init=1536Mi/ sidecar=/1536Mi main=1Gi/1Gi other=1536Mi/1536Mi
4 init=1536Mi/ sidecar=/1536Mi main=1Gi/1Gi other=2304Mi/2304Mi`},
		{"two rules", ix.memory("main=1Gi/1Gi"), rules, "oom n1 main; exit 53 n2 main; exit 51 n3; exit 53 n3 main; exit 52 n2; oom n3 main", `1 main=1Gi/1Gi
2 main=1536Mi/1536Mi
3 main=2Gi/2Gi 100[hostname NotIn n2]
4 main=2Gi/2Gi must[hostname NotIn n3] 100[hostname NotIn n2]
5 main=2Gi/2Gi must[hostname NotIn n3] 100[hostname NotIn n2]
6 main=2Gi/2Gi must[hostname NotIn n3] 100[hostname NotIn n2]
7 main=2304Mi/2304Mi must[hostname NotIn n3] 100[hostname NotIn n2]`},
		{"the last ten nodes, newest first", ix.memory("main="), rules, "exit 52 n1; exit 52 n2; exit 52 n3; exit 52 n1; " +
			"exit 52 n4; exit 52 n5; exit 52 n6; exit 52 n7; exit 52 n8; exit 52 n9; exit 52 n10; exit 52 n11", `1 main=
2 main= 100[hostname NotIn n1]
3 main= 100[hostname NotIn n2,n1]
4 main= 100[hostname NotIn n3,n2,n1]
5 main= 100[hostname NotIn n1,n3,n2]
6 main= 100[hostname NotIn n4,n1,n3,n2]
7 main= 100[hostname NotIn n5,n4,n1,n3,n2]
8 main= 100[hostname NotIn n6,n5,n4,n1,n3,n2]
9 main= 100[hostname NotIn n7,n6,n5,n4,n1,n3,n2]
10 main= 100[hostname NotIn n8,n7,n6,n5,n4,n1,n3,n2]
11 main= 100[hostname NotIn n9,n8,n7,n6,n5,n4,n1,n3,n2]
12 main= 100[hostname NotIn n10,n9,n8,n7,n6,n5,n4,n1,n3,n2]
13 main= 100[hostname NotIn n11,n10,n9,n8,n7,n6,n5,n4,n1,n3]`},
		{"a budget for the Job", ni.memory("main=1Gi/1Gi"), customRules{137: oom.upTo(1, v1alpha1.PerJob, batchv1.PodFailurePolicyActionCount)},
			"oom n1 main; oom n1 main", "1 main=1Gi/1Gi\n2 main=1536Mi/1536Mi\n3 main=1536Mi/1536Mi"},
		{"a budget for the index", ix.memory("main=1Gi/1Gi"), customRules{137: oom.upTo(2, v1alpha1.PerIndex, batchv1.PodFailurePolicyActionIgnore)},
			"oom n1 main; evict n2; oom n1 main; oom n1 main", "1 main=1Gi/1Gi\n2 main=1536Mi/1536Mi\n3 main=1536Mi/1536Mi\n4 main=2304Mi/2304Mi\n5 main=2304Mi/2304Mi"},
		{"a budget for the Job, of an index with a limit", pi.memory("main=1Gi/1Gi"), customRules{137: oom.upTo(2, v1alpha1.PerJob, batchv1.PodFailurePolicyActionIgnore)},
			"oom n1 main; oom n1 main; oom n1 main", "1 main=1Gi/1Gi\n2 main=1536Mi/1536Mi\n3 main=2304Mi/2304Mi\n4 main=2304Mi/2304Mi"},
		{"policies that are gone", ix.memory("main=1Gi/1Gi"), rules, "oom n1 main; exit 51 n2; policies gone; oom n1 main; suspend; resume; exit 1 n1", `1 main=1Gi/1Gi
2 main=1536Mi/1536Mi
3 main=1536Mi/1536Mi must[hostname NotIn n2]
4 main=1536Mi/1536Mi must[hostname NotIn n2]
5 main=1536Mi/1536Mi must[hostname NotIn n2]
6 main=1536Mi/1536Mi must[hostname NotIn n2]`},
	}
}

// TestRetryStories tests that each attempt has the memory and avoids the nodes given by the story, even if the controller
// crashes at any of its calls.
func TestRetryStories(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			calls := s.run(t, -1)
			for crash := range calls {
				if testing.Short() && crash%7 > 0 {
					continue
				}
				s.run(t, crash)
			}
		})
	}
}

// teller runs a story.
type teller struct {
	*world

	crash, calls int // the call before which the controller crashes, and the number of all calls
	told         map[types.UID]bool
	created      []string
}

// run runs a story with a crash before one of the controller's calls, and returns the number of its calls.
func (s story) run(t *testing.T, crash int) int {
	t.Helper()
	r := &teller{world: newWorld(t.Fatalf, s.job), crash: crash, told: map[types.UID]bool{}}
	r.rules, r.volatile = newRuleModel(r.job.Spec.CompletionMode != nil && *r.job.Spec.CompletionMode == batchv1.IndexedCompletion, s.rules), true
	r.work()
	for step := range strings.SplitSeq(strings.TrimRight(s.tale, "; "), "; ") {
		r.step(step)
		r.work()
	}
	if got := strings.Join(r.created, "\n"); got != s.want {
		t.Fatalf("with a crash before call %d, the pods are\n%s\nwant\n%s", crash, got, s.want)
	}
	return r.calls
}

// work lets the controller make all its calls, and nodes end deleted pods.
func (r *teller) work() {
	for range 20 {
		r.now = r.now.Add(time.Hour)
		r.catchUp()
		calls := r.world.calls(r.next())
		for _, call := range calls {
			if r.calls++; r.calls-1 == r.crash {
				break
			}
			call()
		}
		for _, name := range slices.Sorted(maps.Keys(r.pods)) {
			if p := r.pods[name]; podView(p).terminating() {
				r.update(name, func(p *corev1.Pod) { podBuilder{p}.exited(143, r.second()) })
			} else if !r.told[p.UID] {
				r.told[p.UID] = true
				r.created = append(r.created, fmt.Sprintf("%d %s", len(r.created)+1, specText(&p.Spec)))
			}
		}
		if len(calls) == 0 {
			return
		}
	}
	r.fail("there is no end of calls")
}

func (r *teller) second() int { return int(r.now.Sub(epoch).Seconds()) }

func (r *teller) step(step string) {
	words := strings.Fields(step)
	switch words[0] {
	case "suspend", "resume":
		r.job = r.job.DeepCopy()
		r.job.Spec.Suspend = new(words[0] == "suspend")
		r.changedJob()
		return
	case "policies":
		r.rules.customRules = customRules{}
		return
	}
	var name string
	for _, active := range slices.Sorted(maps.Keys(r.pods)) {
		if podView(r.pods[active]).active() {
			name = active
		}
	}
	r.update(name, func(p *corev1.Pod) {
		b := podBuilder{p}
		switch words[0] {
		case "vanish":
			b.deleted(r.second())
			return
		case "evict":
			b.running().disrupted().deleted(r.second()).exited(143, r.second())
		case "oom":
			b.running().exited(137, r.second()).killed(words[2:]...)
		case "exit":
			code, _ := strconv.Atoi(words[1])
			words = words[1:]
			b.running().exited(int32(code), r.second())
			if len(words) > 2 {
				b.killed(words[2:]...)
			}
		}
		p.Spec.NodeName = words[1]
	})
}

// TestImplausibleRetries tests that an annotation that no Plan could have written is a Problem, and counts as empty; the
// template's annotation is ignored.
func TestImplausibleRetries(t *testing.T) {
	ix := indexed(3, 1).started().replaceFailed().memory("main=1Gi/1Gi").with(func(j *batchv1.Job) {
		metav1.SetMetaDataAnnotation(&j.Spec.Template.ObjectMeta, RetryAnnotation, `{"p/oom":{"memory":{"factor":"2","max":"8Gi"},"oomKilled":{"main":1}}}`)
	})
	const valid = `{"p/oom":{"memory":{"factor":"2","max":"8Gi"},"oomKilled":{"main":1}}}`
	for text, want := range map[string]string{
		valid: "main=2Gi/2Gi",
		`{"p/oom":{"memory":{"factor":"2","max":"8Gi"},"avoidNode":"Preferred","oomKilled":{"main":1},"nodes":["n1"]}}`: "main=2Gi/2Gi 100[hostname NotIn n1]",
		``:   "",
		`[]`: "",
		`{"p/oom":{"memory":{"factor":"1","max":"8Gi"},"oomKilled":{"main":1}}}`:                     "",
		`{"p/oom":{"memory":{"factor":"2","max":"8Zi"},"oomKilled":{"main":1}}}`:                     "",
		`{"p/oom":{"avoidNode":"Never","nodes":["n1"]}}`:                                             "",
		`{"p/oom":{"avoidNode":"Required","nodes":["1","2","3","4","5","6","7","8","9","10","11"]}}`: "",
		`{"` + strings.Repeat("p", maxRuleKey+1) + `":{"avoidNode":"Required","nodes":["n1"]}}`:      "",
	} {
		o := seen(ix, 600, podOf(ix, 0, 0).annotated(RetryAnnotation, text).exited(1, 5))
		o.Judge, o.Volatile = customRules{}.judge, true
		p := Next(o)
		if wrong := want == ""; (len(p.Problems) > 0) != wrong {
			t.Errorf("%.80s: problems %v", text, p.Problems)
		}
		if got := specText(&p.Create[0].Spec); got != cmp.Or(want, "main=1Gi/1Gi") {
			t.Errorf("%.80s: the next pod has %s, want %s", text, got, want)
		}
		if _, given := p.Create[0].Annotations[RetryAnnotation]; given == (want == "") {
			t.Errorf("%.80s: the next pod has the annotation: %v", text, given)
		}
	}
}

// TestMendedPodsShare tests that the pods of a Plan share the parts that retries do not change.
func TestMendedPodsShare(t *testing.T) {
	ix := indexed(3, 3).started().replaceFailed().memory("main=1Gi/1Gi other=1Gi/1Gi")
	o := seen(ix, 600, podOf(ix, 1, 0).exited(137, 5).killed("main"))
	o.Judge, o.Volatile = customRules{137: counting().giving(more("2", "8Gi"), "")}.judge, true
	var got []string
	for _, p := range Next(o).Create {
		got = append(got, specText(&p.Spec))
	}
	want := []string{"main=1Gi/1Gi other=1Gi/1Gi", "main=2Gi/2Gi other=1Gi/1Gi", "main=1Gi/1Gi other=1Gi/1Gi"}
	if !slices.Equal(got, want) {
		t.Errorf("the pods have %q, want %q", got, want)
	}
}

// TestRetriesAfter tests RetriesAfter: for managed Jobs it returns Next's retries, for others the sum of the pods before.
func TestRetriesAfter(t *testing.T) {
	rules := customRules{137: counting().giving(more("2", "8Gi"), ""), 51: counting().giving(nil, "Preferred")}
	carried := `{"gpu/code-137":{"memory":{"factor":"2","max":"8Gi"},"oomKilled":{"main":2}}}`
	native := func(b jobBuilder) jobBuilder { return b.with(func(j *batchv1.Job) { j.Spec.ManagedBy = nil }) }
	managed := func(b jobBuilder) jobBuilder {
		return b.with(func(j *batchv1.Job) { j.Spec.ManagedBy = new(v1alpha1.JobController) })
	}
	fail := func(b jobBuilder, slot int, name string, code int32, second int, killed ...string) podBuilder {
		p := podOf(b, slot, 0).running().exited(code, second)
		if name != "" {
			p = p.name(name)
		}
		if len(killed) > 0 {
			p = p.killed(killed...)
		}
		return p
	}
	ix, one, many := indexed(3, 3), nonIndexed(1, 1), nonIndexed(4, 2)
	finished := managed(ix).condition(batchv1.JobFailed, "True", "", "")
	for _, test := range []struct {
		name string
		job  jobBuilder
		pods []podBuilder
		want map[string]string
	}{
		{"managed: carried", managed(ix), []podBuilder{
			fail(ix, 0, "", 137, 5, "main").annotated(RetryAnnotation, carried), fail(ix, 1, "", 1, 5).annotated(RetryAnnotation, carried),
		}, map[string]string{"train-0-45m99": "main=8Gi/8Gi", "train-1-vxtrp": "main=4Gi/4Gi"}},
		{"managed: ended", finished, []podBuilder{fail(ix, 0, "", 137, 5, "main").released()}, map[string]string{"train-0-45m99": "main=2Gi/2Gi"}},
		{"native: an index, by finish time", native(ix), []podBuilder{
			fail(ix, 0, "a", 137, 9, "main").annotated(RetryAnnotation, carried), fail(ix, 0, "b", 1, 8), fail(ix, 0, "c", 137, 7, "main"), fail(ix, 1, "d", 137, 8, "main"),
			fail(ix, 1, "e", 51, 7).released().deleted(6),
		}, map[string]string{"a": "main=4Gi/4Gi", "b": "main=2Gi/2Gi", "c": "main=2Gi/2Gi", "d": "main=2Gi/2Gi 100[hostname NotIn node]", "e": "main=1Gi/1Gi 100[hostname NotIn node]"}},
		{"native: one at a time", native(one), []podBuilder{fail(one, 0, "a", 137, 5, "main"), fail(one, 0, "b", 137, 7, "main")},
			map[string]string{"a": "main=2Gi/2Gi", "b": "main=4Gi/4Gi"}},
		{"native: several at a time", native(many), []podBuilder{fail(many, 0, "a", 137, 5, "main"), fail(many, 0, "b", 137, 7, "main")},
			map[string]string{"a": "main=2Gi/2Gi", "b": "main=2Gi/2Gi"}},
		{"managed, with other names", managed(one), []podBuilder{fail(one, 0, "a", 137, 5, "main"), fail(one, 0, "b", 137, 7, "main")},
			map[string]string{"a": "main=2Gi/2Gi", "b": "main=4Gi/4Gi"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := test.job.memory("main=1Gi/1Gi")
			o := seen(job, 600, test.pods...)
			o.Judge, o.Volatile = rules.judge, true
			got := map[string]string{}
			for name, retries := range RetriesAfter(o) {
				mended, _ := retries.Mend(&job.j.Spec.Template.Spec)
				got[name] = specText(&mended)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
