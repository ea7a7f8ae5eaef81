//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mostOfIndexed is the highest parallelism that the API server accepts of an Indexed Job.
const mostOfIndexed = 100_000

// extremes are Jobs that are legal, and larger than anybody needs.
var extremes = []attack{
	{
		name:     "completions and parallelism of 2147483647, with a quota of two Pods",
		upstream: "it tries to create 500 Pods at each look, and the Job is delayed when the quota refuses one",
		before:   func(a *attacker) { a.quota(2); a.createAll(6, endlessJob(math.MaxInt32, new(int32(math.MaxInt32)))) },
	}, {
		name:     "a work queue with a parallelism of 2147483647",
		upstream: "as above",
		before:   func(a *attacker) { a.quota(2); a.createAll(6, endlessJob(math.MaxInt32, nil)) },
	}, {
		name:     "completions and parallelism of 2147483647, without a quota",
		upstream: "it creates 500 Pods at each look, with all the calls per second that it has, and others wait",
		before:   func(a *attacker) { a.createAll(6, endlessJob(math.MaxInt32, new(int32(math.MaxInt32)))) },
	}, {
		name:     "completions of 2147483647, by index",
		upstream: "its memory holds indexes as intervals, and it creates 500 Pods at each look",
		before: func(a *attacker) {
			a.quota(2)
			a.createAll(6, func(s *batchv1.JobSpec) { indexed(s, math.MaxInt32, mostOfIndexed) })
		},
	}, {
		name:     "100000 indexes with a limit of failures each",
		upstream: "as above",
		before: func(a *attacker) {
			a.quota(20)
			a.createAll(6, func(s *batchv1.JobSpec) {
				indexed(s, mostOfIndexed, mostOfIndexed)
				s.BackoffLimit, s.BackoffLimitPerIndex, s.MaxFailedIndexes = nil, new(int32(math.MaxInt32)), new(int32(mostOfIndexed))
				exits(s, 1)
			})
		},
	}, {
		name:     "a parallelism that goes up and down between 0 and 2147483647",
		upstream: "it creates and deletes Pods with all the calls per second that it has",
		before: func(a *attacker) {
			a.quota(20)
			a.createAll(3, endlessJob(math.MaxInt32, new(int32(math.MaxInt32))))
			a.again(20, func(ctx context.Context, n int) error {
				return a.patch(ctx, "jobs", fmt.Sprintf("job-%d", n%3), map[string]any{"spec": map[string]any{"parallelism": n / 3 % 2 * math.MaxInt32}})
			})
		},
	}, {
		name:     "completions of an Indexed Job that go up and down with its parallelism",
		upstream: "it creates and deletes Pods with all the calls per second that it has",
		before: func(a *attacker) {
			a.quota(20)
			a.createAll(3, func(s *batchv1.JobSpec) { indexed(s, mostOfIndexed, mostOfIndexed) })
			a.again(20, func(ctx context.Context, n int) error {
				size := []int{1, mostOfIndexed, 17}[n%3]
				return a.patch(ctx, "jobs", fmt.Sprintf("job-%d", n/3%3), map[string]any{"spec": map[string]any{"completions": size, "parallelism": size}})
			})
		},
	}, {
		name:     "Jobs are suspended and resumed again and again",
		upstream: "it creates and deletes Pods with all the calls per second that it has",
		before: func(a *attacker) {
			a.createAll(5, func(s *batchv1.JobSpec) { indexed(s, 20, 20) })
			a.again(50, func(ctx context.Context, n int) error {
				return a.patch(ctx, "jobs", fmt.Sprintf("job-%d", n%5), map[string]any{"spec": map[string]any{"suspend": n/5%2 == 0}})
			})
		},
	}, {
		name:     "names, labels, annotations and reasons as long as they may be",
		upstream: "names of Pods are cut, as here",
		before: func(a *attacker) {
			long := newJob(strings.Repeat("n", 63), func(s *batchv1.JobSpec) {
				s.Completions, s.Parallelism = new(int32(3)), new(int32(3))
				s.Template.Labels = map[string]string{strings.Repeat(strings.Repeat("p", 61)+".", 4) + "com/" + strings.Repeat("k", 63): strings.Repeat("v", 63)}
				s.Template.Spec.Containers[0].Name = strings.Repeat("c", 63)
				s.Template.Spec.Subdomain = strings.Repeat("s", 63)
				exits(s, 0)
			})
			long.Labels = long.Spec.Template.Labels
			a.create(long)
			a.untilFinished(long.Name)
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

// endlessJob has Pods that do not end.
func endlessJob(parallelism int32, completions *int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Parallelism, s.Completions = &parallelism, completions }
}

// createAll makes Jobs of a kind: job-0 and so on.
func (a *attacker) createAll(count int, change func(*batchv1.JobSpec)) {
	a.Helper()
	for n := range count {
		a.create(newJob(fmt.Sprintf("job-%d", n), change))
	}
}

// largestPolicy has as many rules and values as the API server accepts.
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
