package simulation

import (
	"math/rand/v2"
	"strings"
	"time"
)

// span is a range of durations, in seconds.
type span struct{ least, most int64 }

// forever is longer than every simulation.
const forever = 1 << 62

// parseSpan parses 90s, 10s-2m or forever. For empty text it returns the default.
func parseSpan(text string, absent int64) (span, error) {
	switch text {
	case "":
		return span{absent, absent}, nil
	case "forever":
		return span{forever, forever}, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	least, err := parseSeconds(from)
	if err != nil {
		return span{}, err
	}
	most, err := parseSeconds(to)
	if err == nil && most < least {
		err = errDecreasing
	}
	return span{least, most}, err
}

func parseSeconds(text string) (int64, error) {
	duration, err := time.ParseDuration(text)
	if err != nil || duration < 0 {
		return 0, errDuration
	}
	if duration%time.Second != 0 {
		return 0, errWholeSeconds
	}
	return int64(duration / time.Second), nil
}

func (s span) draw(random *rand.Rand) int64 {
	if s.least == s.most {
		return s.least
	}
	return s.least + random.Int64N(s.most-s.least+1)
}
