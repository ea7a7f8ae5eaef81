package ecosystem

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	_ "unsafe" // for go:linkname

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/features"
	_ "sigs.k8s.io/jobset/pkg/webhooks" // is linked

	decided "github.com/podverdict/podverdict/internal/kube/jobset"
)

// jobSetWebhook is laid out as that of JobSet.
type jobSetWebhook struct{ client.Client }

//go:linkname setDefaults sigs.k8s.io/jobset/pkg/webhooks.(*jobSetWebhook).Default
func setDefaults(*jobSetWebhook, context.Context, *v1alpha2.JobSet) error //nolint:revive // a method

//go:linkname validateCreate sigs.k8s.io/jobset/pkg/webhooks.(*jobSetWebhook).ValidateCreate
func validateCreate(*jobSetWebhook, context.Context, *v1alpha2.JobSet) (admission.Warnings, error) //nolint:revive // a method

// TestChecksAgreeWithJobSet compares defaults, and what is refused, with JobSet's webhook, on generated JobSets that the CRD allows.
func TestChecksAgreeWithJobSet(t *testing.T) {
	setGate(t, decided.Gates{RestartJob: true})
	if err := features.SetEnable(features.InPlaceRestart, true); err != nil {
		t.Fatal(err)
	}
	n, seed := *generated/10, rand.Uint64()
	if testing.Short() {
		n = 10_000
	}
	refused := 0
	for i := range n {
		ours := generateSpec(rand.New(rand.NewPCG(seed, uint64(i))))
		theirs := ours.DeepCopy()
		decided.SetDefaults(ours)
		if err := setDefaults(&jobSetWebhook{}, t.Context(), theirs); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Fatalf("seed %d, set %d: defaults, -JobSet +podverdict:\n%s", seed, i, diff)
		}
		_, err := validateCreate(&jobSetWebhook{}, t.Context(), theirs)
		var found []string
		for _, f := range decided.Check(ours) {
			if f.Check == decided.CheckInvalid {
				found = append(found, f.Field+": "+f.Message)
			}
		}
		if (err != nil) != (len(found) > 0) {
			t.Fatalf("seed %d, set %d: JobSet says %v, podverdict %q\n%s", seed, i, err, found, cmp.Diff(&v1alpha2.JobSet{}, ours))
		}
		if err != nil {
			refused++
		}
	}
	if refused < n/10 || refused > n/2 {
		t.Errorf("%d of %d are refused", refused, n)
	}
}

// mostly returns a value that is right, and rarely one of others.
func mostly[T any](r *rand.Rand, right T, others ...T) T {
	if r.IntN(25) == 0 {
		return pick(r, others)
	}
	return right
}

// generateSpec returns a JobSet as somebody may write it, with few mistakes.
func generateSpec(r *rand.Rand) *v1alpha2.JobSet {
	set := &v1alpha2.JobSet{TypeMeta: metav1.TypeMeta{Kind: "JobSet"}, ObjectMeta: metav1.ObjectMeta{Name: mostly(r, "set", strings.Repeat("x", 50+r.IntN(15)))}}
	names := someNames[:1+r.IntN(3)]
	for i, name := range names {
		set.Spec.ReplicatedJobs = append(set.Spec.ReplicatedJobs, v1alpha2.ReplicatedJob{
			Name: name, GroupName: "default", Replicas: mostly(r, 1+int32(r.IntN(2)), 0, 1024, 1025, math.MaxInt32),
			Template: batchv1.JobTemplateSpec{Spec: generateJobSpec(r)},
		})
		if i > 0 && r.IntN(3) == 0 || r.IntN(40) == 0 {
			on := v1alpha2.DependsOn{Name: mostly(r, names[max(i-1, 0)], "c", "d"), Status: v1alpha2.DependencyReady}
			set.Spec.ReplicatedJobs[i].DependsOn = append(set.Spec.ReplicatedJobs[i].DependsOn, on)
		}
	}
	target := func() []string { return some(r, []string{mostly(r, names[0], "b", "c", "wrong"), names[len(names)-1]}) }
	if r.IntN(3) == 0 {
		set.Spec.SuccessPolicy = &v1alpha2.SuccessPolicy{Operator: v1alpha2.OperatorAny, TargetReplicatedJobs: target()}
	}
	if r.IntN(2) == 0 {
		return set
	}
	set.Spec.FailurePolicy = &v1alpha2.FailurePolicy{RestartStrategy: mostly(r, v1alpha2.Recreate, v1alpha2.BlockingRecreate, v1alpha2.InPlaceRestart)}
	for i := range r.IntN(4) {
		set.Spec.FailurePolicy.Rules = append(set.Spec.FailurePolicy.Rules, v1alpha2.FailurePolicyRule{
			Name: mostly(r, []string{"", "first", "second_", "third"}[i], "first", "a:", "1", strings.Repeat("n", 127+r.IntN(3))), Action: pick(r, someActions[:5]),
			OnJobFailureReasons: some(r, append(someReasons, mostly(r, "FailedIndexes", "Wrong"))), TargetReplicatedJobs: target(),
		})
	}
	return set
}

func generateJobSpec(r *rand.Rand) batchv1.JobSpec {
	var spec batchv1.JobSpec
	spec.Completions = pick(r, []*int32{nil, new(int32(2)), new(int32(3))})
	spec.Parallelism = mostly(r, spec.Completions, new(int32(1)), new(int32(math.MaxInt32)))
	spec.BackoffLimit = pick(r, []*int32{new(int32(math.MaxInt32)), new(int32(math.MaxInt32)), nil})
	spec.PodReplacementPolicy = mostly(r, new(batchv1.Failed), nil, new(batchv1.TerminatingOrFailed))
	spec.CompletionMode = mostly(r, nil, new(batchv1.NonIndexedCompletion), new(batchv1.IndexedCompletion))
	spec.Template.Spec.RestartPolicy = pick(r, []corev1.RestartPolicy{"", corev1.RestartPolicyNever})
	return spec
}
