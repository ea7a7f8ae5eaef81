//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// Annotations of Jobs and Pods that the controller reads or used to read.
const (
	ledger              = "podverdict.io/ledger"
	matches             = "podverdict.io/matches"
	consecutiveFailures = "podverdict.io/consecutive-failures"
	earlierAttempts     = "podverdict.io/earlier-attempts"
	retry               = "podverdict.io/retry"
	backoffSeconds      = "podverdict.io/backoff-seconds"
	failedPodsLimit     = "podverdict.io/failed-pods-limit"
)

// books are attempts to change the controller's records of a Job in places that its owner may edit, to escape the
// platform's policy, or to make the controller do useless work.
var books = []attack{
	{
		name:     "the ledger is removed, or replaced by one that knows of no match",
		upstream: "there are no budgets; status, where it counts, is not for tenants to write",
		before: func(a *attacker) {
			a.create(retrying("own", temporary))
			forged := []any{
				nil,
				`{"volatile":true}`, `{"budgets":{"platform/temporary":{"matches":-9223372036854775808}}}`, `{}`, `[`,
				`{"failed":9223372036854775807,"releasing":["a"]}`, `{"backoff":{"failures":9223372036854775807,"last":"9999-12-31T23:59:59Z"}}`,
			}
			a.again(100, func(ctx context.Context, n int) error {
				return a.annotate(ctx, "jobs", "own", map[string]any{ledger: forged[n%len(forged)]})
			})
		},
		then: func(a *attacker) { a.failsByBudget("own") },
	}, {
		name:     "the matches that an index has used are removed from its Pods",
		upstream: "job-index-failure-count can be edited in the same way, by which a tenant escapes the limit of its own Job; there are no platform's",
		before: func(a *attacker) {
			job := retrying("own", ofAnIndex)
			testcluster.Indexed(&job.Spec, 1, 1)
			a.create(job)
			a.againForPods("own", 100, func(n int) map[string]any {
				forged := []any{nil, `{"platform/of-an-index":-1}`, `{`, `{"platform/of-an-index":0}`}[n%4]
				return map[string]any{matches: forged}
			})
		},
		then: func(a *attacker) { a.failsByBudget("own") },
	}, {
		name:     "the earlier attempts at an index are removed from its Pods",
		upstream: "its Pods know nothing of earlier ones",
		before: func(a *attacker) {
			job := retrying("own", thrice)
			testcluster.Indexed(&job.Spec, 1, 1)
			job.Spec.Template.Annotations[earlierAttempts] = `[]`
			a.create(job)
			a.againForPods("own", 100, func(n int) map[string]any {
				forged := []any{nil, `[]`, `{`, `[{"pod":"a","finishTime":"2026-01-01T00:00:00Z"}]`}[n%4]
				return map[string]any{earlierAttempts: forged}
			})
		},
		then: func(a *attacker) { a.failsByBudget("own") },
	}, {
		name:     "what the next attempts get is removed from the Pods, or becomes more memory than the Job asks for",
		upstream: "its Pods are all like the template",
		before: func(a *attacker) {
			const forged = `{"platform/elsewhere":{"memory":{"factor":"10","max":"1Ti"},"oomKilled":{"main":9}}}`
			job := retrying("own", elsewhere)
			job.Spec.Template.Annotations[retry], job.Spec.Template.Spec.NodeName = forged, busyNode
			a.create(job)
			a.againForPods("own", 100, func(n int) map[string]any { return map[string]any{retry: []any{nil, forged, `{`, `{}`}[n%4]} })
		},
		then: func(a *attacker) {
			a.failsByBudget("own")
			pods, err := a.pods(a.Context(), "own")
			a.must(err)
			for _, pod := range pods {
				const carried = `{"platform/elsewhere":{"avoidNode":"Preferred","nodes":["` + busyNode + `"]}}`
				want := carried
				if pod.Labels[plan.AttemptLabel] == "1" {
					want = ""
				}
				if got := pod.Annotations[retry]; got != want {
					a.Errorf("Pod %s carries %q, want %q", pod.Name, got, want)
				}
			}
		},
	}, {
		name:     "the numbers of attempts on Pods are forged",
		upstream: "its Pods have no such labels",
		before: func(a *attacker) {
			a.create(retrying("own", temporary))
			a.again(50, func(ctx context.Context, n int) error {
				pods, err := a.pods(ctx, "own")
				for _, pod := range pods {
					forged := []any{nil, "7", "x"}[n%3]
					err = a.patch(ctx, "pods", pod.Name, map[string]any{"metadata": map[string]any{"labels": map[string]any{plan.AttemptLabel: forged, plan.SlotLabel: forged}}})
					if err == nil {
						a.Errorf("the labels of %s become %v", pod.Name, forged)
					}
				}
				return ignoreGone(err)
			})
		},
		then: func(a *attacker) { a.failsByBudget("own") },
	}, {
		name:     "the counts of failures on Pods are forged",
		upstream: "job-index-failure-count can be edited in the same way: a Job's own limit is its owner's to escape",
		before: func(a *attacker) {
			for _, name := range []string{"own", "indexed"} {
				job := retrying(name, forbidden)
				if name == "indexed" {
					testcluster.Indexed(&job.Spec, 2, 2)
					job.Spec.BackoffLimit, job.Spec.BackoffLimitPerIndex = nil, new(int32(3))
				}
				a.create(job)
				a.againForPods(name, 50, func(n int) map[string]any {
					number := []string{"-1", "9223372036854775807", "9223372036854775808", "x", "1e300"}[n%5]
					return map[string]any{
						consecutiveFailures: number, batchv1.JobIndexFailureCountAnnotation: number,
						batchv1.JobIndexIgnoredFailureCountAnnotation: number, batchv1.JobCompletionIndexAnnotation: number,
					}
				})
			}
		},
		then: func(a *attacker) {
			for _, name := range []string{"own", "indexed"} {
				a.failsByPolicy(name) // the platform's rule without a budget
			}
		},
	}, {
		name:     "a Job is replaced by its manifest, without annotations, when some of it is done",
		upstream: "nothing: what is done is in the status",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) {
				s.Completions, s.Parallelism = new(int32(3)), new(int32(3))
				exits(s, 0)
				s.Template.Annotations[runsAnnotation] = "2"
			}))
			a.untilSucceeded("own", 2)
			a.deleteEnded("own")
			a.again(20, func(ctx context.Context, _ int) error {
				job, err := a.jobs().Get(ctx, "own", metav1.GetOptions{})
				if err != nil {
					return err
				}
				job.Annotations = nil
				_, err = a.jobs().Update(ctx, job, metav1.UpdateOptions{})
				return err
			})
		},
		then: func(a *attacker) {
			a.barrier()
			var created []string
			for _, event := range a.Cluster.AuditLog(a, a.namespace) {
				if name := event.ObjectRef.Name; event.Verb == "create" && event.ObjectRef.Resource == "pods" && strings.HasPrefix(name, "own-") {
					created = append(created, name)
				}
			}
			if len(created) != 3 {
				a.Errorf("created are %v: one is for a slot that is done", created)
			}
		},
	}, {
		name:     "a Job has as many bytes of annotations as it may, and more by patches while Pods fail",
		upstream: "nothing: it writes no annotations to Jobs",
		before: func(a *attacker) {
			for _, name := range []string{"own", "pods", "patched"} {
				job := retrying(name, temporary)
				switch name {
				case "own":
					job.Annotations = map[string]string{"note": strings.Repeat("x", 256<<10-len("note"))}
				case "pods":
					job.Spec.Template.Annotations["note"] = strings.Repeat("x", 255<<10)
				}
				a.create(job)
			}
			a.again(20, func(ctx context.Context, n int) error {
				return a.annotate(ctx, "jobs", "patched", map[string]any{"note": strings.Repeat("x", 256<<10-len("note")-n%3*100)})
			})
		},
		then: func(a *attacker) {
			for _, name := range []string{"own", "pods", "patched"} {
				a.failsByBudget(name)
				a.releases(name)
			}
		},
	}, {
		name:     "hundreds of patches bring 200 KB of garbage each, in all annotations that the controller reads",
		upstream: "nothing: it reads none of them",
		before: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) { testcluster.Indexed(s, 2, 2) }))
			keys := []string{ledger, backoffSeconds, failedPodsLimit}
			patches := 300
			if *full {
				patches = 1500
			}
			for n := range patches {
				garbage := fmt.Sprintf("%0200000d", n)
				if n%4 == 3 {
					pods, err := a.pods(a.under, "own")
					a.must(err)
					if len(pods) > 0 {
						a.must(ignoreGone(a.annotate(a.under, "pods", pods[n/4%len(pods)].Name, map[string]any{
							matches: garbage[134_000:], consecutiveFailures: "", earlierAttempts: garbage[134_000:], retry: garbage[134_000:],
						})))
					}
					continue
				}
				annotations := map[string]any{keys[0]: nil, keys[1]: nil, keys[2]: nil}
				annotations[keys[n%4]] = garbage
				a.must(a.annotate(a.under, "jobs", "own", annotations))
			}
		},
		then: func(a *attacker) {
			if now, _, err := memoryOf(a.replica); err != nil || now > 128<<20 {
				a.Errorf("the controller has %d MiB, %v", now>>20, err)
			}
		},
	}, {
		name:     "a Pod is named as the last attempt but one that there can be",
		upstream: "nothing: names of Pods are random, and say nothing",
		before: func(a *attacker) {
			job := a.create(newJob("own", func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(math.MaxInt32)) }))
			name := a.firstPod("own")
			tag := name[strings.LastIndex(name, "-")+1:]
			for _, attempt := range []string{"9223372036854775806", "9223372036854775807", "2147483647"} {
				forged := a.createPod("own-0-"+attempt+"-"+tag, "1", nil)
				a.untilEnded(forged.Name)
				a.must(a.patch(a.under, "pods", forged.Name, ownedBy(controls(job))))
			}
			a.must(a.user.CoreV1().Pods(a.namespace).Delete(a.under, name, metav1.DeleteOptions{}))
			a.barrier()
		},
		then: func(a *attacker) {
			const most = 30
			before := a.writes()
			time.Sleep(3 * time.Second) // no change is expected
			if writes := a.writes() - before; writes > most {
				a.Errorf("the controller makes %d writes for a Job of which nothing changes", writes)
			}
		},
	}, {
		name:     "failed Pods lose their owner, label and finalizer at once",
		upstream: "a tenant hides failures from it in the same way, and so escapes every limit; the Job is its own",
		before: func(a *attacker) {
			a.createAll(3, func(s *batchv1.JobSpec) {
				testcluster.Indexed(s, 5, 5)
				s.BackoffLimit = new(int32(math.MaxInt32))
				exits(s, 1)
			})
			a.again(20, func(ctx context.Context, n int) error {
				pods, err := a.pods(ctx, "")
				if err != nil {
					return err
				}
				for _, pod := range pods {
					changed := map[string]any{"ownerReferences": nil, "finalizers": nil}
					if n%2 == 0 {
						changed["labels"] = map[string]any{batchv1.ControllerUidLabel: nil}
					}
					if err := ignoreGone(a.patch(ctx, "pods", pod.Name, map[string]any{"metadata": changed})); err != nil {
						return err
					}
				}
				return nil
			})
		},
	},
}

