package controller_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/memoryapi"
)

// TestRulesSeeEarlierAttempts checks that rules see the attempts before a pod, even if the failed pods were deleted and the controller
// restarted. This includes rules that are only audited. The hint of a rule is in the event and at the end of the Job's message.
func TestRulesSeeEarlierAttempts(t *testing.T) {
	thrice := rule("thrice", "attempts.filter(a, a.exitCode == 3 && a.policy == 'gpu' && a.rule == 'other').size() >= 2", failJob)
	thrice.Hint, thrice.Class = "ask the team", "flaky"
	trial := rule("trial", "attempts.size() == 1", failJob)
	for name, job := range map[string]*batchv1.Job{
		"by slot": managed(1, completions(1)), "by index": managed(1, indexed(1)), "with a limit for each index": managed(1, indexed(1), perIndex(9)),
	} {
		t.Run(name, func(t *testing.T) {
			audited := bind("early")
			audited.Spec.Mode = "Audit"
			inWorld(t, func(w *world) {
				w.apply(customPolicy("gpu", thrice, rule("other", onCode3, count)), bind("gpu"), customPolicy("early", trial), audited)
			}, func(w *world) {
				w.run(job)
				for range 2 {
					failed := w.fail(3)
					w.server.Delete(memoryapi.Pods, failed.Name)
					w.restart()
				}
				w.expectJob("failed 2")
				w.expectNotes("Pod", "Normal PodFailureVerdict: Count by rule other of gpu",
					"Normal PodFailureVerdict: Count by rule other of gpu; would: FailJob by rule trial of early; nobody carries it out: the binding has mode Audit")
				pod := w.fail(3)
				w.expectJob("failed 3, PodFailurePolicy: Pod ns/" + pod.Name + " matching FailJob rule thrice of PodFailurePolicy gpu; hint: ask the team")
				w.expectNotes("Pod", "Normal PodFailureVerdict: Count by rule other of gpu",
					"Normal PodFailureVerdict: Count by rule other of gpu; would: FailJob by rule trial of early; nobody carries it out: the binding has mode Audit",
					"Warning PodFailureVerdict: FailJob by rule thrice of gpu, class flaky; hint: ask the team")
			})
		})
	}
}

// TestNobodyAsksForAttempts checks that a pod carries no attempts if no rule reads them, regardless of its template.
func TestNobodyAsksForAttempts(t *testing.T) {
	inWorld(t, func(w *world) { w.apply(customPolicy("gpu", rule("r", onCode3, ignore)), bind("gpu")) }, func(w *world) {
		job := one()
		metav1.SetMetaDataAnnotation(&job.Spec.Template.ObjectMeta, plan.EarlierAttemptsAnnotation, "[]")
		w.run(job)
		w.fail(3)
		pod := w.fail(3)
		if text, found := pod.Annotations[plan.EarlierAttemptsAnnotation]; found {
			t.Errorf("the pod carries %q", text)
		}
	})
}
