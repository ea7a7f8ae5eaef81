package fair

// Shares is a number of slots shared by namespaces. The limit of a namespace is its share if one more namespace
// were to request slots, so that slots remain for the next one.
type Shares struct {
	most, taken int
	by          map[string]int
}

// NewShares returns the given number of slots.
func NewShares(most int) *Shares { return &Shares{most: most, by: map[string]int{}} }

// Take acquires a slot, and reports whether one was available for the namespace.
func (s *Shares) Take(namespace string) bool {
	sharing := len(s.by) + 1 // the first slot of a namespace only has to be free
	if s.taken >= s.most || s.by[namespace] >= max(1, s.most/sharing) {
		return false
	}
	s.taken++
	s.by[namespace]++
	return true
}

// Give releases a slot.
func (s *Shares) Give(namespace string) {
	s.taken--
	if s.by[namespace]--; s.by[namespace] == 0 {
		delete(s.by, namespace)
	}
}