// retrying returns a Job of one Pod that fails with the same code repeatedly.
func retrying(name string, code int) *batchv1.Job {
	return newJob(name, func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(math.MaxInt32)); exits(s, code) })
}

// failsByBudget waits until the platform's budget of two has ended a Job, and checks that no attempt has escaped it.
func (a *attacker) failsByBudget(name string) {
	a.Helper()
	const most = 3
	testcluster.Within(a, patience, "the budget has ended the Job "+name, func(ctx context.Context) (bool, error) {
		job, err := a.jobs().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		pods, err := a.pods(ctx, name)
		if err == nil && len(pods) > most {
			a.Fatalf("%d Pods of Job %s are made, where the platform allows %d", len(pods), name, most)
		}
		end := testcluster.Finished(job)
		if end != nil && end.Reason != batchv1.JobReasonPodFailurePolicy {
			a.Fatalf("Job %s ends with %+v", name, end)
		}
		return end != nil, fmt.Errorf("%d Pods, status %+v", len(pods), job.Status)
	})
}

// failsByPolicy waits until a rule of the platform has ended a Job.
func (a *attacker) failsByPolicy(name string) {
	a.Helper()
	if end := testcluster.Finished(a.untilFinished(name)); end.Reason != batchv1.JobReasonPodFailurePolicy {
		a.Errorf("Job %s ends with %+v", name, end)
	}
}

