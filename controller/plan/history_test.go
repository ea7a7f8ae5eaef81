package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

func (b podBuilder) after(attempts ...cel.Attempt) podBuilder {
	return b.annotated(EarlierAttemptsAnnotation, listText(attempts))
}

func (b podBuilder) created(second int) podBuilder {
	return b.with(func(p *corev1.Pod) { p.CreationTimestamp = at(second) })
}

// past returns an attempt that ended some seconds after the epoch.
func past(uid types.UID, code int32, second int) cel.Attempt {
	return cel.Attempt{Pod: uid, ExitCode: code, StartTime: epoch, FinishTime: at(second).Time}
}

// codesOf returns the exit codes of attempts, and the rules that decided on them.
func codesOf(attempts []cel.Attempt) string {
	var codes []string
	for _, a := range attempts {
		codes = append(codes, strings.TrimSuffix(fmt.Sprintf("%d %s", a.ExitCode, a.Rule), " "))
	}
	return strings.Join(codes, ", ")
}

// TestPodsCarryAttempts tests that a pod is created with the attempts before it: those at its index, or the last ones of
// a Job without indexes.
func TestPodsCarryAttempts(t *testing.T) {
	ix, pi, non := indexed(3, 1).started().replaceFailed(), perIndex(3, 1, 9).started().replaceFailed(), nonIndexed(3, 1).started().replaceFailed()
	stored := non.ledger(`{"failed":1,"attempts":[` + strings.Trim(listText([]cel.Attempt{past("gone", 4, 3)}), "[]") + `]}`).
		status(func(s *batchv1.JobStatus) { s.Failed = 1 })
	for _, test := range []struct {
		name string
		job  jobBuilder
		pods []podBuilder
		want string
	}{
		{"none", ix, nil, ""},
		{"one, and the rule that decided", ix, []podBuilder{podOf(ix, 0, 0).exited(51, 5)}, "51 code-51"},
		{"with a limit for each index", pi, []podBuilder{podOf(pi, 0, 0).exited(1, 5)}, "1"},
		{"another index", ix, []podBuilder{podOf(ix, 0, 0).exited(1, 5), podOf(ix, 1, 0).exited(2, 6)}, "1"},
		{"what it knew, and itself", ix, []podBuilder{podOf(ix, 0, 1).after(past("a", 7, 3)).exited(1, 5)}, "1, 7"},
		{"by attempt, if the clocks of nodes differ", ix, []podBuilder{podOf(ix, 0, 0).exited(1, 9), podOf(ix, 0, 1).after(past("uid-train-0-45m99", 1, 9)).exited(2, 5)}, "2, 1"},
		{"dismissed, and failed then", ix, []podBuilder{podOf(ix, 0, 0).exited(1, 5), podOf(ix, 0, 1).after(past("x", 1, 5)).exited(2, 8).released().deleted(6)}, "1"},
		{"dismissed, and gone is what it knew", ix, []podBuilder{podOf(ix, 0, 1).after(past("x", 7, 5)).exited(2, 8).released().deleted(6)}, "7"},
		{"no indexes, newest first", non, []podBuilder{podOf(non, 0, 0).exited(1, 5), podOf(non, 1, 0).exited(51, 9), podOf(non, 2, 0).exited(3, 7)}, "51 code-51, 3, 1"},
		{"no indexes, in the ledger", stored, []podBuilder{podOf(non, 0, 0).exited(1, 5), podOf(non, 1, 0).exited(2, 2)}, "1, 4, 2"},
		{"no indexes, dismissed", non, []podBuilder{podOf(non, 0, 0).exited(1, 5), podOf(non, 1, 0).exited(2, 9).released().deleted(6)}, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := seen(test.job.with(func(j *batchv1.Job) {
				metav1.SetMetaDataAnnotation(&j.Spec.Template.ObjectMeta, EarlierAttemptsAnnotation, "of the template")
			}), 600, test.pods...)
			o.Judge = customRules{51: counting()}.judge
			for _, reads := range []bool{true, false} {
				o.ReadsAttempts = reads
				created := planned(t, o).Create
				if len(created) == 0 {
					t.Fatal("nothing is created")
				}
				text, given := created[0].Annotations[EarlierAttemptsAnnotation]
				if given != reads {
					t.Fatalf("rules read attempts: %v, the annotation is %q", reads, text)
				}
				if got := codesOf(CarriedAttempts(created[0])); reads && got != test.want {
					t.Errorf("%s is created with %q, want %q", created[0].Name, got, test.want)
				}
			}
		})
	}
}

