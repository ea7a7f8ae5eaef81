package judging

import (
	"hash/maphash"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// maxCached is how many podFailurePolicies a Cache has. Jobs that one owner makes have the same.
const maxCached = 1000

// Cache keeps what was made of podFailurePolicies, by what is in them: an object may change, or be another one with the same
// rules. It is safe for concurrent use. The zero value is empty.
type Cache[T any] struct {
	mutex sync.RWMutex
	known map[uint64]cached[T]
}

type cached[T any] struct {
	policy *batchv1.PodFailurePolicy
	made   T
}

// Of returns what was made of a policy, which may be nil, or makes it. What cannot be made is not kept.
func (c *Cache[T]) Of(policy *batchv1.PodFailurePolicy, compile func() (T, error)) (T, error) {
	hash := hashOf(policy)
	c.mutex.RLock()
	found, ok := c.known[hash]
	c.mutex.RUnlock()
	if ok && equal(found.policy, policy) {
		return found.made, nil
	}
	made, err := compile()
	if err != nil {
		return made, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.known == nil || len(c.known) >= maxCached {
		c.known = map[uint64]cached[T]{}
	}
	c.known[hash] = cached[T]{policy.DeepCopy(), made}
	return made, nil
}

var seed = maphash.MakeSeed()

func hashOf(policy *batchv1.PodFailurePolicy) (hash uint64) {
	if policy == nil {
		return 0
	}
	for i := range policy.Rules {
		r := &policy.Rules[i]
		hash = hash*31 + maphash.String(seed, string(r.Action))
		if on := r.OnExitCodes; on != nil {
			hash = hash*31 + maphash.String(seed, string(on.Operator))
			if on.ContainerName != nil {
				hash = hash*31 + maphash.String(seed, *on.ContainerName)
			}
			for _, code := range on.Values {
				hash = hash*31 + maphash.Comparable(seed, code)
			}
		}
		for j := range r.OnPodConditions {
			hash = hash*31 + maphash.String(seed, string(r.OnPodConditions[j].Type))
			hash = hash*31 + maphash.String(seed, string(r.OnPodConditions[j].Status))
		}
	}
	return hash
}

func equal(a, b *batchv1.PodFailurePolicy) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Rules, b.Rules, func(a, b batchv1.PodFailurePolicyRule) bool {
		return a.Action == b.Action && slices.Equal(a.OnPodConditions, b.OnPodConditions) && equalCodes(a.OnExitCodes, b.OnExitCodes)
	})
}

func equalCodes(a, b *batchv1.PodFailurePolicyOnExitCodesRequirement) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Operator == b.Operator && slices.Equal(a.Values, b.Values) && ptr.Equal(a.ContainerName, b.ContainerName)
}
