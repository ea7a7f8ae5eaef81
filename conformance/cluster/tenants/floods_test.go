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

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// floods are much of what is legal.
var floods = []attack{
	{
		name:     "Jobs of 60000 variables each, through which the platform's policy looks, are patched again and again",
		upstream: "nothing: it evaluates no CEL",
		before: func(a *attacker) {
			const jobs = 12
			a.createAll(jobs, func(s *batchv1.JobSpec) {
				s.Suspend = new(true)
				s.Template.Spec.Containers[0].Env = slices.Repeat([]corev1.EnvVar{{Name: "E"}}, 60_000)
			})
			a.again(10, func(ctx context.Context, n int) error {
				return a.annotate(ctx, "jobs", fmt.Sprintf("job-%d", n%jobs), map[string]any{"patched": fmt.Sprint(n)})
			})
		},
	}, {
		name:     "the Pods of a Job of 60000 variables fail, of which the platform's policy says something",
		upstream: "nothing: it evaluates no CEL",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				s.BackoffLimit = new(int32(math.MaxInt32))
				exits(s, forbidden)
				s.Template.Spec.Containers[0].Env = slices.Repeat([]corev1.EnvVar{{Name: "E"}}, 60_000)
			}))
		},
		then: func(a *attacker) { a.failsByPolicy("own") },
	}, {
		name:     "Jobs of 1.4 MB, which are observed",
		upstream: "its cache holds all Jobs",
		before: func(a *attacker) {
			count := 60
			if *full {
				count = 700
			}
			for n := range count {
				a.create(newJob(fmt.Sprintf("large-%d", n), func(s *batchv1.JobSpec) {
					s.ManagedBy, s.Suspend = nil, new(true)
					large(s, n)
				}))
			}
		},
	}, {
		name:     "Jobs of 1.4 MB, which are run",
		upstream: "its cache holds them whole",
		before: func(a *attacker) {
			count := 60
			if *full {
				count = 700
			}
			for n := range count {
				a.create(newJob(fmt.Sprintf("large-%d", n), func(s *batchv1.JobSpec) { s.Suspend = new(n%10 != 0); large(s, n) }))
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
				job := newJob(fmt.Sprintf("labels-%d", n), func(s *batchv1.JobSpec) { indexed(s, 20, 20); exits(s, 1) })
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
				indexed(s, 30, 30)
				s.BackoffLimit, s.BackoffLimitPerIndex = nil, new(int32(0))
				exits(s, 1)
				large(s, 0)
			}))
			a.untilFinished("own")
		},
	}, {
		name:     "hundreds of Pods with the label, and without an owner",
		upstream: "it adopts those that match the selector of a Job of their namespace",
		before:   func(a *attacker) { a.orphans(300, nil) },
	}, {
		name:     "hundreds of Pods with the finalizer of Jobs, and without an owner",
		upstream: "it removes the finalizers, with a call each",
		before:   func(a *attacker) { a.orphans(300, []string{batchv1.JobTrackingFinalizer}) },
	}, {
		name:     "Pods have finalizers of their owner's, and their Job is deleted",
		upstream: "nothing: they wait for their finalizers",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				indexed(s, 20, 20)
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
				indexed(s, 5, 5)
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
			a.createAll(3, func(s *batchv1.JobSpec) { indexed(s, 10, 10) })
			a.againForPods("job-0", 20, func(n int) map[string]any { return map[string]any{"patched": fmt.Sprint(n)} })
			a.againForPods("job-1", 20, func(n int) map[string]any { return map[string]any{"patched": fmt.Sprint(n)} })
		},
	}, {
		name:     "Jobs are created and deleted again and again",
		upstream: "it creates their Pods, with all the calls per second that it has",
		before: func(a *attacker) {
			a.again(20, func(ctx context.Context, n int) error {
				name := fmt.Sprintf("job-%d", n)
				_, err := a.jobs().Create(ctx, newJob(name, func(s *batchv1.JobSpec) { indexed(s, 3, 3) }), metav1.CreateOptions{})
				if err != nil || n < 5 {
					return err
				}
				how := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[n%3]
				return a.jobs().Delete(ctx, fmt.Sprintf("job-%d", n-5), metav1.DeleteOptions{PropagationPolicy: &how})
			})
		},
	}, {
		name:     "a Job is deleted and created again by the same name",
		upstream: "the UID tells them apart",
		before: func(a *attacker) {
			a.again(20, func(ctx context.Context, _ int) error {
				err := a.jobs().Delete(ctx, "own", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
				if ignoreGone(err) != nil {
					return err
				}
				_, err = a.jobs().Create(ctx, newJob("own", func(s *batchv1.JobSpec) { indexed(s, 3, 3); exits(s, 1) }), metav1.CreateOptions{})
				return err
			})
		},
	}, {
		name:     "hundreds of Pods fail, each of which is an event",
		upstream: "its events are dropped when too many are waiting",
		before: func(a *attacker) {
			for n := range 4 {
				a.create(newJob(fmt.Sprintf("job-%d", n), func(s *batchv1.JobSpec) {
					indexed(s, 100, 100)
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
	}, {
		name:     "ephemeral containers are added to Pods again and again",
		upstream: "nothing: it does not look at them",
		before: func(a *attacker) {
			if !a.may("patch", "pods", "ephemeralcontainers") {
				a.Log("the role edit does not let its users add ephemeral containers: the attack is on labels instead")
			}
			a.create(newJob("own", func(s *batchv1.JobSpec) { indexed(s, 2, 2) }))
			name := a.firstPod("own")
			a.again(20, func(ctx context.Context, n int) error {
				patch := fmt.Sprintf(`{"spec":{"ephemeralContainers":[{"name":"c%d","image":"image","env":[{"name":"E","value":%q}]}]}}`, n, strings.Repeat("x", 10_000))
				_, err := a.user.CoreV1().Pods(a.namespace).Patch(ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "ephemeralcontainers")
				if apierrors.IsForbidden(err) {
					return a.patch(ctx, "pods", name, map[string]any{"metadata": map[string]any{"labels": map[string]any{fmt.Sprintf("l%d", n): strings.Repeat("x", 63)}}})
				}
				return err
			})
		},
	},
}

// orphans makes Pods of no Job that have the label by which the controller watches.
func (a *attacker) orphans(count int, finalizers []string) {
	a.Helper()
	for n := range count {
		a.createPod(fmt.Sprintf("orphan-%d-0-bcdfg", n), "", func(pod *corev1.Pod) {
			pod.Labels = map[string]string{batchv1.ControllerUidLabel: fmt.Sprint(n), batchv1.JobNameLabel: "succeeds"}
			pod.Finalizers = finalizers
		})
	}
}

// may reports whether the attacker has a permission in its namespace.
func (a *attacker) may(verb, resource, subresource string) bool {
	a.Helper()
	review, err := a.user.AuthorizationV1().SelfSubjectAccessReviews().Create(a.under, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: a.namespace, Verb: verb, Resource: resource, Subresource: subresource,
		}},
	}, metav1.CreateOptions{})
	a.must(err)
	return review.Status.Allowed
}

// large gives a Job 1.4 MB of variables, of which no two Jobs have the same.
func large(s *batchv1.JobSpec, n int) {
	for i := range 140 {
		s.Template.Spec.Containers[0].Env = append(s.Template.Spec.Containers[0].Env,
			corev1.EnvVar{Name: fmt.Sprintf("E%d", i), Value: strings.Repeat(string(rune('a'+(n+i)%26)), 10_000)})
	}
}
