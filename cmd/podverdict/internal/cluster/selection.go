//go:build !js

package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// selection is what the targets of a query name: Jobs with all of their Pods, and single Pods.
type selection struct {
	jobs   []*batchv1.Job     // in order, each once
	whole  map[types.UID]bool // of each of these, whether all of its Pods are asked for
	pods   []*corev1.Pod      // those asked for themselves, each once
	single map[types.UID]bool // these

	laterJobs labels.Selector    // the Jobs that may yet be created; nil when they are not asked for
	laterPods labels.Selector    // the Pods that may yet be
	cronJobs  map[types.UID]bool // whose Jobs to come are asked for
}

func newSelection() *selection {
	return &selection{whole: map[types.UID]bool{}, single: map[types.UID]bool{}, cronJobs: map[types.UID]bool{}}
}

func (s *selection) add(job *batchv1.Job, whole bool) {
	before, known := s.whole[job.UID]
	if !known {
		s.jobs = append(s.jobs, job)
	}
	s.whole[job.UID] = before || whole
}

func (s *selection) addPod(pod *corev1.Pod) {
	if !s.single[pod.UID] {
		s.pods = append(s.pods, pod)
	}
	s.single[pod.UID] = true
}

// wants reports whether a Pod of a Job is asked for, be it there already or to come.
func (s *selection) wants(job *batchv1.Job, pod *corev1.Pod) bool {
	if s.whole[job.UID] || s.single[pod.UID] {
		return true
	}
	if s.laterJobs != nil && s.laterJobs.Matches(labels.Set(job.Labels)) ||
		s.laterPods != nil && s.laterPods.Matches(labels.Set(pod.Labels)) {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(job)
	return owner != nil && s.cronJobs[owner.UID]
}

// wantsAny reports whether a Pod is asked for whatever its Job is.
func (s *selection) wantsAny(pod *corev1.Pod) bool {
	return s.laterJobs != nil && s.laterJobs.Empty() || s.laterPods != nil && s.laterPods.Matches(labels.Set(pod.Labels))
}

// closed reports whether all is known that will be asked for, but for the Pods of Jobs that are known.
func (s *selection) closed() bool {
	return s.laterJobs == nil && s.laterPods == nil && len(s.cronJobs) == 0 && len(s.pods) == 0
}

// resolve reads what the targets name.
func (c *Cluster) resolve(ctx context.Context, q Query) (*selection, error) {
	s := newSelection()
	for _, t := range q.Targets {
		var err error
		switch t.Kind {
		case Job:
			err = c.resolveJobs(ctx, q, t, s)
		case CronJob:
			err = c.resolveCronJobs(ctx, q, t, s)
		case Pod:
			err = c.resolvePods(ctx, q, t, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (c *Cluster) resolveJobs(ctx context.Context, q Query, t Target, s *selection) error {
	jobs, err := c.jobs(ctx, q, t)
	for i := range jobs {
		s.add(&jobs[i], true)
	}
	if t.Name == "" {
		s.laterJobs, _ = labels.Parse(q.Selector) // Check has seen it
	}
	return err
}

func (c *Cluster) jobs(ctx context.Context, q Query, t Target) ([]batchv1.Job, error) {
	if t.Name == "" {
		return c.listJobs(ctx, c.scope(q), q.Selector)
	}
	job, err := get[batchv1.Job](ctx, c, c.batch, t)
	if err != nil {
		return nil, err
	}
	return []batchv1.Job{*job}, nil
}

// resolveCronJobs finds the Jobs of CronJobs, by their controllers.
func (c *Cluster) resolveCronJobs(ctx context.Context, q Query, t Target, s *selection) error {
	cronJobs, err := c.cronJobs(ctx, q, t)
	if err != nil || len(cronJobs) == 0 {
		return err
	}
	for _, cronJob := range cronJobs {
		s.cronJobs[cronJob.UID] = true
	}
	jobs, err := c.listJobs(ctx, c.scope(q), "")
	for i := range jobs {
		if owner := metav1.GetControllerOfNoCopy(&jobs[i]); owner != nil && s.cronJobs[owner.UID] {
			s.add(&jobs[i], true)
		}
	}
	return err
}

func (c *Cluster) cronJobs(ctx context.Context, q Query, t Target) ([]batchv1.CronJob, error) {
	if t.Name == "" {
		return c.listCronJobs(ctx, c.scope(q), q.Selector)
	}
	cronJob, err := get[batchv1.CronJob](ctx, c, c.batch, t)
	if err != nil {
		return nil, err
	}
	return []batchv1.CronJob{*cronJob}, nil
}

// resolvePods finds Pods and their Jobs. A Pod without a Job is an error if it was named, else it is left out.
func (c *Cluster) resolvePods(ctx context.Context, q Query, t Target, s *selection) error {
	if t.Name != "" {
		pod, err := get[corev1.Pod](ctx, c, c.core, t)
		if err != nil {
			return err
		}
		job, err := c.jobOf(ctx, pod)
		if err == nil {
			s.add(job, false)
			s.addPod(pod)
		}
		return err
	}
	pods, _, err := c.listPods(ctx, c.scope(q), metav1.ListOptions{LabelSelector: q.Selector})
	if err != nil {
		return err
	}
	for i := range pods {
		s.addPod(&pods[i])
	}
	s.laterPods, _ = labels.Parse(q.Selector) // Check has seen it
	jobs, err := c.listJobs(ctx, c.scope(q), "")
	index := newIndex(pointers(jobs))
	for _, pod := range s.pods {
		if job := index.jobOf(pod); job != nil {
			s.add(job, false)
		}
	}
	return err
}

// jobOf reads the Job of a Pod that must have one.
func (c *Cluster) jobOf(ctx context.Context, pod *corev1.Pod) (*batchv1.Job, error) {
	claim, says := manifest.ClaimOf(pod)
	if owner := metav1.GetControllerOfNoCopy(pod); claim.Name == "" && owner != nil {
		return nil, fmt.Errorf("pod/%s belongs to no Job: its controller is %s %s %q", pod.Name, owner.APIVersion, owner.Kind, owner.Name)
	}
	if !says {
		return nil, fmt.Errorf("pod/%s belongs to no Job: it has neither a controller nor a label job-name", pod.Name)
	}
	job, err := Get[batchv1.Job](ctx, c.batch, Job.plural(), pod.Namespace, claim.Name)
	if apierrors.IsNotFound(err) || err == nil && !claim.Fits(job) {
		return nil, fmt.Errorf("pod/%s belongs to job %q, which is no longer there", pod.Name, claim.Name)
	}
	return job, c.failure(err, request{"get", Job.resource(), pod.Namespace})
}
