package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// The program of a Job's own rules is another one when it has been compiled again, because there were many others. The rules
// are the same.
func TestOwnRulesAreNotVolatile(t *testing.T) {
	of := func() *runtime.Program {
		programs := newTestPrograms(t, 1)
		program, err := programs.of(failJobOn(42))
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	w := &work{reconciler: &reconciler{clock: clock.RealClock{}}, recollection: &recollection{}, job: ownJob(nil)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "a"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	first := w.newEvaluator(of(), binding.Selection{})
	first.judge(t.Context(), pod, 1)
	w.verdicts = first.verdicts
	if w.newEvaluator(of(), binding.Selection{}).volatile() {
		t.Error("the Job's own rules may be others the next time")
	}
}