// TestAttemptsThatFit tests that a list has at most 10 attempts and 4 KiB, and less if the template's annotations leave
// less room.
func TestAttemptsThatFit(t *testing.T) {
	b := indexed(1, 1).started().replaceFailed()
	var ten, long []cel.Attempt
	for i := range 10 {
		a := past(types.UID(fmt.Sprint("uid-", i)), int32(i+1), 100-i)
		ten = append(ten, a)
		a.Node, a.Policy, a.Reason = strings.Repeat("n", 253), strings.Repeat("p", 253), strings.Repeat("r", 256)
		if longer := append(slices.Clip(long), a); len(listText(longer)) <= 4096 {
			long = longer
		}
	}
	for name, test := range map[string]struct {
		before []cel.Attempt
		room   int
		want   int
	}{"ten": {ten, 1 << 20, 10}, "long": {long, 1 << 20, len(long) + 1}, "little room": {ten, 500, 4}, "no room": {ten, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			job := b.with(func(j *batchv1.Job) {
				note := strings.Repeat("x", max(0, 256<<10-test.room-len("note")))
				metav1.SetMetaDataAnnotation(&j.Spec.Template.ObjectMeta, "note", note)
			})
			o := seen(job, 600, podOf(b, 0, 10).after(test.before...).exited(41, 200))
			o.ReadsAttempts, o.Judge = true, customRules{}.judge
			p := planned(t, o)
			if len(p.Create) != 1 || len(p.Problems) > 0 {
				t.Fatalf("%v are created, problems are %v", podNames(p.Create), p.Problems)
			}
			size := 0
			for key, value := range p.Create[0].Annotations {
				size += len(key) + len(value)
			}
			got := CarriedAttempts(p.Create[0])
			if len(got) > test.want || test.room > 1<<10 && len(got) < test.want || size > 256<<10 && test.room > 1 || len(listText(got)) > 4096 {
				t.Errorf("%d attempts, all annotations have %d bytes", len(got), size)
			}
			if len(got) > 0 && got[0].ExitCode != 41 {
				t.Errorf("the newest is %+v", got[0])
			}
		})
	}
}

// TestForgedAttempts tests that an annotation that no Plan could have written is a Problem, and counts as empty.
func TestForgedAttempts(t *testing.T) {
	b := indexed(3, 1).started()
	valid := past("a", 1, 5)
	eleven := slices.Repeat([]cel.Attempt{valid}, 11)
	for i := range eleven {
		eleven[i].Pod = types.UID(fmt.Sprint(i))
	}
	long := valid
	long.Node = strings.Repeat("n", 4096)
	for text, problems := range map[string]int{
		"[]": 0, "null": 0, listText([]cel.Attempt{valid}): 0, listText(eleven[:10]): 0,
		"": 1, "x": 1, "{}": 1, `[{}]`: 1, `[{"pod":"a"}]`: 1, listText(eleven): 1, listText([]cel.Attempt{valid, valid}): 1,
		listText([]cel.Attempt{long}): 1, `[{"pod":"a","finishTime":"now"}]`: 1, listText([]cel.Attempt{valid}) + strings.Repeat(" ", 4096): 1,
	} {
		o := seen(b, 6, podOf(b, 0, 1).annotated(EarlierAttemptsAnnotation, text).exited(1, 5))
		read := false
		o.ReadsAttempts = true
		o.Judge = func(p *corev1.Pod, _ int64, earlier func() []cel.Attempt) runtime.Verdict {
			read = len(earlier()) > 0
			return runtime.Unmatched(p)
		}
		if got := planned(t, o).Problems; len(got) != problems || problems > 0 && read {
			t.Errorf("%.99s: problems are %v", text, got)
		}
	}
	for _, attempts := range []string{`[{}]`, `[{"pod":"a"}]`, listText(eleven), listText([]cel.Attempt{long})} {
		o := seen(nonIndexed(3, 1).started().ledger(`{"attempts":`+attempts+`}`), 6)
		if got := planned(t, o).Problems; len(got) != 1 {
			t.Errorf("%.99s in the ledger: problems are %v", attempts, got)
		}
	}
}

