//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// mostOfIndexed is the highest parallelism that the API server accepts for an Indexed Job.
const mostOfIndexed = 100_000

// extremes are valid Jobs, larger than any user needs.
var extremes = []attack{
	{
		name:     "parallelism and completions of 2147483647, and 100000 indexes, with a quota of twenty Pods",
		upstream: "it tries to create 500 Pods at each look, and the Job is delayed when the quota refuses one; its memory holds indexes as intervals",
		before: func(a *attacker) {
			a.quota(20)
			a.createAll(8, endlessJob(math.MaxInt32, new(int32(math.MaxInt32))), endlessJob(math.MaxInt32, nil),
				func(s *batchv1.JobSpec) { testcluster.Indexed(s, math.MaxInt32, mostOfIndexed) },
				func(s *batchv1.JobSpec) {
					testcluster.Indexed(s, mostOfIndexed, mostOfIndexed)
					s.BackoffLimit, s.BackoffLimitPerIndex, s.MaxFailedIndexes = nil, new(int32(math.MaxInt32)), new(int32(mostOfIndexed))
					exits(s, 1)
				})
		},
	}, {
		name:     "completions and parallelism of 2147483647, with a quota of 1000 Pods",
		upstream: "it creates 500 Pods at each look, with all the calls per second that it has, and others wait",
		before: func(a *attacker) {
			a.quota(1000) // enough until the victim's Jobs have ended, unless the machine is busy
			a.createAll(6, endlessJob(math.MaxInt32, new(int32(math.MaxInt32))))
		},
	}, {
		name:     "parallelism, and completions with it, that go up and down",
		upstream: "it creates and deletes Pods with all the calls per second that it has",
		before: func(a *attacker) {
			a.quota(20)
			a.createAll(4, endlessJob(math.MaxInt32, new(int32(math.MaxInt32))), func(s *batchv1.JobSpec) { testcluster.Indexed(s, mostOfIndexed, mostOfIndexed) })
			a.again(20, func(ctx context.Context, n int) error {
				spec := map[string]any{"parallelism": n / 4 % 2 * math.MaxInt32}
				if n%2 == 1 {
					size := []int{1, mostOfIndexed, 17}[n/4%3]
					spec = map[string]any{"completions": size, "parallelism": size}
				}
				return a.patch(ctx, "jobs", fmt.Sprintf("job-%d", n%4), map[string]any{"spec": spec})
			})
		},
	}, {
		name:     "Jobs are suspended and resumed again and again",
		upstream: "it creates and deletes Pods with all the calls per second that it has",
		before: func(a *attacker) {
			a.createAll(5, func(s *batchv1.JobSpec) { testcluster.Indexed(s, 20, 20) })
			a.again(50, func(ctx context.Context, n int) error {
				return a.patch(ctx, "jobs", fmt.Sprintf("job-%d", n%5), map[string]any{"spec": map[string]any{"suspend": n/5%2 == 0}})
			})
		},
	}, {
		name:     "podFailurePolicies as large as they may be, no two of them the same",
		upstream: "nothing: it compiles none",
		before: func(a *attacker) {
			a.again(10, func(ctx context.Context, n int) error {
				job := newJob(fmt.Sprintf("policy-%d", n), func(s *batchv1.JobSpec) { s.PodFailurePolicy = largestPolicy(n); exits(s, 1) })
				_, err := a.jobs().Create(ctx, job, metav1.CreateOptions{})
				return err
			})
		},
	},
}

// endlessJob returns a change to a Job whose Pods do not end.
func endlessJob(parallelism int32, completions *int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Parallelism, s.Completions = &parallelism, completions }
}

// createAll creates Jobs of several kinds in turn: job-0 and so on.
func (a *attacker) createAll(count int, kinds ...func(*batchv1.JobSpec)) {
	a.Helper()
	for n := range count {
		a.create(newJob(fmt.Sprintf("job-%d", n), kinds[n%len(kinds)]))
	}
}

// largestPolicy returns a policy with as many rules and values as the API server accepts.
func largestPolicy(seed int) *batchv1.PodFailurePolicy {
	policy := &batchv1.PodFailurePolicy{}
	for rule := range 20 {
		values := make([]int32, 255)
		for i := range values {
			values[i] = int32(1000 + 20*1000*seed + 1000*rule + i)
		}
		policy.Rules = append(policy.Rules, batchv1.PodFailurePolicyRule{
			Action: batchv1.PodFailurePolicyActionCount,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: new("main"), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: values,
			},
		})
	}
	return policy
}