// releases waits until the controller has released all Pods of a Job.
func (a *attacker) releases(name string) {
	a.Helper()
	testcluster.Within(a, patience, "the Pods of Job "+name+" are let go", func(ctx context.Context) (bool, error) {
		pods, err := a.pods(ctx, name)
		held := slices.ContainsFunc(pods, func(p corev1.Pod) bool { return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) })
		return err == nil && !held, err
	})
}

// againForPods annotates the Pods of a Job repeatedly.
func (a *attacker) againForPods(job string, perSecond int, annotations func(n int) map[string]any) {
	a.again(perSecond, func(ctx context.Context, n int) error {
		pods, err := a.pods(ctx, job)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if err := ignoreGone(a.annotate(ctx, "pods", pod.Name, annotations(n))); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *attacker) untilSucceeded(name string, succeeded int32) {
	a.Helper()
	testcluster.Within(a, patience, "Pods of Job "+name+" have succeeded", func(ctx context.Context) (bool, error) {
		job, err := a.jobs().Get(ctx, name, metav1.GetOptions{})
		return err == nil && job.Status.Succeeded == succeeded, err
	})
}

// deleteEnded deletes the ended Pods of a Job, like a user, and waits until they are gone.
func (a *attacker) deleteEnded(job string) {
	a.Helper()
	testcluster.Within(a, patience, "Pods of Job "+job+" are gone", func(ctx context.Context) (bool, error) {
		pods, err := a.pods(ctx, job)
		pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodPending })
		for _, pod := range pods {
			a.must(ignoreGone(a.user.CoreV1().Pods(a.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})))
		}
		return err == nil && len(pods) == 0, err
	})
}

// firstPod waits for a Pod of a Job, and returns its name.
func (a *attacker) firstPod(job string) (name string) {
	a.Helper()
	testcluster.Within(a, patience, "there is a Pod of Job "+job, func(ctx context.Context) (bool, error) {
		pods, err := a.pods(ctx, job)
		if err != nil || len(pods) == 0 {
			return false, err
		}
		name = pods[0].Name
		return true, nil
	})
	return name
}
