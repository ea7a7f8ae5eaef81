package protocol

import "sync"

// Limits of a generation.
const (
	maxCached     = 4096    // entries
	maxCachedKeys = 1 << 20 // bytes of all keys
	maxCachedKey  = 1 << 16 // bytes of one key; larger ones are not cached
)

// cache keeps the most recently used values in bounded memory. It has two generations, and drops the older one when the
// younger is full. It is safe for concurrent use; values are shared and must be immutable.
type cache[V any] struct {
	mu    sync.Mutex
	young map[string]V
	old   map[string]V
	bytes int // total length of the keys in young
}

// get returns the value for the key. If the cache lacks it, get calls produce, and caches the value unless there is an error.
func (c *cache[V]) get(key []byte, produce func() (V, error)) (V, error) {
	if v, ok := c.find(key); ok {
		return v, nil
	}
	v, err := produce()
	if err == nil && len(key) <= maxCachedKey {
		c.put(string(key), v)
	}
	return v, err
}

func (c *cache[V]) find(key []byte) (V, bool) {
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

func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, v)
}

// keep adds a value to the younger generation. The caller must hold the lock.
func (c *cache[V]) keep(key string, v V) {
	if _, there := c.young[key]; there {
		return
	}
	if c.young == nil || len(c.young) >= maxCached || c.bytes+len(key) > maxCachedKeys {
		c.young, c.old, c.bytes = map[string]V{}, c.young, 0
	}
	c.young[key] = v
	c.bytes += len(key)
}
