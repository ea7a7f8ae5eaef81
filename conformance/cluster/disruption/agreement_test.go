//go:build cluster

package disruption

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// patience is the timeout for all trials, which run concurrently.
const patience = 5 * time.Minute

// pair is a disruption combined with a policy, in a Job of each controller.
type pair struct {
	name            string
	native, managed *trial
	want            outcome
}

// TestDisruptions tests that the program and both controllers agree on a pod, whatever disrupts it.
func TestDisruptions(t *testing.T) {
	w := newDisrupted(t)
	testcluster.RunController(t, controller.Options{Config: w.Cluster.Config, Namespace: w.Namespace, Observe: true}) // reports verdicts on native Jobs, too
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("no patience is left"))
	defer cancel()
	pairs := w.pairs()
	for _, p := range pairs {
		for _, r := range p.trials() {
			go r.conduct(ctx)
		}
	}
	for _, p := range pairs {
		t.Run(p.name, p.check)
	}
	t.Run("writers", func(t *testing.T) { w.checkWriters(t, pairs) })
}

// pairs returns all disruptions with all policies that apply to them.
func (w *disrupted) pairs() []pair {
	var pairs []pair
	for _, d := range disruptions {
		for _, p := range policies {
			want, ok := p.want[d.manner]
			if !ok {
				continue
			}
			pairs = append(pairs, pair{
				name: d.name + "-" + p.name, want: want,
				native: newTrial(w, d, p, "native", nil), managed: newTrial(w, d, p, "managed", new(controller.Name)),
			})
		}
	}
	return pairs
}

func (p pair) trials() []*trial { return []*trial{p.native, p.managed} }

// check compares both trials with the expectation, and with each other.
func (p pair) check(t *testing.T) {
	for _, r := range p.trials() {
		<-r.over
		if r.err != nil {
			t.Fatalf("%s: %v\n%s", r.name, r.err, r.state())
		}
		messages := map[string]bool{}
		for _, victim := range r.victims {
			messages[r.checkVictim(t, victim, p.want.verdict)] = true
		}
		if diff := cmp.Diff(p.want.job, endingOf(r.job)); diff != "" {
			t.Errorf("%s: the end of the Job (-want +got):\n%s", r.name, diff)
		}
		if got := last(r.job); got.Reason == batchv1.JobReasonPodFailurePolicy && !messages[got.Message] {
			t.Errorf("%s: the Job failed because %q, the verdicts say %q", r.name, got.Message, slices.Collect(maps.Keys(messages)))
		}
	}
	if diff := cmp.Diff(p.native.status(), p.managed.status()); diff != "" {
		t.Errorf("the statuses differ (-native +managed):\n%s", diff)
	}
}

// checkVictim checks the cause of the pod's end and its verdict, and returns the verdict's message.
func (r *trial) checkVictim(t *testing.T, victim *corev1.Pod, want judgement) string {
	t.Helper()
	if got := conditionOf(victim); got.Status != corev1.ConditionTrue || got.Reason != r.disruption.reason {
		t.Errorf("%s: the pod has the condition %+v, want the reason %s", r.name, got, r.disruption.reason)
	}
	verdict, err := r.engine(t.Context(), conformance.Request{Policy: r.job.Spec.PodFailurePolicy, Pod: victim})
	if err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	if diff := cmp.Diff(want, judgementOf(verdict)); diff != "" {
		t.Errorf("%s: the verdict (-want +got):\n%s", r.name, diff)
	}
	if got, want := r.told(victim), r.note(); got != want {
		t.Errorf("%s: the event says %q, want %q", r.name, got, want)
	}
	return verdict.Message()
}

func conditionOf(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget {
			return c
		}
	}
	return corev1.PodCondition{}
}

func endingOf(job *batchv1.Job) ending {
	s, c := job.Status, last(job)
	e := ending{Condition: c.Type, Reason: c.Reason, Succeeded: s.Succeeded, Failed: s.Failed, CompletedIndexes: s.CompletedIndexes}
	if s.FailedIndexes != nil {
		e.FailedIndexes = *s.FailedIndexes
	}
	return e
}

// status returns the Job's status without times and without the trial's names.
func (r *trial) status() batchv1.JobStatus {
	s := *r.job.Status.DeepCopy()
	s.StartTime, s.CompletionTime = nil, nil
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.LastProbeTime.Reset()
		c.LastTransitionTime.Reset()
		for _, victim := range r.victims {
			c.Message = strings.ReplaceAll(c.Message, victim.Name, "POD")
		}
	}
	return s
}

// checkWriters looks for each condition's writer in the audit log, in which a write may appear a moment after its
// response.
func (w *disrupted) checkWriters(t *testing.T, pairs []pair) {
	t.Helper()
	want := map[string]writer{} // by pod name
	for _, p := range pairs {
		for _, r := range p.trials() {
			if r.err == nil {
				for _, victim := range r.victims {
					want[victim.Name] = r.disruption.by
				}
			}
		}
	}
	for deadline := time.Now().Add(time.Minute); len(want) > 0; time.Sleep(100 * time.Millisecond) {
		for _, event := range w.Cluster.AuditLog(t, w.Namespace) {
			ref := event.ObjectRef
			if ref.Resource == "pods" && want[ref.Name] == (writer{event.User.Username, ref.Subresource}) {
				delete(want, ref.Name)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing is written for these pods by these users: %v", want)
		}
	}
}
