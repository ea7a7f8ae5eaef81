package closure

import (
	"slices"

	"github.com/google/cel-go/common/types"
)

// intSet is a set of numbers: those listed or, if not is true, all others. Numbers from 0 to 255, which include all exit
// codes of Linux, are bits.
type intSet struct {
	bytes  [4]uint64
	others []int64 // sorted, each once
	not    bool
}

// allInts is the set of all numbers.
var allInts = intSet{not: true}

func newIntSet(list []types.Int) intSet {
	var s intSet
	for _, v := range list {
		if v >= 0 && v <= 255 {
			s.bytes[v>>6] |= 1 << (v & 63)
		} else {
			s.others = append(s.others, int64(v))
		}
	}
	slices.Sort(s.others)
	s.others = slices.Clip(slices.Compact(s.others))
	return s
}

func (s *intSet) has(v int64) bool { return s.lists(v) != s.not }

// hasByte is has for the numbers from 0 to 255.
func (s *intSet) hasByte(v uint8) bool { return s.bytes[v>>6]&(1<<(v&63)) != 0 != s.not }

func (s *intSet) lists(v int64) bool {
	if v >= 0 && v <= 255 {
		return s.bytes[v>>6]&(1<<(v&63)) != 0
	}
	if len(s.others) == 0 {
		return false
	}
	_, found := slices.BinarySearch(s.others, v)
	return found
}

// complement returns the set of the numbers that are not in s.
func complement(s intSet) intSet {
	s.not = !s.not
	return s
}

// intersection returns the set of the numbers that are in both sets.
func intersection(s, o intSet) intSet {
	switch {
	case s.not && o.not: // all numbers but those listed in either set
		for i := range s.bytes {
			s.bytes[i] |= o.bytes[i]
		}
		s.others = slices.Concat(s.others, o.others)
		slices.Sort(s.others)
		s.others = slices.Clip(slices.Compact(s.others))
	case s.not:
		return intersection(o, s)
	default:
		for i := range s.bytes {
			if o.not {
				s.bytes[i] &^= o.bytes[i]
			} else {
				s.bytes[i] &= o.bytes[i]
			}
		}
		s.others = slices.DeleteFunc(slices.Clone(s.others), func(v int64) bool { return !o.has(v) })
	}
	return s
}

func (s *intSet) equal(o *intSet) bool {
	return s.bytes == o.bytes && s.not == o.not && slices.Equal(s.others, o.others)
}
