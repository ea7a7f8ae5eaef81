package protocol

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCacheIsBounded(t *testing.T) {
	var c cache[int]
	for i := range 4000 {
		key := fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", i%2000))
		for range 2 {
			if v, err := c.get(key, func() (int, error) { return i, nil }); v != i || err != nil {
				t.Fatal(v, err)
			}
		}
		if len(c.young) > maxCached || len(c.old) > maxCached {
			t.Fatalf("%d and %d entries", len(c.young), len(c.old))
		}
	}
	for _, generation := range []map[string]int{c.young, c.old} {
		bytes := 0
		for key := range generation {
			bytes += len(key)
		}
		if bytes > maxCachedKeys || bytes == 0 {
			t.Errorf("a generation of %d bytes", bytes)
		}
	}
	large := make([]byte, maxCachedKey+1)
	if _, err := c.get(large, func() (int, error) { return 0, nil }); err != nil {
		t.Fatal(err)
	}
	if _, there := c.young[string(large)]; there {
		t.Error("a key over the limit is kept")
	}
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	var c cache[int]
	made := 0
	for i := range 4 * maxCached {
		if _, err := c.get([]byte("used"), func() (int, error) { made++; return 0, nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := c.get(fmt.Append(nil, i), func() (int, error) { return i, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	failure := errors.New("failed")
	if _, err := c.get([]byte("failing"), func() (int, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	if v, err := c.get([]byte("failing"), func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Error("a failure is kept")
	}
}
