package simulation

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// selection is a set of numbers from 0, as intervals.
type selection []interval

type interval struct{ first, last int }

// unbounded is the last number of an open interval.
const unbounded = 1<<31 - 1

// parseSelection parses text such as 3, 0-9,12 or 1+. Nil selects all.
func parseSelection(given *intstr.IntOrString) (selection, error) {
	if given == nil {
		return selection{{0, unbounded}}, nil
	}
	var parsed selection
	for part := range strings.SplitSeq(given.String(), ",") {
		i, ok := parseInterval(strings.TrimSpace(part))
		if !ok {
			return nil, errSelection
		}
		parsed = append(parsed, i)
	}
	return parsed, nil
}

func parseInterval(text string) (interval, bool) {
	if from, open := strings.CutSuffix(text, "+"); open {
		first, err := strconv.Atoi(from)
		return interval{first, unbounded}, err == nil && first >= 0
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	first, firstErr := strconv.Atoi(from)
	last, lastErr := strconv.Atoi(to)
	return interval{first, last}, firstErr == nil && lastErr == nil && 0 <= first && first <= last
}

func (s selection) has(number int) bool {
	return slices.ContainsFunc(s, func(i interval) bool { return i.first <= number && number <= i.last })
}

// unlike returns two lists of indexes without their common beginning and end.
func unlike(a, b string) (string, string) {
	first, last := 0, 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == ',' {
			first = i + 1
		}
	}
	a, b = a[first:], b[first:]
	for i := 1; i <= min(len(a), len(b)) && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == ',' {
			last = i
		}
	}
	return a[:len(a)-last], b[:len(b)-last]
}

// indexesOf returns the numbers in text such as status.failedIndexes.
func indexesOf(text string) []int {
	if text == "" {
		return nil
	}
	read, err := parseSelection(&intstr.IntOrString{Type: intstr.String, StrVal: text})
	if err != nil {
		return nil
	}
	var all []int
	for _, i := range read {
		for index := i.first; index <= i.last; index++ {
			all = append(all, index)
		}
	}
	return all
}
