package life

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
)

// Stage is the environment in which a life runs.
type Stage struct {
	Client kubernetes.Interface
	// Namespace must be empty, and used by no other client.
	Namespace string
	// Node is the name of a ready node without a kubelet. The player acts as its kubelet.
	Node string
	// ManagedBy is the Job's spec.managedBy; empty means kube-controller-manager.
	ManagedBy string
	// Kubernetes is the version of the control plane; nil means the newest.
	Kubernetes *version.Version
	// Patience is the time limit for a step.
	Patience time.Duration
	// Quiet is the time for which the state must be stable at a checkpoint. It must be longer than a controller's
	// reaction time.
	Quiet time.Duration
}

// Play runs a life, and compares each checkpoint. The error wraps a *DifferenceError if one differs.
func (s Stage) Play(ctx context.Context, life Life) error {
	_, err := s.play(ctx, life, s.want(life))
	return err
}

// want returns the expected checkpoints for the stage's controller.
func (s Stage) want(life Life) map[string]Facts {
	want := maps.Clone(life.Want)
	if s.ManagedBy == life.Differs.By {
		maps.Copy(want, life.Differs.Want)
	}
	if s.ManagedBy == "" && s.Kubernetes != nil && life.Before.By != "" && s.Kubernetes.LessThan(version.MustParseGeneric(life.Before.By)) {
		maps.Copy(want, life.Before.Want)
	}
	return want
}

// Record runs a life, and returns the facts at its checkpoints, by name.
func (s Stage) Record(ctx context.Context, life Life) (map[string]Facts, error) {
	return s.play(ctx, life, nil)
}

// player runs one life.
type player struct {
	Stage
	*view

	life Life
	want map[string]Facts // nil when recording
	got  map[string]Facts
}

func (s Stage) play(ctx context.Context, life Life, want map[string]Facts) (map[string]Facts, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	v, err := newView(watching, s.Client, s.Namespace, indexed(life.Job))
	if err != nil {
		return nil, err
	}
	p := &player{Stage: s, view: v, life: life, want: want, got: map[string]Facts{}}
	if err = p.within(ctx, p.create); err == nil {
		err = p.steps(ctx)
	}
	return p.got, errors.Join(err, p.within(context.WithoutCancel(ctx), p.clear))
}

// within calls do with the time limit for a step.
func (p *player) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	return do(ctx)
}

func (p *player) steps(ctx context.Context) error {
	for i, step := range p.life.Steps {
		err := p.within(ctx, func(ctx context.Context) error { return p.step(ctx, step) })
		if err != nil {
			return fmt.Errorf("step %d (%s): %w; there is:\n%s", i+1, step, err, text(p.facts(nil)))
		}
	}
	return nil
}

func (p *player) step(ctx context.Context, step Step) error {
	switch {
	case step.Start != nil:
		return p.each(ctx, step, func(pod *corev1.Pod) error { return p.start(ctx, pod, !step.Start.Unready) })
	case step.Exit != nil:
		return p.each(ctx, step, func(pod *corev1.Pod) error { return p.exit(ctx, pod, step.Exit) })
	case step.Restart != nil:
		return p.each(ctx, step, func(pod *corev1.Pod) error { return p.restart(ctx, pod, step.Restart.Count) })
	case step.Stop != nil:
		return p.each(ctx, step, func(pod *corev1.Pod) error { return p.stop(ctx, pod, step.Stop) })
	case step.Delete != nil:
		return p.each(ctx, step, func(pod *corev1.Pod) error { return p.remove(ctx, pod, step.Delete.Force) })
	case step.Evict != nil:
		return p.each(ctx, step, func(pod *corev1.Pod) error { return p.evict(ctx, pod) })
	case step.Edit != nil:
		return p.edit(ctx, step.Edit)
	case step.DeleteJob != "":
		return p.Client.BatchV1().Jobs(p.Namespace).Delete(ctx, p.life.Job.Name, metav1.DeleteOptions{PropagationPolicy: &step.DeleteJob})
	case step.CreateJob != nil:
		return p.recreate(ctx)
	case step.Await != "":
		return p.await(ctx, step.Await)
	default:
		return p.compare(ctx, step.Settle)
	}
}

// each waits for the pods of a step one after the other, and calls do for each. For the step stop, it waits for the pod's
// deletion.
func (p *player) each(ctx context.Context, step Step, do func(*corev1.Pod) error) error {
	pods, _ := step.pods()
	for _, of := range pods {
		var pod *corev1.Pod
		err := p.wait(ctx, "pod "+of.String(), func() bool {
			seen := p.pod(of)
			if seen == nil || seen.gone || step.Stop != nil && seen.DeletionTimestamp == nil {
				return false
			}
			pod = seen.Pod
			return true
		})
		if err == nil {
			err = do(pod)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// create creates the Job, and waits until the watch shows it.
func (p *player) create(ctx context.Context) error {
	job := p.life.Job.DeepCopy()
	job.Namespace = p.Namespace
	if p.ManagedBy != "" {
		job.Spec.ManagedBy = &p.ManagedBy
	}
	created, err := p.Client.BatchV1().Jobs(p.Namespace).Create(ctx, job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return err
	}
	return p.wait(ctx, "the Job", func() bool { return p.uid == created.UID })
}

// recreate waits until the Job is gone, and creates it again.
func (p *player) recreate(ctx context.Context) error {
	if err := p.wait(ctx, "the end of the Job", func() bool { return p.job == nil }); err != nil {
		return err
	}
	return p.create(ctx)
}

func (p *player) edit(ctx context.Context, edit *Edit) error {
	patch, err := json.Marshal(map[string]any{"spec": edit})
	if err != nil {
		return err
	}
	_, err = p.Client.BatchV1().Jobs(p.Namespace).Patch(ctx, p.life.Job.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// await waits for a condition of the Job.
func (p *player) await(ctx context.Context, kind batchv1.JobConditionType) error {
	return p.wait(ctx, string(kind), func() bool {
		if p.job == nil {
			return false
		}
		for _, c := range p.job.Status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionTrue {
				return true
			}
		}
		return false
	})
}

// compare waits until the checkpoint is as expected, or records it.
func (p *player) compare(ctx context.Context, checkpoint *Settle) error {
	var want *Facts
	if p.want != nil {
		facts := p.want[checkpoint.Name]
		want = &facts
	}
	got, err := p.settle(ctx, p.Quiet, checkpoint.Details, want)
	p.got[checkpoint.Name] = got
	if err != nil && want != nil && errors.Is(err, context.DeadlineExceeded) {
		return &DifferenceError{Checkpoint: checkpoint.Name, Want: *want, Got: got}
	}
	return err
}

// clear deletes the remaining objects, so that the namespace can be deleted although no kubelet ends its pods.
func (p *player) clear(ctx context.Context) error {
	background := metav1.DeletePropagationBackground
	jobs := p.Client.BatchV1().Jobs(p.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
	pods := p.Client.CoreV1().Pods(p.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{})
	return errors.Join(jobs, pods)
}
