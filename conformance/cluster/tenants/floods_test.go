//go:build cluster

package tenants

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// floods are large numbers of valid objects or calls.
var floods = []attack{
	{
		name:     "Jobs of 60000 variables each, through which the platform's policy looks, are patched again and again, and Pods of one fail",
		upstream: "nothing: it evaluates no CEL",
		before: func(a *attacker) {
			const jobs = 12
			many := slices.Repeat([]corev1.EnvVar{{Name: "E"}}, 60_000)
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				s.BackoffLimit, s.Template.Spec.Containers[0].Env = new(int32(math.MaxInt32)), many
				exits(s, forbidden)
			}))
			a.createAll(jobs, func(s *batchv1.JobSpec) { s.Suspend, s.Template.Spec.Containers[0].Env = new(true), many })
			a.again(10, func(ctx context.Context, n int) error {
				return a.annotate(ctx, "jobs", fmt.Sprintf("job-%d", n%jobs), map[string]any{"patched": fmt.Sprint(n)})
			})
		},
		then: func(a *attacker) { a.failsByPolicy("own") },
	}, {
		name:     "Jobs of 1.4 MB, which are run and observed by turns",
		upstream: "its cache holds all Jobs whole",
		before: func(a *attacker) {
			count := 120
			if *full {
				count = 1400
			}
			for n := range count {
				a.create(newJob(fmt.Sprintf("large-%d", n), func(s *batchv1.JobSpec) {
					if s.Suspend = new(n%20 != 0); n%2 == 1 {
						s.ManagedBy = nil
					}
					large(s, n)
				}))
			}
		},
	}, {
		name:     "Jobs and templates with 20000 labels",
		upstream: "its cache holds them all, and each Pod that it makes has them",
		before: func(a *attacker) {
			labels := map[string]string{}
			for n := range 20_000 {
				labels[strconv.FormatInt(int64(n), 36)] = ""
			}
			count := 6
			if *full {
				count = 60
			}
			for n := range count {
				job := newJob(fmt.Sprintf("labels-%d", n), func(s *batchv1.JobSpec) { testcluster.Indexed(s, 20, 20); exits(s, 1) })
				if n%2 == 0 {
					job.Labels = labels
				} else {
					job.Spec.Template.Labels = labels
				}
				a.create(job)
			}
		},
	}, {
		name:     "failed Pods of 1.4 MB",
		upstream: "its cache holds all Pods",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				testcluster.Indexed(s, 30, 30)
				s.BackoffLimit, s.BackoffLimitPerIndex = nil, new(int32(0))
				exits(s, 1)
				large(s, 0)
			}))
			a.untilFinished("own")
		},
	}, {
		name:     "hundreds of Pods with the label, half of them with the finalizer of Jobs, and without an owner",
		upstream: "it adopts those that match the selector of a Job of their namespace, and removes the finalizers, with a call each",
		before: func(a *attacker) {
			for n := range 600 {
				a.createPod(fmt.Sprintf("orphan-%d-0-bcdfg", n), "", func(pod *corev1.Pod) {
					pod.Labels = map[string]string{batchv1.ControllerUidLabel: fmt.Sprint(n), batchv1.JobNameLabel: "succeeds"}
					if n%2 == 1 {
						pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
					}
				})
			}
		},
	}, {
		name:     "Pods have finalizers of their owner's, and their Job is deleted",
		upstream: "nothing: they wait for their finalizers",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				testcluster.Indexed(s, 20, 20)
				s.Template.Finalizers = []string{stay}
			}))
			a.firstPod("own")
			a.must(a.jobs().Delete(a.under, "own", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}))
		},
	}, {
		name:     "Pods are deleted with a grace of a year",
		upstream: "nothing: they count as terminating",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				testcluster.Indexed(s, 5, 5)
				s.BackoffLimit, s.Template.Spec.NodeName = new(int32(math.MaxInt32)), "nowhere"
			}))
			a.again(20, func(ctx context.Context, n int) error {
				pods, err := a.pods(ctx, "own")
				if err != nil || len(pods) == 0 {
					return errors.Join(err, errors.New("no Pods"))
				}
				year := metav1.DeleteOptions{GracePeriodSeconds: new(int64(365 * 24 * 3600))}
				return ignoreGone(a.user.CoreV1().Pods(a.namespace).Delete(ctx, pods[n%len(pods)].Name, year))
			})
		},
	}, {
		name:     "Pods are patched again and again",
		upstream: "it looks at the Job after each, at most once a second",
		before: func(a *attacker) {
			a.createAll(3, func(s *batchv1.JobSpec) { testcluster.Indexed(s, 10, 10) })
			a.againForPods("job-0", 20, func(n int) map[string]any { return map[string]any{"patched": fmt.Sprint(n)} })
			a.againForPods("job-1", 20, func(n int) map[string]any { return map[string]any{"patched": fmt.Sprint(n)} })
		},
	}, {
		name:     "Jobs are created and deleted again and again, one by the same name",
		upstream: "it creates their Pods, with all the calls per second that it has; the UID tells Jobs apart",
		before: func(a *attacker) {
			a.again(20, func(ctx context.Context, n int) error {
				name := fmt.Sprintf("job-%d", n)
				_, err := a.jobs().Create(ctx, newJob(name, func(s *batchv1.JobSpec) { testcluster.Indexed(s, 3, 3) }), metav1.CreateOptions{})
				if err != nil || n < 5 {
					return err
				}
				how := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[n%3]
				return a.jobs().Delete(ctx, fmt.Sprintf("job-%d", n-5), metav1.DeleteOptions{PropagationPolicy: &how})
			})
			a.again(20, func(ctx context.Context, _ int) error {
				err := a.jobs().Delete(ctx, "own", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
				if ignoreGone(err) != nil {
					return err
				}
				_, err = a.jobs().Create(ctx, newJob("own", func(s *batchv1.JobSpec) { testcluster.Indexed(s, 3, 3); exits(s, 1) }), metav1.CreateOptions{})
				return err
			})
		},
	}, {
		name:     "hundreds of Pods fail, each of which is an event",
		upstream: "its events are dropped when too many are waiting",
		before: func(a *attacker) {
			for n := range 4 {
				a.create(newJob(fmt.Sprintf("job-%d", n), func(s *batchv1.JobSpec) {
					testcluster.Indexed(s, 100, 100)
					s.BackoffLimit, s.BackoffLimitPerIndex = nil, new(int32(0))
					s.PodFailurePolicy = failJob(42)
					s.PodFailurePolicy.Rules[0].Action = batchv1.PodFailurePolicyActionCount
					exits(s, 42)
					if n%2 > 0 {
						s.ManagedBy = nil
					}
				}))
			}
		},
	},
}

// large gives a Job 1.4 MB of variables, which differ from Job to Job.
func large(s *batchv1.JobSpec, n int) {
	for i := range 140 {
		s.Template.Spec.Containers[0].Env = append(s.Template.Spec.Containers[0].Env,
			corev1.EnvVar{Name: fmt.Sprintf("E%d", i), Value: strings.Repeat(string(rune('a'+(n+i)%26)), 10_000)})
	}
}
