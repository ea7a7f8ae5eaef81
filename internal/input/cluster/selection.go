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

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// selection holds the objects that a query's targets select: Jobs with all of their Pods, and single Pods.
type selection struct {
	jobs   []*batchv1.Job     // in order, without duplicates
	whole  map[types.UID]bool // by Job, whether all of its Pods are selected
	pods   []*corev1.Pod      // Pods selected individually, without duplicates
	single map[types.UID]bool // UIDs of pods

	laterJobs labels.Selector    // matches Jobs that may be created later; nil if none are selected
	laterPods labels.Selector    // matches Pods that may be created later
	cronJobs  map[types.UID]bool // CronJobs whose future Jobs are selected
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

// wants reports whether a Pod of a Job is selected, whether it exists already or is created later.
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

// wantsAny reports whether a Pod is selected regardless of its Job.
func (s *selection) wantsAny(pod *corev1.Pod) bool {
	return s.laterJobs != nil && s.laterJobs.Empty() || s.laterPods != nil && s.laterPods.Matches(labels.Set(pod.Labels))
}

// closed reports whether the selection is final: only Pods of the known Jobs can be added later.
func (s *selection) closed() bool {
	return s.laterJobs == nil && s.laterPods == nil && len(s.cronJobs) == 0 && len(s.pods) == 0
}

// resolve reads the objects that the targets name.
func (c *Cluster) resolve(ctx context.Context, q Query) (*selection, error) {
	s := newSelection()
	for _, t := range q.Targets {
		var err error
		switch t.Kind {
		case Job:
			err = c.resolveJobs(ctx, q, t, s)
		case CronJob:
			err = c.resolveCronJobs(ctx, q, t, s)
		case JobSet:
			err = c.resolveJobSets(ctx, q, t, s)
		case Pod:
			err = c.resolvePods(ctx, q, t, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Jobs reads the Jobs and CronJobs of a query.
func (c *Cluster) Jobs(ctx context.Context, q Query) ([]manifest.Job, error) {
	var jobs []manifest.Job
	for _, t := range q.Targets {
		if t.Kind == CronJob {
			found, err := c.cronJobs(ctx, q, t)
			if err != nil {
				return nil, err
			}
			for _, cronJob := range found {
				jobs = append(jobs, manifest.LiveCronJob(cronJob))
			}
			continue
		}
		found, err := c.jobs(ctx, q, t)
		if err != nil {
			return nil, err
		}
		for _, job := range found {
			jobs = append(jobs, manifest.LiveJob(job))
		}
	}
	return jobs, nil
}

func (c *Cluster) resolveJobs(ctx context.Context, q Query, t Target, s *selection) error {
	jobs, err := c.jobs(ctx, q, t)
	for _, job := range jobs {
		s.add(job, true)
	}
	if t.Name == "" {
		s.laterJobs, _ = labels.Parse(q.Selector) // validated by Check
	}
	return err
}

// resolveCronJobs finds the Jobs of CronJobs by their controllers.
func (c *Cluster) resolveCronJobs(ctx context.Context, q Query, t Target, s *selection) error {
	cronJobs, err := c.cronJobs(ctx, q, t)
	if err != nil || len(cronJobs) == 0 {
		return err
	}
	for _, cronJob := range cronJobs {
		s.cronJobs[cronJob.UID] = true
	}
	jobs, err := c.allJobs(ctx, q)
	for _, job := range jobs {
		if owner := metav1.GetControllerOfNoCopy(job); owner != nil && s.cronJobs[owner.UID] {
			s.add(job, true)
		}
	}
	return err
}

// resolvePods finds Pods and their Jobs. A Pod whose Job does not exist is an error if the Pod was named; otherwise it
// is skipped.
func (c *Cluster) resolvePods(ctx context.Context, q Query, t Target, s *selection) error {
	pods, err := find[corev1.Pod, corev1.PodList](ctx, c, c.core, q, t)
	if err != nil {
		return err
	}
	if t.Name != "" {
		s.addPod(pods[0])
		claim, _ := manifest.ClaimOf(pods[0])
		if claim.Name == "" {
			return nil
		}
		job, err := c.jobOf(ctx, pods[0], claim)
		if err == nil {
			s.add(job, false)
		}
		return err
	}
	for _, pod := range pods {
		s.addPod(pod)
	}
	s.laterPods, _ = labels.Parse(q.Selector) // validated by Check
	jobs, err := c.allJobs(ctx, q)
	index := newIndex(jobs)
	for _, pod := range s.pods {
		if job := index.jobOf(pod); job != nil {
			s.add(job, false)
		}
	}
	return err
}

// jobOf reads the Job that a Pod belongs to.
func (c *Cluster) jobOf(ctx context.Context, pod *corev1.Pod, claim manifest.Claim) (*batchv1.Job, error) {
	job, err := Get[batchv1.Job](ctx, c.batch, Job.plural(), pod.Namespace, claim.Name)
	if apierrors.IsNotFound(err) || err == nil && !claim.Fits(job) {
		return nil, fmt.Errorf("pod/%s belongs to job %q, which is no longer there", pod.Name, claim.Name)
	}
	return job, c.failure(err, request{"get", Job.resource(), pod.Namespace})
}
