package plan

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestDecisionsOutliveRules: failures of a Job with volatile rules are decided once. Under other rules, and with nothing
// but what is stored, the Job's counters stay, and the new rules do not fail it for an old failure.
func TestDecisionsOutliveRules(t *testing.T) {
	for name, job := range map[string]jobBuilder{
		"by slot": nonIndexed(9, 4).started().replaceFailed(), "by index": perIndex(9, 4, 9).started().replaceFailed(),
	} {
		t.Run(name, func(t *testing.T) {
			o := seen(job, 5000, podOf(job, 0, 0).exited(51, 5), podOf(job, 1, 0).exited(52, 6), podOf(job, 2, 0).exited(52, 7), podOf(job, 3, 0).exited(51, 8))
			o.Volatile = true
			o.Judge = customRules{51: counting(), 52: ignoring()}.judge
			o = carriedOut(t, o)
			if o.Job.Status.Failed != 2 {
				t.Fatalf("%d failures are counted, want 2", o.Job.Status.Failed)
			}
			o.Judge = customRules{51: ignoring(), 52: failing()}.judge
			o = carriedOut(t, o)
			if o.Job.Status.Failed != 2 || hasCondition(o.Job, batchv1.JobFailureTarget) {
				t.Errorf("under other rules the status is %s", statusText(o.Job))
			}
		})
	}
}

func failing() customRule { return customRule{action: failJob} }

// carriedOut returns what is observed when Plans have been carried out until there is nothing more to do.
func carriedOut(t *testing.T, o Observation) Observation {
	t.Helper()
	const enough = 20
	for range enough {
		p := planned(t, o)
		if p.Write == nil && len(p.Release)+len(p.Create) == 0 {
			return o
		}
		if p.Write != nil {
			o.Job = p.Write
		}
		var pods []*corev1.Pod
		for _, pod := range o.Pods {
			if slices.Contains(p.Release, pod) {
				pod = pod.DeepCopy()
				pod.Finalizers = withoutTracking(pod.Finalizers)
			}
			pods = append(pods, pod)
		}
		for _, created := range p.Create {
			created.UID = "uid-" + created.UID
			created.Status.Phase = corev1.PodRunning
			pods = append(pods, created)
		}
		o.Pods = pods
	}
	t.Fatalf("there is no end to it: %+v", Next(o))
	return o
}
