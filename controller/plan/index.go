package plan

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// indexes is a set of completion indexes, as ordered intervals with gaps in between.
type indexes []interval

type interval struct{ first, last int }

// InIndexes returns a function that reports whether an index is in a text such as status.completedIndexes.
func InIndexes(text string) func(index int) bool { return parseIndexes(text, math.MaxInt).has }

// Indexes returns the text of completion indexes, such as 0-3,5.
func Indexes(members []int) string { return setOf(members).String() }

// parseIndexes parses text such as 0,2-4. It skips indexes from limit on, and invalid parts.
func parseIndexes(text string, limit int) indexes {
	parsed := make(indexes, 0, 1+strings.Count(text, ","))
	for fragment := range strings.SplitSeq(text, ",") {
		if i, ok := parseInterval(fragment, limit); ok {
			parsed = append(parsed, i)
		}
	}
	return parsed.normal()
}

func parseInterval(text string, limit int) (interval, bool) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	first, err := strconv.Atoi(from)
	if err != nil {
		return interval{}, false
	}
	last, err := strconv.Atoi(to)
	if err != nil {
		return interval{}, false
	}
	last = min(last, limit-1)
	return interval{first, last}, 0 <= first && first <= last
}

func setOf(members []int) indexes {
	set := make(indexes, len(members))
	for i, member := range members {
		set[i] = interval{member, member}
	}
	return set.normal()
}

func (s indexes) union(others ...indexes) indexes {
	return slices.Concat(append(others, s)...).normal()
}

// normal sorts the intervals and joins those that touch. It reuses s.
func (s indexes) normal() indexes {
	slices.SortFunc(s, func(a, b interval) int { return a.first - b.first })
	joined := s[:0]
	for _, i := range s {
		if n := len(joined); n > 0 && i.first <= joined[n-1].last+1 {
			joined[n-1].last = max(joined[n-1].last, i.last)
		} else {
			joined = append(joined, i)
		}
	}
	return joined
}

func (s indexes) has(index int) bool {
	_, found := slices.BinarySearchFunc(s, index, compareInterval)
	return found
}

func compareInterval(i interval, index int) int {
	switch {
	case i.last < index:
		return -1
	case i.first > index:
		return 1
	}
	return 0
}

func (s indexes) size() int {
	size := 0
	for _, i := range s {
		size += i.last - i.first + 1
	}
	return size
}

// common returns the number of members that both sets have.
func (s indexes) common(other indexes) int {
	common := 0
	for a, b := 0, 0; a < len(s) && b < len(other); {
		common += max(0, min(s[a].last, other[b].last)-max(s[a].first, other[b].first)+1)
		if s[a].last < other[b].last {
			a++
		} else {
			b++
		}
	}
	return common
}

// with returns the set with an index added or removed. It reuses s.
func (s indexes) with(index int, member bool) indexes {
	at, found := slices.BinarySearchFunc(s, index, compareInterval)
	switch {
	case found == member:
		return s
	case member:
		return s.added(at, index)
	}
	switch before, after := (interval{s[at].first, index - 1}), (interval{index + 1, s[at].last}); {
	case before.last < before.first && after.last < after.first:
		return slices.Delete(s, at, at+1)
	case before.last < before.first:
		s[at] = after
	case after.last < after.first:
		s[at] = before
	default:
		s[at] = before
		return slices.Insert(s, at+1, after)
	}
	return s
}

// added returns the set with an index added before the interval at a position, joined with its neighbours.
func (s indexes) added(at, index int) indexes {
	joinsBefore := at > 0 && s[at-1].last == index-1
	joinsAfter := at < len(s) && s[at].first == index+1
	switch {
	case joinsBefore && joinsAfter:
		s[at-1].last = s[at].last
		return slices.Delete(s, at, at+1)
	case joinsBefore:
		s[at-1].last = index
	case joinsAfter:
		s[at].first = index
	default:
		return slices.Insert(s, at, interval{index, index})
	}
	return s
}

// minus returns the members that another set lacks.
func (s indexes) minus(other indexes) indexes {
	var rest indexes
	next := 0
	for _, i := range s {
		for next < len(other) && other[next].last < i.first {
			next++
		}
		first := i.first
		for o := next; o < len(other) && other[o].first <= i.last; o++ {
			if first < other[o].first {
				rest = append(rest, interval{first, other[o].first - 1})
			}
			first = other[o].last + 1
		}
		if first <= i.last {
			rest = append(rest, interval{first, i.last})
		}
	}
	return rest
}

// missing returns the lowest indexes below limit that are not in the set, at most count of them.
func (s indexes) missing(count, limit int) indexes {
	var found indexes
	candidate := 0
	for at := 0; at <= len(s) && count > 0; at++ {
		next := interval{limit, limit}
		if at < len(s) {
			next = s[at]
		}
		if gap := min(next.first-candidate, limit-candidate, count); gap > 0 {
			found = append(found, interval{candidate, candidate + gap - 1})
			count -= gap
		}
		candidate = max(candidate, next.last+1)
	}
	return found
}

// all yields the members in ascending order. There may be billions, so no list is built.
func (s indexes) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, i := range s {
			for member := i.first; member <= i.last; member++ {
				if !yield(member) {
					return
				}
			}
		}
	}
}

// String returns the set in the form of status.completedIndexes: two neighbours are written 0,1, three or more 0-2.
func (s indexes) String() string {
	const usual = 12 // bytes per interval
	text := make([]byte, 0, usual*len(s))
	for _, i := range s {
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(i.first), 10)
		if i.last == i.first {
			continue
		}
		separator := byte('-')
		if i.last == i.first+1 {
			separator = ','
		}
		text = strconv.AppendInt(append(text, separator), int64(i.last), 10)
	}
	return string(text)
}
