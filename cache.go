package podverdict

import (
	"hash/maphash"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// maxCached is how many podFailurePolicies are kept compiled. Jobs that one owner makes have the same.
const maxCached = 1000

// cache keeps what was compiled of podFailurePolicies, by what is in them: an object may change, or be another one with the same
// rules.
type cache struct {
	mutex sync.RWMutex
	known map[uint64]cached
}

type cached struct {
	policy *batchv1.PodFailurePolicy
	rules  *rules
}

func (c *cache) find(policy *batchv1.PodFailurePolicy) *rules {
	hash := hashOf(policy)
	c.mutex.RLock()
	found := c.known[hash]
	c.mutex.RUnlock()
	if found.rules == nil || !equal(found.policy, policy) {
		return nil
	}
	return found.rules
}

func (c *cache) add(policy *batchv1.PodFailurePolicy, made *rules) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.known == nil || len(c.known) >= maxCached {
		c.known = map[uint64]cached{}
	}
	c.known[hashOf(policy)] = cached{policy.DeepCopy(), made}
}

var seed = maphash.MakeSeed()

// hashOf returns a hash of what tells most policies apart. It does not have to see all.
func hashOf(policy *batchv1.PodFailurePolicy) uint64 {
	if policy == nil {
		return 0
	}
	hash := uint64(len(policy.Rules))
	for i := range policy.Rules {
		r := &policy.Rules[i]
		hash = hash*31 + maphash.String(seed, string(r.Action))
		if on := r.OnExitCodes; on != nil {
			for _, code := range on.Values {
				hash = hash*31 + maphash.Comparable(seed, code)
			}
		}
		for j := range r.OnPodConditions {
			hash = hash*31 + maphash.String(seed, string(r.OnPodConditions[j].Type))
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
