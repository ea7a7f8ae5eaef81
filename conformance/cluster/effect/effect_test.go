//go:build cluster

package effect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/controlplane"
	"github.com/podverdict/podverdict/internal/installed"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// Exit codes of pods: the custom policy fails the Job because of the first, its own rules because of the second.
const (
	codeOfPolicy int32 = 137
	codeOfJob    int32 = 3
)

// combination is a Job.
type combination struct {
	manager string // spec.managedBy, "" for none
	mode    v1alpha1.Mode
	restart corev1.RestartPolicy
}

// combinations returns all that there are of who runs the Job, the mode of the policy bound to it, and its restartPolicy.
func combinations() (all []combination) {
	for _, manager := range []string{"", batchv1.JobControllerName, v1alpha1.JobController} {
		for _, mode := range []v1alpha1.Mode{v1alpha1.ModeEnforce, v1alpha1.ModeAudit} {
			for _, restart := range []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure} {
				all = append(all, combination{manager, mode, restart})
			}
		}
	}
	return all
}

func (c combination) name() string {
	manager, _, _ := strings.Cut(cmp.Or(c.manager, "nobody.named"), ".")
	return strings.ToLower(fmt.Sprintf("%s-%s-%s", manager, c.mode, c.restart))
}

// job has two pods, and a podFailurePolicy where the API server allows one.
func (c combination) job() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: c.name(), Labels: map[string]string{modeLabel: string(c.mode)}}}
	job.Spec.Parallelism, job.Spec.Completions = new(int32(2)), new(int32(2))
	if c.manager != "" {
		job.Spec.ManagedBy = &c.manager
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: c.restart, Containers: []corev1.Container{{Name: "main", Image: "main"}}}
	if c.restart == corev1.RestartPolicyNever {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{codeOfJob},
			},
		}}}
	}
	return job
}

// For each failed pod, the controllers did what the verdict says. They did nothing of what nobody is said to carry out, and
// an event of the pod says why.
func TestEffectIsWhatHappens(t *testing.T) {
	w := newWorld(t)
	for _, c := range combinations() {
		job := w.create(c.job())
		t.Run(c.name(), func(t *testing.T) {
			w := w.in(t)
			for n, code := range []int32{codeOfPolicy, codeOfJob} {
				pod := w.fail(job, code)
				said := w.said(job, pod)
				happened := w.happened(job.Name, int32(n+1))
				if said.verdict.Action != happened {
					t.Fatalf("exit code %d: %s takes effect, and %s happened", code, said.verdict.Action, happened)
				}
				for _, would := range said.Would {
					if would.Verdict.Action == happened {
						t.Errorf("exit code %d: nobody carries out %s, and it happened", code, happened)
					}
					w.untilTold(pod, "nobody carries it out: "+would.NotCarriedOut)
				}
				if wants := code == codeOfPolicy && !c.acts(); wants != (len(said.Would) == 1) {
					t.Errorf("exit code %d: %+v", code, said.Would)
				}
				if happened == batchv1.PodFailurePolicyActionFailJob {
					return
				}
			}
			if c.restart == corev1.RestartPolicyNever {
				t.Error("neither the policy nor the Job's own rules failed the Job")
			}
		})
	}
	// Those with restartPolicy OnFailure go on, unless the policy has failed them.
	w.untilCounted("enforce", v1alpha1.BoundJobs{Selected: 2, NotCarriedOut: 2, Because: "they are not run by podverdict.io/job-controller"})
	w.untilCounted("audit", v1alpha1.BoundJobs{Selected: 3, NotCarriedOut: 3, Because: "the binding has mode Audit"})
}

// acts reports whether the policy can do something in the Job.
func (c combination) acts() bool {
	return c.manager == v1alpha1.JobController && c.mode == v1alpha1.ModeEnforce
}

// said is what podverdict says of a pod.
type said struct {
	binding.Beside

	verdict runtime.Verdict
}

// said judges a pod as eval does, with what the API server has of it and its Job.
func (w *world) said(job *batchv1.Job, pod *corev1.Pod) said {
	w.Helper()
	policy, err := compiler.NewPolicy(job.Spec.PodFailurePolicy)
	if err != nil {
		w.Fatal(err)
	}
	compiled, err := w.language.Compile(policy)
	if err != nil {
		w.Fatal(err)
	}
	own := runtime.NewProgram(compiled)
	effect := w.set.For(w.Context(), job, nil).Effect(binding.Manager(job), own)
	in := runtime.Input{Pod: pod, Job: job, Attempt: 1}
	verdict := effect.Acting.Judge(w.Context(), in)
	return said{effect.Beside(w.Context(), in, verdict), verdict}
}

// happened waits until the controller has acted on so many failures, and returns what it did.
func (w *world) happened(name string, failures int32) (did batchv1.PodFailurePolicyAction) {
	w.Helper()
	installed.Eventually(w, fmt.Sprintf("%d failures of %s are acted upon", failures, name), func(ctx context.Context) (bool, error) {
		job, err := w.client.BatchV1().Jobs(w.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		did = batchv1.PodFailurePolicyActionCount
		if slices.ContainsFunc(job.Status.Conditions, failsByPolicy) {
			did = batchv1.PodFailurePolicyActionFailJob
			return true, nil
		}
		settled := job.Status.UncountedTerminatedPods == nil || len(job.Status.UncountedTerminatedPods.Failed) == 0
		return settled && job.Status.Failed == failures, fmt.Errorf("%+v", job.Status)
	})
	return did
}

func failsByPolicy(c batchv1.JobCondition) bool {
	return c.Type == batchv1.JobFailureTarget && c.Reason == batchv1.JobReasonPodFailurePolicy
}
