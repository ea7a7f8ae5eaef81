package fair

// Shares is room for a number of things. A namespace has no more of it than would be its share if one more namespace wanted
// some, so there is room for the next one.
type Shares struct {
	most, taken int
	by          map[string]int
}

// NewShares returns room for at most a number of things.
func NewShares(most int) *Shares { return &Shares{most: most, by: map[string]int{}} }

// Take takes room for one thing, if there is any for the namespace.
func (s *Shares) Take(namespace string) bool {
	sharing := len(s.by) + 1 // the first thing of a namespace needs no more than room that is free
	if s.taken >= s.most || s.by[namespace] >= max(1, s.most/sharing) {
		return false
	}
	s.taken++
	s.by[namespace]++
	return true
}

// Give gives back the room for one thing.
func (s *Shares) Give(namespace string) {
	s.taken--
	if s.by[namespace]--; s.by[namespace] == 0 {
		delete(s.by, namespace)
	}
}
