//go:build cluster

package tenants

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
	"github.com/podverdict/podverdict/runtime/binding"
)

// restartCode is the exit code on which the containers of restartInPlace restart.
const restartCode = 42

// restartInPlace gives a Job's Pods a node, and restart rules for their container.
func restartInPlace(s *batchv1.JobSpec, node string) {
	pod := &s.Template.Spec
	pod.NodeName, pod.TerminationGracePeriodSeconds = node, new(int64(1))
	testcluster.RestartInPlace(s, restartCode)
}

// living are attempts to escape the rules on living Pods, to make them end a Pod that must not be ended, or to keep the
// controller so busy with some Pods that it does not end others. Without these rules Kubernetes ends none of them.
var living = []attack{
	{
		name:     "Pods claim to be ended by a rule of another policy, in their manifests and by all patches that there are",
		upstream: "DisruptionTarget cannot be forged either: status is not for tenants to write",
		before: func(a *attacker) {
			a.create(retrying("own", forbidden))
			a.create(newJob("loops", func(s *batchv1.JobSpec) { restartInPlace(s, busyNode); exits(s, restartCode) }))
			a.createPod("claims", "", func(pod *corev1.Pod) { pod.Status.Conditions = forgedConditions })
			for _, job := range []string{"own", "loops"} {
				a.claimEnded(a.firstPod(job))
			}
			a.claimEnded("claims")
		},
		then: func(a *attacker) {
			a.failsByPolicy("own")
			if job := a.untilFinished("loops"); testcluster.Finished(job).Type != batchv1.JobFailed || job.Status.Failed != 1 {
				a.Errorf("Job loops ends with %+v", job.Status)
			}
			pods, err := a.pods(a.under, "")
			a.must(err)
			for _, pod := range pods {
				if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Message == forgedConditions[0].Message }) {
					a.Errorf("Pod %s has the forged condition", pod.Name)
				}
			}
		},
	}, {
		name:     "Pods are bound to nodes that are lost or do not exist, and are deleted again and again, so that they are ended and replaced",
		upstream: "it creates Pods with all the calls per second that it has; PodGC collects those whose node does not exist",
		before: func(a *attacker) {
			lost := a.namespace + "-lost"
			a.addNode(a.T, lost).Stop()
			a.untilLost(lost)
			for n, node := range []string{lost, "nowhere", lost, "nowhere"} {
				a.create(newJob(fmt.Sprintf("job-%d", n), func(s *batchv1.JobSpec) {
					testcluster.Indexed(s, 20, 20)
					s.BackoffLimit, s.Template.Spec.NodeName, s.Template.Spec.TerminationGracePeriodSeconds = new(int32(math.MaxInt32)), node, new(int64(1))
				}))
			}
			a.again(5, func(ctx context.Context, n int) error {
				selector := metav1.ListOptions{LabelSelector: fmt.Sprintf("%s=job-%d", batchv1.JobNameLabel, n%4)}
				return a.user.CoreV1().Pods(a.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, selector)
			})
		},
		then: func(a *attacker) {
			for n := range 2 {
				name := fmt.Sprintf("job-%d", n)
				testcluster.Within(a, patience, "Pods of "+name+" are ended and replaced", func(ctx context.Context) (bool, error) {
					pods, err := a.pods(ctx, name)
					active := slices.DeleteFunc(pods, func(p corev1.Pod) bool { return v1alpha1.PhaseOf(&p) == corev1.PodFailed })
					if len(active) > 20 {
						a.Fatalf("%d Pods of 20 indexes are not ended", len(active))
					}
					return a.podWrites("patch", "status", name+"-") > 0, err
				})
			}
		},
	}, {
		name:     "the Pods that restart are patched as fast as can be, so that the controller never has their last version",
		upstream: "nothing: it does not end them",
		before: func(a *attacker) {
			a.createAll(2, func(s *batchv1.JobSpec) { restartInPlace(s, busyNode); exits(s, restartCode) })
			for n := range 12 { // at the same time
				name := a.firstPod(fmt.Sprintf("job-%d", n%2))
				a.again(1000, func(ctx context.Context, n int) error {
					return ignoreGone(a.annotate(ctx, "pods", name, map[string]any{"touched": fmt.Sprint(n)}))
				})
			}
		},
		then: func(a *attacker) {
			a.Logf("the Pods were patched %d times", a.ownPatches())
			for _, name := range []string{"job-0", "job-1"} {
				job := a.untilFinished(name)
				end := testcluster.Finished(job)
				took := end.LastTransitionTime.Sub(job.Status.StartTime.Time)
				if a.Logf("Job %s took %v", name, took); end.Reason != batchv1.JobReasonBackoffLimitExceeded || took > slack {
					a.Errorf("Job %s ends with %+v", name, end)
				}
			}
		},
	}, {
		name:     "Pods that hang on a node that is ready have the annotation by which they are safe to delete",
		upstream: "nothing; Kueue's controller leaves them, too, because the node is not unreachable",
		before: func(a *attacker) {
			a.create(hangingJob("own", busyNode, nil))
			a.must(a.user.CoreV1().Pods(a.namespace).Delete(a.under, a.firstRunning("own"), metav1.DeleteOptions{}))
		},
		then: func(a *attacker) {
			a.UntilEvent(a.T, a.namespace, "own", "", "its node is Ready")
			time.Sleep(5 * time.Second) // no change is expected
			pods, err := a.pods(a.under, "own")
			a.must(err)
			if len(pods) != 1 || v1alpha1.PhaseOf(&pods[0]) != v1alpha1.PhaseTerminating || testcluster.HasCondition(&pods[0], v1alpha1.Lost) {
				a.Errorf("the Pod was ended: %+v", pods)
			}
		},
	}, {
		name:     "Pods on a lost node have a finalizer of their owner's, which the controller would have to ignore to remove them",
		upstream: "the Job waits for such a Pod until its node is back",
		before: func(a *attacker) {
			node := a.namespace + "-lost"
			machine := a.addNode(a.T, node)
			a.create(hangingJob("own", node, []string{stay}))
			name := a.firstRunning("own")
			machine.Stop()
			a.untilLost(node)
			a.must(a.user.CoreV1().Pods(a.namespace).Delete(a.under, name, metav1.DeleteOptions{}))
			testcluster.Within(a, patience, "the Pod is ended and replaced", func(ctx context.Context) (bool, error) {
				pods, err := a.pods(ctx, "own")
				return len(pods) == 2, err
			})
			time.Sleep(5 * time.Second) // longer than the time after which others are removed by force
			if pod, err := a.user.CoreV1().Pods(a.namespace).Get(a.under, name, metav1.GetOptions{}); err != nil || !slices.Contains(pod.Finalizers, stay) {
				a.Errorf("the Pod is %+v, %v", pod, err)
			}
			if n := a.podWrites("delete", "", name); n > 0 {
				a.Errorf("the controller has tried %d times to delete the Pod", n)
			}
		},
	}, {
		name:     "hundreds of Pods restart in place again and again, and are ended and replaced",
		upstream: "nothing: it does not end them",
		before: func(a *attacker) {
			for n := range 3 {
				a.create(newJob(fmt.Sprintf("job-%d", n), func(s *batchv1.JobSpec) {
					testcluster.Indexed(s, 100, 100)
					s.BackoffLimit = new(int32(math.MaxInt32))
					restartInPlace(s, busyNode)
					exits(s, restartCode)
				}))
			}
			testcluster.Within(a, patience, "the first of them are ended", func(context.Context) (bool, error) {
				return a.podWrites("delete", "", "job-") > 10, nil
			})
		},
		then: func(a *attacker) {
			var restarts int32
			pods, err := a.pods(a.under, "")
			a.must(err)
			for _, pod := range pods {
				for _, c := range pod.Status.ContainerStatuses {
					restarts += c.RestartCount
				}
			}
			a.Logf("%d Pods were ended, and the %d others have restarted %d times", a.podWrites("delete", "", "job-"), len(pods), restarts)
		},
	},
}

