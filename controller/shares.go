package controller

// shares is room for a number of things. A namespace has no more of it than would be its share if one more namespace wanted
// some, so there is room for the next one.
type shares struct {
	most, taken int
	by          map[string]int
}

func newShares(most int) *shares { return &shares{most: most, by: map[string]int{}} }

// take takes room for one thing, if there is any for the namespace.
func (s *shares) take(namespace string) bool {
	sharing := len(s.by) + 1
	if s.by[namespace] == 0 {
		sharing++
	}
	if s.taken >= s.most || s.by[namespace] >= max(1, s.most/sharing) {
		return false
	}
	s.taken++
	s.by[namespace]++
	return true
}

func (s *shares) give(namespace string) {
	s.taken--
	if s.by[namespace]--; s.by[namespace] == 0 {
		delete(s.by, namespace)
	}
}
