package runtime

import (
	"hash/maphash"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// Limits of one generation of a PolicyCache.
const (
	maxCachedPolicies = 500
	maxCachedBytes    = 1 << 20 // total size of all policies in bytes
	maxCachedPolicy   = 1 << 16 // size of one policy in bytes; larger ones are not cached
)

// PolicyCache caches values compiled from podFailurePolicies, keyed by content. Jobs created from one template share a Program,
// and an object that is changed in place is a different policy. The cache has two generations, and drops the older one when the
// younger is full. It is safe for concurrent use. Values are shared and must be immutable. The zero value is an empty cache.
type PolicyCache[T any] struct {
	mutex sync.RWMutex
	young generation[T]
	old   generation[T]
}

type generation[T any] struct {
	entries map[uint64]*policyEntry[T]
	bytes   int
}

// policyEntry is a policy with its value, set once it is compiled.
type policyEntry[T any] struct {
	policy   *batchv1.PodFailurePolicy
	compiled sync.Once
	value    T
	err      error
}

// Get returns the value for a policy, which may be nil. If the cache lacks it, Get calls compile with a copy of the policy that
// compile may keep, and caches the value unless there is an error. Concurrent calls for one policy wait for the first one.
func (c *PolicyCache[T]) Get(policy *batchv1.PodFailurePolicy, compile func(*batchv1.PodFailurePolicy) (T, error)) (T, error) {
	hash := hashOf(policy)
	entry, young, found := c.find(hash, policy)
	if !young {
		if !found {
			entry = &policyEntry[T]{policy: policy.DeepCopy()}
		}
		entry = c.add(hash, entry)
	}
	entry.compiled.Do(func() { entry.value, entry.err = compile(entry.policy) })
	if entry.err != nil {
		c.remove(hash, entry)
	}
	return entry.value, entry.err
}

// find returns the entry of a policy, and reports whether it is in the young generation and whether it was found at all.
func (c *PolicyCache[T]) find(hash uint64, policy *batchv1.PodFailurePolicy) (entry *policyEntry[T], young, found bool) {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	if entry, young = c.young.entries[hash]; !young {
		entry, found = c.old.entries[hash]
	}
	if entry != nil && !equalPolicies(entry.policy, policy) { // hash collision
		return nil, false, false
	}
	return entry, young, young || found
}

// add adds an entry to the young generation and returns it. If another goroutine added one first, add returns that one.
func (c *PolicyCache[T]) add(hash uint64, entry *policyEntry[T]) *policyEntry[T] {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if other := c.young.entries[hash]; other != nil && equalPolicies(other.policy, entry.policy) {
		return other
	}
	size := 0
	if entry.policy != nil {
		size = entry.policy.Size()
	}
	if size > maxCachedPolicy {
		return entry
	}
	if c.young.entries == nil || len(c.young.entries) >= maxCachedPolicies || c.young.bytes+size > maxCachedBytes {
		c.young, c.old = generation[T]{entries: map[uint64]*policyEntry[T]{}}, c.young
	}
	c.young.entries[hash] = entry
	c.young.bytes += size
	return entry
}

func (c *PolicyCache[T]) remove(hash uint64, entry *policyEntry[T]) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.young.entries[hash] == entry {
		delete(c.young.entries, hash)
	}
}

var policySeed = maphash.MakeSeed()

func hashOf(policy *batchv1.PodFailurePolicy) (hash uint64) {
	if policy == nil {
		return 0
	}
	for i := range policy.Rules {
		r := &policy.Rules[i]
		hash = hash*31 + maphash.String(policySeed, string(r.Action))
		if on := r.OnExitCodes; on != nil {
			hash = hash*31 + maphash.String(policySeed, string(on.Operator))
			if on.ContainerName != nil {
				hash = hash*31 + maphash.String(policySeed, *on.ContainerName)
			}
			for _, code := range on.Values {
				hash = hash*31 + maphash.Comparable(policySeed, code)
			}
		}
		for j := range r.OnPodConditions {
			hash = hash*31 + maphash.String(policySeed, string(r.OnPodConditions[j].Type))
			hash = hash*31 + maphash.String(policySeed, string(r.OnPodConditions[j].Status))
		}
	}
	return hash
}

func equalPolicies(a, b *batchv1.PodFailurePolicy) bool {
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
