package ecosystem

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	_ "unsafe" // for go:linkname

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	_ "sigs.k8s.io/jobset/pkg/controllers" // is linked
	"sigs.k8s.io/jobset/pkg/features"

	decided "github.com/podverdict/podverdict/internal/kube/jobset"
)

// childJobs, statusUpdateOpts and eventParams are laid out as those of JobSet's controllers.
type (
	childJobs        struct{ active, successful, failed, previous []*batchv1.Job } //nolint:unused // takes its place
	statusUpdateOpts struct {
		shouldUpdate bool //nolint:unused // takes its place
		events       []*eventParams
	}
	eventParams struct {
		object                    runtime.Object //nolint:unused // takes its place
		eventType                 string         //nolint:unused // takes its place
		eventReason, eventMessage string
	}
)

//go:linkname executeFailurePolicy sigs.k8s.io/jobset/pkg/controllers.executeFailurePolicy
func executeFailurePolicy(context.Context, *v1alpha2.JobSet, *childJobs, *statusUpdateOpts) error

//go:linkname firstRuleAndJob sigs.k8s.io/jobset/pkg/controllers.findFirstFailedPolicyRuleAndJob
func firstRuleAndJob(context.Context, []v1alpha2.FailurePolicyRule, []*batchv1.Job) (*v1alpha2.FailurePolicyRule, *batchv1.Job)

// A failedSet is a JobSet whose Jobs have failed.
type failedSet struct {
	Set    *v1alpha2.JobSet
	Failed []*batchv1.Job
}

// An outcome is what a JobSet does about it, in words that both sides have.
type outcome struct {
	Rule, Job, Reason, Message string
	Failed, Stays              bool
	Status                     v1alpha2.JobSetStatus
}

func (f failedSet) ours(gates decided.Gates) outcome {
	d := decided.Decide(f.Set, f.Failed, gates)
	o := outcome{Failed: d.Failed, Reason: d.Reason, Message: d.Message, Status: d.Status(f.Set), Stays: !d.Failed && d.Restart == 0}
	if d.Rule >= 0 {
		o.Rule, o.Job = f.Set.Spec.FailurePolicy.Rules[d.Rule].Name, d.Job.Name
	}
	if o.Stays {
		o.Message = "" // says why, which the controller only logs
	}
	return o
}

func (f failedSet) theirs(ctx context.Context) (o outcome) {
	if policy := f.Set.Spec.FailurePolicy; policy != nil {
		if rule, job := firstRuleAndJob(ctx, policy.Rules, f.Failed); rule != nil {
			o.Rule, o.Job = rule.Name, job.Name
		}
	}
	after, update := f.Set.DeepCopy(), &statusUpdateOpts{}
	if err := executeFailurePolicy(ctx, after, &childJobs{failed: f.Failed}, update); err != nil {
		o.Stays, o.Status = true, f.Set.Status
		return o
	}
	last := update.events[len(update.events)-1]
	o.Reason, o.Message = last.eventReason, last.eventMessage
	for _, condition := range after.Status.Conditions {
		o.Reason, o.Message = condition.Reason, condition.Message
		o.Failed = condition.Type == string(v1alpha2.JobSetFailed)
	}
	o.Status = after.Status
	o.Status.Conditions = nil
	return o
}

var generated = flag.Int("sets", 1_000_000, "how many JobSets are generated, 10,000 with -short")

// TestFailurePolicyAgreesWithJobSet compares the two on generated JobSets, failed Jobs and counts.
func TestFailurePolicyAgreesWithJobSet(t *testing.T) {
	ctx := logr.NewContext(t.Context(), logr.Discard())
	n, seed := *generated, rand.Uint64()
	if testing.Short() {
		n = 10_000
	}
	seen := map[string]int{}
	for _, gates := range []decided.Gates{{}, {RestartJob: true}} {
		setGate(t, gates)
		differs := func(f failedSet) bool { return !equality.Semantic.DeepEqual(f.theirs(ctx), f.ours(gates)) }
		for i := range n / 2 {
			f := generate(rand.New(rand.NewPCG(seed, uint64(i))))
			if differs(f) {
				f = shrunk(f, differs)
				t.Fatalf("seed %d, set %d, %+v, JobSet - and podverdict +:\n%s\nof %s",
					seed, i, gates, cmp.Diff(f.theirs(ctx), f.ours(gates)), cmp.Diff(failedSet{}, f))
			}
			o := f.ours(gates)
			seen[fmt.Sprintf("%+v reason %s", gates, o.Reason)]++
		}
	}
	for kind, times := range seen {
		t.Log(times, kind)
	}
	if len(seen) < 18 {
		t.Errorf("only %d kinds of outcomes were generated", len(seen))
	}
}

func setGate(t *testing.T, gates decided.Gates) {
	t.Helper()
	if err := features.SetEnable(features.RestartJob, gates.RestartJob); err != nil {
		t.Fatal(err)
	}
}

