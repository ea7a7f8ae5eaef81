//go:build cluster

package disruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// trial is one Job whose pods are disrupted.
type trial struct {
	*disrupted
	disruption disruption
	policy     policy
	name       string  // name of the Job, and part of the names of all objects made for it
	managedBy  *string // spec.managedBy

	running []*corev1.Pod // the last pods seen running
	targets []*corev1.Pod // targets of the disruption
	victims []*corev1.Pod // the targets as they ended
	job     *batchv1.Job  // the Job as it finished
	err     error
	over    chan struct{} // closed when all fields are set
}

func newTrial(w *disrupted, d disruption, p policy, name string, managedBy *string) *trial {
	return &trial{
		disrupted: w, disruption: d, policy: p, name: fmt.Sprintf("%s-%s-%s", d.name, p.name, name),
		managedBy: managedBy, over: make(chan struct{}),
	}
}

// conduct runs the Job to its end.
func (r *trial) conduct(ctx context.Context) {
	defer close(r.over)
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"start", r.start},
		{"wait for the pods to run", r.awaitPods},
		{"strike", r.strike},
		{"wait for the pods to end", r.awaitVictims},
		{"repair", func(ctx context.Context) error { return r.disruption.repair(r, ctx) }},
		{"wait for the Job to finish or to replace the pods", r.awaitPods},
		{"let them succeed", r.succeed},
		{"wait for the Job to finish", r.awaitJob},
		{"wait for the events of the verdicts", r.awaitEvents},
	} {
		if err := step.do(ctx); err != nil {
			r.err = fmt.Errorf("%s: %w", step.name, err)
			return
		}
	}
}

// start creates the Job and a node for its pod.
func (r *trial) start(ctx context.Context) error {
	if err := r.addNode(ctx, r.name+"-0", r.name); err != nil {
		return err
	}
	job := testcluster.NewJob(r.name, r.policy.shape)
	job.Spec.ManagedBy, job.Spec.PodFailurePolicy = r.managedBy, &batchv1.PodFailurePolicy{Rules: r.policy.rules}
	job.Spec.Template.Spec.NodeSelector = map[string]string{poolLabel: r.name}
	if r.policy.exitCode != "" {
		job.Spec.Template.Annotations = map[string]string{controlplane.AnnotationTerminatedExitCode: r.policy.exitCode}
	}
	if job.Spec.BackoffLimit == nil && job.Spec.BackoffLimitPerIndex == nil {
		job.Spec.BackoffLimit = new(int32)
	}
	_, err := r.Client.BatchV1().Jobs(r.Namespace).Create(ctx, job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	return err
}

// awaitPods waits until the Job's pod runs, or the Job has finished.
func (r *trial) awaitPods(ctx context.Context) error {
	return r.history.until(ctx, func(h *history) bool {
		if r.running = nil; finished(h.jobs[r.name]) {
			return true
		}
		r.running = h.of(r.name, corev1.PodRunning)
		return len(r.running) == 1
	})
}

func (r *trial) strike(ctx context.Context) error {
	if len(r.running) == 0 {
		return errors.New("the Job has finished already")
	}
	r.targets = r.running
	return r.disruption.strike(r, ctx)
}

func (r *trial) awaitVictims(ctx context.Context) error {
	return r.history.until(ctx, func(h *history) bool {
		r.victims = nil
		for _, pod := range r.targets {
			if pod = h.pods[pod.UID]; pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
				r.victims = append(r.victims, pod)
			}
		}
		return len(r.victims) == len(r.targets)
	})
}

// succeed ends the running pods, if any.
func (r *trial) succeed(ctx context.Context) error {
	return r.annotate(ctx, r.running, controlplane.AnnotationExitCode, "0")
}

func (r *trial) awaitJob(ctx context.Context) error {
	return r.history.until(ctx, func(h *history) bool {
		r.job = h.jobs[r.name]
		return finished(r.job)
	})
}

// awaitEvents waits for our controller's events about the victims.
func (r *trial) awaitEvents(ctx context.Context) error {
	if r.note() == "" {
		return nil
	}
	return r.history.until(ctx, func(h *history) bool {
		return !slices.ContainsFunc(r.victims, func(pod *corev1.Pod) bool { return h.verdicts[pod.UID] == nil })
	})
}

// note returns the event that our controller should record for each victim. If it runs the Job itself and no rule matches
// a pod, it records none.
func (r *trial) note() string {
	v := r.policy.want[r.disruption.manner].verdict
	switch {
	case v.Matched && v.Container != "":
		return fmt.Sprintf("%s by rule %d: container %s exited with %d", v.Action, v.Rule, v.Container, v.ExitCode)
	case v.Matched:
		return fmt.Sprintf("%s by rule %d: condition %s", v.Action, v.Rule, v.Condition)
	case v.Terminal && r.managedBy == nil:
		return fmt.Sprintf("%s: no rule matches", v.Action)
	}
	return ""
}

// told returns the recorded event for a victim, without the reasons why a rule does not match.
func (r *trial) told(victim *corev1.Pod) string {
	r.history.mu.Lock()
	defer r.history.mu.Unlock()
	event := r.history.verdicts[victim.UID]
	if event == nil {
		return ""
	}
	note, _, _ := strings.Cut(event.Note, ": rule 0")
	return note
}

// finished reports whether a Job exists and is Complete or Failed.
func finished(job *batchv1.Job) bool { return job != nil && last(job).Type != "" }

// last returns the condition with which the Job ended.
func last(job *batchv1.Job) batchv1.JobCondition {
	return ptr.Deref(testcluster.Finished(job), batchv1.JobCondition{})
}

// state describes a failed trial.
func (r *trial) state() string {
	r.history.mu.Lock()
	defer r.history.mu.Unlock()
	var text strings.Builder
	if job := r.history.jobs[r.name]; job != nil {
		fmt.Fprintf(&text, "Job %+v\n", job.Status)
	}
	for _, pod := range r.history.pods {
		if pod.Spec.NodeSelector[poolLabel] == r.name {
			fmt.Fprintf(&text, "pod %s on %q, deleted %v: %+v\n", pod.Name, pod.Spec.NodeName, pod.DeletionTimestamp, pod.Status)
		}
	}
	return text.String()
}
