package controller_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
)

// calmScenarios is the number of Jobs whose outcome depends only on the fates of their pods.
const calmScenarios = 120

// calmScenario returns a scenario with a deterministic outcome. A Job that ends early has one pod at a time, because otherwise the outcome
// would depend on which pod ends first.
func calmScenario(n int) scenario {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	single := random.IntN(2) == 0
	width := int32(1 + random.IntN(3))
	codes := []int32{1, 1, 2}
	options := []func(*batchv1.JobSpec){backoffLimit(100)}
	if single {
		width = 1
		options = []func(*batchv1.JobSpec){backoffLimit(int32(random.IntN(6)))}
	}
	size := int32(1 + random.IntN(6))
	limited := false
	switch mode := random.IntN(4); {
	case mode == 0:
		options = append(options, completions(size))
	case mode == 1:
		options = append(options, indexed(size))
	case mode == 2:
		limited = true
		options = append(options, indexed(size), perIndex(int32(random.IntN(3))))
	case single: // a work queue
	default:
		options = append(options, indexed(size))
	}
	if limited && single && random.IntN(2) == 0 {
		options = append(options, maxFailedIndexes(int32(random.IntN(2))))
	}
	if random.IntN(2) == 0 {
		options = append(options, policy)
		codes = append(codes, codeIgnore, codeCount)
		if limited {
			codes = append(codes, codeFailIndex)
		}
		if single {
			codes = append(codes, codeFailJob)
		}
	} else if random.IntN(2) == 0 {
		options = append(options, replaceFailed)
	}
	s := scenario{name: fmt.Sprintf("calm %d", n), job: managed(width, options...), fate: randomFate(random, codes, 2), calm: true}
	s.settings = randomSettings(random)
	if n%8 == 0 {
		s.police(limited)
	} else if n%4 == 2 {
		s.mends()
	}
	return s
}

// police adds a custom policy with a budget to a Job, and failures that it matches. The outcome must not depend on which pod fails first,
// so a budget that may fail an index is counted per index.
func (s *scenario) police(limited bool) {
	if s.policies = sparing(2, v1alpha1.PerJob, count); limited {
		s.policies = sparing(1, v1alpha1.PerIndex, batchv1.PodFailurePolicyActionFailIndex)
	}
	fate := s.fate
	s.fate = func(slot, attempt int) int32 {
		if code := fate(slot, attempt); code == 0 || (slot+attempt)%2 == 0 {
			return code
		}
		return codeIgnore
	}
}

// randomSettings returns settings with which pods may be released early or replaced soon.
func randomSettings(random *rand.Rand) plan.Settings {
	var s plan.Settings
	if random.IntN(3) == 0 {
		s.MaxHeld, s.MaxReleasing = 2, 2
	}
	if random.IntN(2) == 0 {
		s.Backoff = time.Second
	}
	return s
}

// randomFate makes some of the first attempts at each slot fail.
func randomFate(random *rand.Rand, codes []int32, attempts int) fate {
	fates := map[int][]int32{}
	for slot := range 7 {
		for range random.IntN(attempts + 1) {
			fates[slot] = append(fates[slot], codes[random.IntN(len(codes))])
		}
	}
	return exits(fates)
}

// wildScenario returns a random Job without a deterministic outcome.
func wildScenario(random *rand.Rand) scenario {
	chance := func(n int) bool { return random.IntN(n) == 0 }
	size := int32(1 + random.IntN(7))
	var options []func(*batchv1.JobSpec)
	isIndexed := false
	switch random.IntN(4) {
	case 0:
		options = append(options, completions(size))
	case 1:
		isIndexed = true
		options = append(options, indexed(size))
	case 2:
		isIndexed = true
		options = append(options, indexed(size), perIndex(int32(random.IntN(3))))
		if chance(2) {
			options = append(options, maxFailedIndexes(1))
		}
	}
	if chance(2) {
		options = append(options, backoffLimit(int32(random.IntN(6))))
	}
	if isIndexed && chance(3) {
		options = append(options, succeededCount(1+random.Int32N(size)))
	}
	switch random.IntN(3) {
	case 0:
		options = append(options, policy)
	case 1:
		options = append(options, replaceFailed)
	}
	if chance(4) {
		options = append(options, deadline(int64(10+random.IntN(3000))))
	}
	codes := []int32{1, 1, codeIgnore, codeFailIndex, codeCount, codeOOM, evicted, runs}
	if chance(2) {
		codes = append(codes, codeFailJob)
	}
	s := scenario{name: "wild", job: managed(1+random.Int32N(4), options...), fate: randomFate(random, codes, 3)}
	s.settings = randomSettings(random)
	if chance(3) {
		s.mends()
	}
	return s
}
