package plan

import (
	"cmp"
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/runtime"
)

// attemptModel has the true history of a Job, and checks Plans against it. A nil model checks nothing.
type attemptModel struct {
	failed map[types.UID]pastAttempt // pods that were seen to have failed while they were held
	before map[string]string         // attempts that pods were created with
}

type pastAttempt struct {
	cel.Attempt

	slot, attempt int
}

// read makes rules that read attempts judge an Observation.
func (m *attemptModel) read(w *world, o *Observation) {
	if m == nil {
		return
	}
	o.ReadsAttempts = true
	judge := o.Judge
	o.Judge = func(p *corev1.Pod, attempt int64, earlier func() []cel.Attempt) runtime.Verdict {
		if got, want := listText(earlier()), m.before[p.Name]; got != want {
			w.fail("rules see before %s\n%s, want\n%s", p.Name, got, want)
		}
		return judge(p, attempt, earlier)
	}
}

func listText(attempts []cel.Attempt) string {
	text, _ := json.Marshal(append([]cel.Attempt{}, attempts...)) //nolint:errchkjson // it is a test's
	return string(text)
}

// check compares a Plan with the failed attempts.
func (m *attemptModel) check(w *world, o Observation, p Plan) {
	if m == nil {
		return
	}
	namer := newNamer(o.Job)
	for _, pod := range o.Pods {
		if pod.Status.Phase != corev1.PodFailed || !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			continue
		}
		ended := pod.Status.ContainerStatuses[0].State.Terminated
		past := pastAttempt{Attempt: cel.Attempt{
			Pod: pod.UID, Node: pod.Spec.NodeName, ExitCode: ended.ExitCode, Reason: ended.Reason, OOMKilled: len(cel.OOMKilled(pod)) > 0,
			StartTime: pod.CreationTimestamp.Time, FinishTime: ended.FinishedAt.Time,
		}}
		past.slot, past.attempt, _ = namer.parse(pod.Name)
		if v := w.rules.judge(pod, 1, nil); v.Matched {
			past.Policy, past.Rule = v.Policy, v.RuleName
		}
		m.failed[pod.UID] = past
	}
	for _, created := range p.Create {
		slot, _, _ := namer.parse(created.Name)
		var given []cel.Attempt
		_ = json.Unmarshal([]byte(created.Annotations[EarlierAttemptsAnnotation]), &given)
		last := m.last(slot, namer.indexed)
		if w.scaled && namer.indexed { // an index that was done, and that the Job has lost since, starts over
			last = last[:min(len(last), len(given))]
		}
		if got, want := created.Annotations[EarlierAttemptsAnnotation], listText(last); got != want {
			w.fail("%s is created with\n%s, want\n%s", created.Name, got, want)
		}
	}
}

// last returns the last attempts at an index, or of the Job.
func (m *attemptModel) last(slot int, indexed bool) []cel.Attempt {
	var all []pastAttempt
	for _, past := range m.failed {
		if !indexed || past.slot == slot {
			all = append(all, past)
		}
	}
	slices.SortFunc(all, func(a, b pastAttempt) int {
		if indexed {
			return b.attempt - a.attempt
		}
		return cmp.Or(b.FinishTime.Compare(a.FinishTime), b.StartTime.Compare(a.StartTime), cmp.Compare(b.Pod, a.Pod))
	})
	var last []cel.Attempt
	for _, past := range all[:min(len(all), 10)] {
		last = append(last, past.Attempt)
	}
	return last
}

func (m *attemptModel) created(p *corev1.Pod) {
	if m != nil {
		m.before[p.Name] = p.Annotations[EarlierAttemptsAnnotation]
	}
}
