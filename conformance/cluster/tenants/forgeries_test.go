//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// forgeries are Pods that claim to belong to other Jobs. A tenant reads the UIDs of the Jobs that it may view, and sets
// owner references, labels, annotations and names of its own Pods as it likes.
var forgeries = []attack{
	{
		name:     "Pods of another namespace claim to be of the Jobs, in all ways",
		upstream: "nothing: its index of Pods has the namespace in its keys, a Job adopts Pods of its own namespace only, and it asks for a controller of kind Job",
		during:   (*attacker).forge,
	}, {
		name:     "Pods of another namespace are created with the owner, and end later",
		upstream: "nothing: its index of Pods has the namespace in its keys",
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
			a.create(newJob("own", func(s *batchv1.JobSpec) { testcluster.Indexed(s, 5, 5) }))
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

// forgery is a Pod that claims to be one of the victim's.
type forgery struct {
	exit   string // its exit code, "" for never
	owner  func(*metav1.OwnerReference)
	change func(pod, theirs *corev1.Pod)
}

// claims lists all kinds of forgeries.
var claims = []forgery{
	{exit: "99"},
	{exit: "0"},
	{change: endless},
	{exit: "99", change: namesake},
	{exit: "75", change: later}, // these would use up the platform's budget
	{exit: "99", owner: func(owner *metav1.OwnerReference) { owner.Name = "" }}, // labels only
	{exit: "99", owner: func(owner *metav1.OwnerReference) { owner.Controller = nil }},
	{exit: "99", owner: func(owner *metav1.OwnerReference) { owner.APIVersion = "batch.example.com/v1" }},
	{exit: "99", owner: func(owner *metav1.OwnerReference) { owner.Kind = "CronJob" }},
}

// endless keeps Pods from being deleted: only the kubelet of their node could report their end.
func endless(pod, _ *corev1.Pod) {
	pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = "nowhere", new(int64(365*24*3600))
}

// namesake gives a Pod the victim's Pod name.
func namesake(pod, theirs *corev1.Pod) { pod.Name = theirs.Name }

// later gives a Pod the name of a later attempt: any five characters are the code of one.
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

// forge creates Pods of all kinds for each of the victim's Pods, lets them end, and then sets the victim's owner: for
// some before the victim's Pods end, for others meanwhile, because the garbage collector deletes them soon.
func (a *attacker) forge() {
	const early = 5 // one in this many
	var ending, now, soon []string
	patches := map[string]map[string]any{}
	for i, theirs := range a.victimsPods() {
		for n, f := range claims {
			pod := a.createPod(fmt.Sprintf("forged-%d-%d", n, i), f.exit, func(pod *corev1.Pod) {
				imitate(pod, theirs)
				if f.change != nil {
					f.change(pod, theirs)
				}
			})
			owner := *metav1.GetControllerOf(theirs)
			if f.owner != nil {
				f.owner(&owner)
			}
			if patches[pod.Name] = ownedBy(owner); owner.Name == "" {
				patches[pod.Name]["metadata"].(map[string]any)["ownerReferences"] = nil
			}
			if f.exit != "" {
				ending = append(ending, pod.Name)
			}
			if (i+n)%early == 0 {
				now = append(now, pod.Name)
			} else {
				soon = append(soon, pod.Name)
			}
		}
	}
	a.untilEnded(ending...)
	for _, name := range now {
		a.must(a.patch(a.under, "pods", name, patches[name]))
	}
	a.barrier()
	a.again(60, func(ctx context.Context, n int) error {
		if n >= len(soon) {
			return nil
		}
		return a.patch(ctx, "pods", soon[n], patches[soon[n]])
	})
}

// victimsPods returns the Pods of the victim's managed Jobs, as visible to the attacker.
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