var (
	someReasons = []string{"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"}
	someNames   = []string{"a", "b", "c"}
	someActions = []v1alpha2.FailurePolicyAction{
		v1alpha2.FailJobSet, v1alpha2.RestartJobSet, v1alpha2.RestartJobSetAndIgnoreMaxRestarts, v1alpha2.RestartJob,
		v1alpha2.RestartJobAndIgnoreMaxRestarts, "Unknown",
	}
	somePatterns = []string{"exit code 42", "^Job has", `rule at index [0-9]$`, "(", ".*", "nothing like it"}
	someMessages = []string{
		"Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0", "Job has reached the specified backoff limit", "",
	}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// some returns up to two of a list, often none.
func some[T any](r *rand.Rand, from []T) (chosen []T) {
	for range max(r.IntN(5)-2, 0) {
		chosen = append(chosen, pick(r, from))
	}
	return chosen
}

// generate returns a JobSet with at least one failed Job.
func generate(r *rand.Rand) failedSet {
	set := &v1alpha2.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}}
	set.Status.RestartsCountTowardsMax = int32(r.IntN(4))
	set.Status.Restarts = set.Status.RestartsCountTowardsMax + int32(r.IntN(2))
	for _, name := range someNames[:1+r.IntN(3)] {
		replicas := int32(r.IntN(3) + 1)
		set.Spec.ReplicatedJobs = append(set.Spec.ReplicatedJobs, v1alpha2.ReplicatedJob{Name: name, Replicas: replicas})
		set.Status.ReplicatedJobsStatus = append(set.Status.ReplicatedJobsStatus, v1alpha2.ReplicatedJobStatus{
			Name: name, JobRestarts: someCounts(r, replicas), JobRestartsCountTowardsMax: someCounts(r, replicas),
		})
	}
	if r.IntN(10) > 0 {
		set.Spec.FailurePolicy = &v1alpha2.FailurePolicy{MaxRestarts: int32(r.IntN(6))}
		for i := range r.IntN(4) {
			set.Spec.FailurePolicy.Rules = append(set.Spec.FailurePolicy.Rules, v1alpha2.FailurePolicyRule{
				Name: fmt.Sprint("rule", i), Action: pick(r, someActions), OnJobFailureReasons: some(r, someReasons),
				OnJobFailureMessagePatterns: some(r, somePatterns), TargetReplicatedJobs: some(r, someNames),
			})
		}
	}
	f := failedSet{Set: set, Failed: []*batchv1.Job{failedJob(r, 0, corev1.ConditionTrue)}}
	for i := range r.IntN(4) {
		f.Failed = append(f.Failed, failedJob(r, i+1, pick(r, []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse})))
	}
	return f
}

// someCounts returns the counts of a replicatedJob, which may be missing, or from before it got another replica.
func someCounts(r *rand.Rand, replicas int32) (counts []int32) {
	if r.IntN(3) == 0 {
		return nil
	}
	for range max(int(replicas)-r.IntN(5)/4, 0) {
		counts = append(counts, int32(r.IntN(3)))
	}
	return counts
}

// failedJob returns a Job, which has failed if the status is true.
func failedJob(r *rand.Rand, n int, status corev1.ConditionStatus) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job" + strconv.Itoa(n), Labels: map[string]string{}}}
	if r.IntN(20) > 0 {
		job.Labels[v1alpha2.ReplicatedJobNameKey] = pick(r, append(someNames, ""))
	}
	if r.IntN(20) > 0 {
		job.Labels[v1alpha2.JobIndexKey] = pick(r, []string{"0", "1", "0", "1", "3", "x"})
	}
	job.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: status, Reason: "other", LastTransitionTime: metav1.Unix(0, 0)},
		{
			Type: batchv1.JobFailed, Status: status, Reason: pick(r, append(someReasons, "Other")), Message: pick(r, someMessages),
			LastTransitionTime: metav1.Unix(int64(r.IntN(3)), 0),
		},
	}
	return job
}

// shrunk leaves out Jobs, rules and their conditions as long as the two still differ.
func shrunk(f failedSet, differs func(failedSet) bool) failedSet {
	for i := range f.Failed {
		if len(f.Failed) == 1 {
			break
		}
		if less := (failedSet{f.Set, slices.Delete(slices.Clone(f.Failed), i, i+1)}); differs(less) {
			return shrunk(less, differs)
		}
	}
	if f.Set.Spec.FailurePolicy == nil {
		return f
	}
	for i, rule := range f.Set.Spec.FailurePolicy.Rules {
		bare := v1alpha2.FailurePolicyRule{Name: rule.Name, Action: rule.Action}
		for _, rules := range [][]v1alpha2.FailurePolicyRule{nil, {bare}} {
			less := failedSet{f.Set.DeepCopy(), f.Failed}
			less.Set.Spec.FailurePolicy.Rules = slices.Replace(less.Set.Spec.FailurePolicy.Rules, i, i+1, rules...)
			if !cmp.Equal(less, f) && differs(less) {
				return shrunk(less, differs)
			}
		}
	}
	return f
}
