package upstream

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/testing/generators"
)

// Space is the source of the pairs of a differential run. It is divided into blocks, which are walked in parallel; the
// pairs of a block do not depend on the goroutine or the time of the walk.
type Space interface {
	// Blocks is the number of blocks.
	Blocks() int64
	// Pairs is the number of pairs in all blocks.
	Pairs() int64
	// Walk visits the pairs of a block, each policy followed by its pods. A pod may be overwritten after the visit. An
	// error from a visit ends the walk.
	Walk(block int64, v Visitor) error
}

// Visitor visits pairs.
type Visitor struct {
	// Policy visits a policy; index counts all policies of the space.
	Policy func(index int64, p *batchv1.PodFailurePolicy) error
	// Pod visits a pod of the policy visited last.
	Pod func(*corev1.Pod) error
}

// The shape of a generated block: compiling a policy takes as long as evaluating a few hundred pods.
const (
	policiesPerBlock = 16
	podsPerPolicy    = 500
	pairsPerBlock    = policiesPerBlock * podsPerPolicy
)

// Generated is the space of generated pairs. Blocks with odd numbers are hostile.
type Generated struct {
	Seed  uint64
	Count int64 // number of pairs
}

var _, _ Space = Generated{}, Exhaustive{}

// Blocks returns the number of blocks; the last one may be smaller.
func (g Generated) Blocks() int64 {
	return (g.Count + pairsPerBlock - 1) / pairsPerBlock
}

// Pairs returns the requested number of pairs.
func (g Generated) Pairs() int64 {
	return g.Count
}

// Walk draws the pairs of a block from the block's own generator.
func (g Generated) Walk(block int64, v Visitor) error {
	left := min(pairsPerBlock, g.Count-block*pairsPerBlock)
	generator := generators.NewPairs(scatter(g.Seed, block), block%2 == 1)
	for i := int64(0); left > 0; i++ {
		if err := v.Policy(block*policiesPerBlock+i, generator.Policy()); err != nil {
			return err
		}
		for range min(podsPerPolicy, left) {
			if err := v.Pod(generator.Pod()); err != nil {
				return err
			}
		}
		left -= podsPerPolicy
	}
	return nil
}

// scatter makes seeds of blocks that are unrelated to those of the next seed: the increment is 2^64 divided by the golden
// ratio.
func scatter(seed uint64, n int64) uint64 {
	return seed + uint64(n)*0x9e3779b97f4a7c15 //nolint:gosec // no block or policy is negative, and the product wraps on purpose
}

// Exhaustive is the whole small scope. A block is one policy with every pod.
type Exhaustive struct{ *generators.SmallScope }

// Blocks returns the number of policies.
func (e Exhaustive) Blocks() int64 {
	return int64(e.Policies())
}

// Pairs returns the number of policies times the number of pods.
func (e Exhaustive) Pairs() int64 {
	return int64(e.Policies()) * int64(e.Pods())
}

// Walk visits all pods for one policy.
func (e Exhaustive) Walk(block int64, v Visitor) error {
	if err := v.Policy(block, e.Policy(int(block))); err != nil {
		return err
	}
	var pod corev1.Pod
	for i := range e.Pods() {
		e.Pod(i, &pod)
		if err := v.Pod(&pod); err != nil {
			return err
		}
	}
	return nil
}