// forgedConditions have the names of rules that would spare the Pod.
var forgedConditions = []corev1.PodCondition{
	{Type: v1alpha1.Stopped, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonRunningRule, Message: "matching Ignore rule exempt of PodFailurePolicy other"},
	{Type: v1alpha1.Lost, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonTerminatingRule, Message: "matching Ignore rule exempt of PodFailurePolicy other"},
	{Type: v1alpha1.FailingToStart, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonPendingRule, Message: "matching Ignore rule exempt of PodFailurePolicy other"},
	{Type: "example.com/Own", Status: corev1.ConditionTrue, Reason: "Own"},
}

// claimEnded tries to set forged conditions on a Pod in all possible ways.
func (a *attacker) claimEnded(name string) {
	a.Helper()
	content := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name}, "status": map[string]any{"conditions": forgedConditions},
	}
	data, err := json.Marshal(content)
	a.must(err)
	pods, allowed := a.user.CoreV1().Pods(a.namespace), 0
	for _, of := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType} {
		for _, subresource := range []string{"", "status", "ephemeralcontainers", "resize"} {
			options := metav1.PatchOptions{FieldManager: "tenant"}
			if of == types.ApplyYAMLPatchType {
				options.Force = new(true)
			}
			_, err := pods.Patch(a.under, name, of, data, options, subresource)
			switch {
			case err == nil && subresource == "status":
				a.Errorf("the tenant may write the status of Pods")
			case err == nil:
				allowed++
			case subresource == "" && of != types.ApplyYAMLPatchType:
				a.Errorf("%s: %v", of, err) // allowed, but without effect on the status
			}
		}
	}
	if allowed == 0 {
		a.Error("no patch was allowed")
	}
}

// hangingJob returns a Job whose Pod hangs when it is deleted, and is annotated as safe to delete by force.
func hangingJob(name, node string, finalizers []string) *batchv1.Job {
	return newJob(name, func(s *batchv1.JobSpec) {
		s.Template.Finalizers = finalizers
		s.Template.Annotations = map[string]string{hangsAnnotation: "true", binding.ForcefulDeletion: "true"}
		s.Template.Spec.NodeName, s.Template.Spec.TerminationGracePeriodSeconds = node, new(int64(1))
	})
}

// untilLost waits until a node is marked as not ready.
func (a *attacker) untilLost(node string) {
	a.Helper()
	testcluster.Within(a, patience, "node "+node+" is lost", func(ctx context.Context) (bool, error) {
		object, err := a.Client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(object.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
		}), nil
	})
}

// firstRunning waits until a Pod of a Job runs, and returns its name.
func (a *attacker) firstRunning(job string) (name string) {
	a.Helper()
	name = a.firstPod(job)
	testcluster.Within(a, patience, "Pod "+name+" runs", func(ctx context.Context) (bool, error) {
		pod, err := a.user.CoreV1().Pods(a.namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
	return name
}
