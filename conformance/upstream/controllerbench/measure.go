package controllerbench

import (
	"slices"
	"time"
)

// A measure is a row of the table: some phases of a shape's trials, one after the other.
type measure struct {
	name   string // completes the sentence that a number of pods begins
	phases []Milestone
	lives  int     // pods for each that may run at a time
	bar    float64 // the ratio of times that is promised, or 0 for none but being no slower
	from   int     // pods, for the bar
}

// A sample is a measure of a trial.
type sample struct {
	time  time.Duration
	calls Calls
}

// take returns the measure of a trial; it is not there if the trial ended before. What the controller does after a milestone
// takes time, too, unless it is the last one.
func (m measure) take(phases []Phase) (s sample, ok bool) {
	s.calls = Calls{}
	for _, phase := range phases {
		if !slices.Contains(m.phases, phase.Milestone) {
			continue
		}
		s.calls = s.calls.plus(phase.Calls)
		if phase.Milestone == m.phases[len(m.phases)-1] {
			s.time += phase.Reached
			return s, true
		}
		s.time += phase.Worked
	}
	return s, false
}

// atMost returns the ratio of times that is promised of a Job of the size.
func (m measure) atMost(pods int) float64 {
	if m.bar > 0 && pods >= m.from {
		return m.bar
	}
	return 1
}

// middle returns the median of what is told about the samples.
func middle(samples []sample, tell func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = tell(s)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func seconds(s sample) float64 { return s.time.Seconds() }
func calls(s sample) float64   { return float64(s.calls.Total()) }
func events(s sample) float64  { return float64(s.calls.Events()) }
