package living

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// TestPodsAreToldOnce checks that audits, and rules that cannot be evaluated, are reported once per pod.
func TestPodsAreToldOnce(t *testing.T) {
	broken := lateImage()
	broken.When = "pod.status.containerStatuses[5].name == ''"
	for name, c := range map[string]struct {
		policy fixtures.BoundPolicy
		event  string
		want   map[string]float64
	}{
		"audit": {
			fixtures.BoundPolicy{Name: "start", Change: func(s *v1alpha1.PodFailurePolicyBindingSpec) { s.Mode = v1alpha1.ModeAudit }, Rules: []v1alpha1.Rule{lateImage()}},
			"Normal train/a PodWouldBeEnded: Pod default/a matching Ignore rule image of PodFailurePolicy start: ImageUnavailable; the pod is not ended: the binding has mode Audit",
			map[string]float64{"living_pods_total{action=Ignore,mode=manage,phase=Pending,policy=start,result=audited,rule=image}": 1},
		},
		"error": {
			startPolicy(broken),
			"Warning train/a LivingRuleError: PodFailurePolicy start: spec.rules[0].when: index out of bounds: 5",
			map[string]float64{"living_pod_errors_total{kind=rule,mode=manage}": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.bind(c.policy)
				w.createPod(w.createJob("train", func(job *batchv1.Job) { job.Spec.ManagedBy = new(v1alpha1.JobController) }), "a")
				time.Sleep(time.Hour)
				w.lookAgain()
				w.lookAgain()
				expectStrings(w.T, "the calls", w.took())
				expectStrings(w.T, "the events", w.told(), c.event)
				w.counts.Expect(w.T, c.want)
			})
		})
	}
}

// TestTroublesAreToldOnceEach checks that each problem with a pod is reported once, even after a different one.
func TestTroublesAreToldOnceEach(t *testing.T) {
	broken := lateImage()
	broken.When = "pod.status.containerStatuses[5].name == ''"
	inWorld(t, func(w *world) {
		w.createPod(w.createJob("train", nil), "a")
		time.Sleep(time.Hour)
		for _, rule := range []v1alpha1.Rule{broken, lateImage(), broken, lateImage()} {
			w.bind(startPolicy(rule))
			w.failOnce("patch", false, errCrash)
			w.lookAgain()
		}
		const trouble = "Warning train/a "
		if told := w.told(); len(told) != 2 || !strings.HasPrefix(told[0], trouble+"LivingRuleError: ") || !strings.HasPrefix(told[1], trouble+"FailedDelete: ") {
			w.Errorf("the events: %q", told)
		}
	})
}
