// Package cache keeps the results of costly work, in constant memory whatever the keys.
package cache

import "sync"

// Bounds of a generation of a cache.
const (
	maxCached     = 4096    // entries
	maxCachedKeys = 1 << 20 // bytes of all keys
	maxCachedKey  = 1 << 16 // bytes of one key; larger ones are not kept
)

// Cache keeps the last used values of keys that are bytes, in constant memory: two
// generations, of which the older is dropped when the younger is full. It is safe
// for concurrent use; values are shared and must be immutable.
type Cache[V any] struct {
	mu    sync.Mutex
	young map[string]V
	old   map[string]V
	bytes int // of the keys of young
}

// Get returns the value of the key, which it produces when it has none. A value with an
// error is not kept.
func (c *Cache[V]) Get(key []byte, produce func() (V, error)) (V, error) {
	if v, ok := c.find(key); ok {
		return v, nil
	}
	v, err := produce()
	if err == nil && len(key) <= maxCachedKey {
		c.put(string(key), v)
	}
	return v, err
}

func (c *Cache[V]) find(key []byte) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[string(key)]; ok {
		return v, true
	}
	v, ok := c.old[string(key)]
	if ok {
		c.keep(string(key), v)
	}
	return v, ok
}

func (c *Cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, v)
}

// keep puts a value into the young generation. The caller holds the lock.
func (c *Cache[V]) keep(key string, v V) {
	if _, there := c.young[key]; there {
		return
	}
	if c.young == nil || len(c.young) >= maxCached || c.bytes+len(key) > maxCachedKeys {
		c.young, c.old, c.bytes = map[string]V{}, c.young, 0
	}
	c.young[key] = v
	c.bytes += len(key)
}