// TestLedgerHasAttempts tests that a failed pod of a Job without indexes is released once the ledger has the attempt,
// whether it counts or not.
func TestLedgerHasAttempts(t *testing.T) {
	b := nonIndexed(3, 3).started().replaceFailed().ledger(`{"volatile":true}`)
	for _, code := range []int32{codeIgnore, 1} {
		o := seen(b, 600, podOf(b, 0, 0).exited(code, 5).deleted(6), podOf(b, 1, 0).exited(0, 9), podOf(b, 2, 0).ready())
		o.ReadsAttempts, o.Volatile = true, true
		o.Judge = func(p *corev1.Pod, _ int64, _ func() []cel.Attempt) runtime.Verdict { return judge(p) }
		p := planned(t, o)
		if len(p.Release) > 0 || p.Write == nil {
			t.Fatalf("code %d: %v are let go before anything is written", code, podNames(p.Release))
		}
		var read ledger
		if err := json.Unmarshal([]byte(ledgerIn(&p.Write.Status)), &read); err != nil || codesOf(read.Attempts) != fmt.Sprint(code) {
			t.Errorf("code %d: the ledger is %s", code, ledgerIn(&p.Write.Status))
		}
		o.Job = p.Write
		if p = planned(t, o); !slices.Contains(p.Release, o.Pods[0]) {
			t.Errorf("code %d: %v are let go", code, podNames(p.Release))
		}
	}
}

// TestEarlierAttempts tests that EarlierAttempts uses the attempts that pods carry, otherwise the pods' finish times.
func TestEarlierAttempts(t *testing.T) {
	native, managed := indexed(2, 2), indexed(2, 2).with(func(j *batchv1.Job) { j.Spec.ManagedBy = new("podverdict.io/job-controller") })
	non := nonIndexed(2, 2)
	pd := func(b jobBuilder, name string, index int) podBuilder { return podOf(b, index, 0).name(name) }
	rules := customRules{51: counting()}
	for name, test := range map[string]struct {
		job  jobBuilder
		pods []podBuilder
		want string // attempts before the last pod
	}{
		"those that had failed": {native, []podBuilder{
			pd(native, "a", 0).exited(1, 5), pd(native, "b", 0).created(6).exited(2, 9), pd(native, "c", 0).created(20).exited(3, 25), pd(native, "d", 0).created(12).running(),
		}, "2, 1"},
		"of the index":         {native, []podBuilder{pd(native, "a", 1).exited(1, 5), pd(native, "b", 0).created(12).running()}, ""},
		"of the Job":           {non, []podBuilder{pd(non, "a", 0).exited(1, 5), pd(non, "b", 0).exited(0, 5), pd(non, "c", 0).created(12).running()}, "1"},
		"none carries them":    {native, []podBuilder{pd(native, "b", 0).created(12).after(past("a", 9, 3)).running()}, ""},
		"a managed pod does":   {managed, []podBuilder{pd(managed, "a", 0).exited(1, 5), pd(managed, "b", 0).created(12).after(past("a", 9, 3)).running()}, "9"},
		"and what decided":     {managed, []podBuilder{pd(managed, "a", 0).exited(51, 5), pd(managed, "b", 0).created(12).running()}, "51 code-51"},
		"not without creation": {native, []podBuilder{pd(native, "a", 0).exited(1, 5), pd(native, "b", 0).with(func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{} })}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(test.job, 600, test.pods...)
			o.Judge = rules.judge
			if !Managed(o.Job) {
				o.Judge = nil
			}
			if got := codesOf(EarlierAttempts(o)[o.Pods[len(o.Pods)-1].Name]); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	var many []podBuilder
	for i := range 20 {
		many = append(many, pd(native, fmt.Sprint(i), 0).created(10*i).exited(int32(i+1), 10*i+5))
	}
	earlier := EarlierAttempts(seen(native, 600, many...))
	if got := codesOf(earlier["19"]); got != "19, 18, 17, 16, 15, 14, 13, 12, 11, 10" || codesOf(earlier["2"]) != "2, 1" {
		t.Errorf("got %q and %q", got, codesOf(earlier["2"]))
	}
}
