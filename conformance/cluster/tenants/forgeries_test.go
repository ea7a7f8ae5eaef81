//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// forgeries are Pods that claim to be of Jobs that they are not of. A tenant reads the UIDs of the Jobs that it may view, and
// writes owner references, labels, annotations and names of its own Pods as it likes.
var forgeries = []attack{
	{
		name:     "failed Pods of another namespace name the Jobs as their controllers",
		upstream: "nothing: its index of Pods has the namespace in its keys",
		during:   forge("99", claim),
	}, {
		name:     "succeeded Pods of another namespace do",
		upstream: "nothing, as above",
		during:   forge("0", claim),
	}, {
		name:     "Pods of another namespace that never end do",
		upstream: "nothing, as above",
		during:   forge("", claim, endless),
	}, {
		name:     "Pods of another namespace do, with the names of the Jobs' own",
		upstream: "nothing, as above",
		during:   forge("99", claim, namesake),
	}, {
		name:     "Pods of another namespace do, with the names of later attempts",
		upstream: "nothing, as above",
		during:   forge("1", claim, later),
	}, {
		name:     "Pods of another namespace that use up the platform's budget do",
		upstream: "nothing, as above",
		during:   forge("75", claim, later),
	}, {
		name:     "Pods of another namespace are created with the owner, and end later",
		upstream: "nothing, as above",
		during: func(a *attacker) {
			var names []string
			for _, theirs := range a.victimsPods() {
				pod := a.createPod(fmt.Sprintf("created-%d", len(names)), "99", func(pod *corev1.Pod) {
					imitate(pod, theirs)
					owner := metav1.GetControllerOf(theirs)
					pod.Labels = map[string]string{batchv1.ControllerUidLabel: string(owner.UID)}
					pod.OwnerReferences, pod.Finalizers = []metav1.OwnerReference{*owner}, []string{stay, batchv1.JobTrackingFinalizer}
				})
				names = append(names, pod.Name)
			}
			a.untilEnded(names...)
			a.barrier()
		},
	}, {
		name:     "Pods have the label of the Jobs' UIDs, and no owner",
		upstream: "nothing: a Job adopts Pods of its own namespace only",
		during:   forge("99", func(owner *metav1.OwnerReference) { owner.Name = "" }),
	}, {
		name:     "Pods are owned, but not controlled, by the Jobs",
		upstream: "nothing: it asks for controllers",
		during:   forge("99", func(owner *metav1.OwnerReference) { owner.Controller = nil }),
	}, {
		name:     "the owner is a Job of another API group",
		upstream: "nothing: the group is not compared, but the namespace is",
		during:   forge("99", func(owner *metav1.OwnerReference) { owner.APIVersion = "batch.example.com/v1" }),
	}, {
		name:     "the owner is a CronJob with the UID of the Job",
		upstream: "nothing: it asks for the kind",
		during:   forge("99", func(owner *metav1.OwnerReference) { owner.Kind = "CronJob" }),
	}, {
		name:     "the attacker has Jobs of the same names, and Pods with the UIDs of the victim's",
		upstream: "nothing: the UID decides among Jobs of a name, in a namespace",
		before: func(a *attacker) {
			for _, planned := range victimJobs {
				a.create(newJob(planned.name, planned.spec))
			}
		},
		during: func(a *attacker) {
			for i, theirs := range a.victimsPods() {
				name := fmt.Sprintf("same-%d", i)
				a.createPod(name, "99", func(pod *corev1.Pod) { imitate(pod, theirs) })
				a.untilEnded(name)
				a.must(a.patch(a.under, "pods", name, ownedBy(*metav1.GetControllerOf(theirs))))
			}
			a.barrier()
		},
	}, {
		name:     "Jobs select Pods by hand, by the labels of the victim's",
		upstream: "nothing: selectors are for the Pods of a namespace",
		during: func(a *attacker) {
			for _, job := range a.victimsJobs() {
				labels := map[string]string{batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name}
				a.create(newJob(job.Name, func(s *batchv1.JobSpec) {
					s.ManualSelector, s.Selector, s.Template.Labels = new(true), &metav1.LabelSelector{MatchLabels: labels}, labels
					exits(s, 42)
				}))
				a.untilFinished(job.Name)
			}
			a.barrier()
		},
	}, {
		name:     "the attacker's Pods change their owner again and again",
		upstream: "the attacker's Job adopts its Pods again, or loses them; the victim's know nothing of it",
		during: func(a *attacker) {
			a.create(newJob("own", func(s *batchv1.JobSpec) { indexed(s, 5, 5) }))
			victims := a.victimsJobs()
			a.again(50, func(ctx context.Context, n int) error {
				pods, err := a.pods(ctx, "")
				if err != nil || len(pods) == 0 {
					return err
				}
				var owners []metav1.OwnerReference
				if n%3 > 0 {
					owners = []metav1.OwnerReference{controls(victims[n%len(victims)])}
				}
				return a.patch(ctx, "pods", pods[n%len(pods)].Name, map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
			})
		},
	},
}

func claim(*metav1.OwnerReference) {}

// endless Pods are not gone when they are deleted: only the kubelet of their node could say that they have ended.
func endless(pod, _ *corev1.Pod) {
	pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = "nowhere", new(int64(365*24*3600))
}

// namesake Pods have the names of theirs.
func namesake(pod, theirs *corev1.Pod) { pod.Name = theirs.Name }

// later Pods have the names of later attempts: any five characters are the code of one.
func later(pod, theirs *corev1.Pod) {
	last := map[bool]string{true: "b", false: "c"}[strings.HasSuffix(theirs.Name, "c")]
	pod.Name = theirs.Name[:len(theirs.Name)-1] + last
}

// imitate gives a Pod the index of one of the victim's.
func imitate(pod, theirs *corev1.Pod) {
	for _, key := range []string{batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation} {
		if value, given := theirs.Annotations[key]; given {
			pod.Annotations[key] = value
		}
	}
}

// forge makes Pods for each of the victim's, has them end with the exit code unless it is "", and gives them the owner of the
// victim's then: of some before the victim's end, of others in the meantime, because the garbage collector deletes them soon.
func forge(exit string, owner func(*metav1.OwnerReference), changes ...func(pod, theirs *corev1.Pod)) func(*attacker) {
	const copies, early = 5, 1
	return func(a *attacker) {
		var forged []string
		owners := map[string]metav1.OwnerReference{}
		for n := range copies {
			for i, theirs := range a.victimsPods() {
				pod := a.createPod(fmt.Sprintf("forged-%d-%d", n, i), exit, func(pod *corev1.Pod) {
					imitate(pod, theirs)
					for _, change := range changes {
						change(pod, theirs)
					}
					if n > 0 && !strings.HasPrefix(pod.Name, "forged-") {
						pod.Name = strconv.Itoa(n) + pod.Name // there is one of each name
					}
				})
				forged, owners[pod.Name] = append(forged, pod.Name), *metav1.GetControllerOf(theirs)
			}
		}
		if exit != "" {
			a.untilEnded(forged...)
		}
		claim := func(ctx context.Context, name string) error {
			reference := owners[name]
			owner(&reference)
			claimed := ownedBy(reference)
			if reference.Name == "" {
				claimed["metadata"].(map[string]any)["ownerReferences"] = nil
			}
			return a.patch(ctx, "pods", name, claimed)
		}
		now := len(forged) * early / copies
		for _, name := range forged[:now] {
			a.must(claim(a.under, name))
		}
		a.barrier()
		a.again(60, func(ctx context.Context, _ int) error {
			if now++; now > len(forged) {
				return nil
			}
			return claim(ctx, forged[now-1])
		})
	}
}

// victimsPods returns the Pods of the victim's managed Jobs, as the attacker may see them.
func (a *attacker) victimsPods() (all []*corev1.Pod) {
	a.Helper()
	pods, err := a.user.CoreV1().Pods(a.victim).List(a.under, metav1.ListOptions{})
	a.must(err)
	managed := map[types.UID]bool{}
	for _, job := range a.victimsJobs() {
		managed[job.UID] = true
	}
	for i, pod := range pods.Items {
		if managed[metav1.GetControllerOf(&pod).UID] {
			all = append(all, &pods.Items[i])
		}
	}
	if len(all) == 0 {
		a.Fatal("the victim has no Pods")
	}
	return all
}
