package metrics

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
)

// Activity is the activity of the controller during a panic.
type Activity string

// Activities of the loops' workers, of the recorder, and of the handlers of cache changes.
const (
	WorkingOnJob        Activity = "job"
	ReleasingOrphan     Activity = "orphan"
	FreeingPod          Activity = "freed_pod"
	JudgingPod          Activity = "verdict"
	WritingVerdictEvent Activity = "verdict_event"
	WritingEvent        Activity = "event"
	EndingLivingPod     Activity = "living_pod"
	HandlingPolicy      Activity = "policy"
	ReadingCache        Activity = "cache"
	WritingHistory      Activity = "history"
)

// panicError wraps the value of a panic.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Panicked reports whether an error is a recovered panic.
func Panicked(err error) bool {
	caught := (*panicError)(nil)
	return errors.As(err, &caught)
}

func (m *Metrics) describePanics() collectors {
	m.panics = counters(ours, "panics_total", "Panics that were caught, by what was done. Each is a defect; what was worked on is tried again.", "activity")
	return collectors{m.panics}
}

// Guard calls do and converts a panic in it to an error, so that a bug in handling one object does not stop the others.
func (m *Metrics) Guard(ctx context.Context, doing Activity, do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			m.panics.With(prometheus.Labels{"activity": string(doing)}).Inc()
			err = &panicError{value}
			klog.FromContext(ctx).Error(err, "A panic was caught, please report it", "activity", doing, "stack", string(debug.Stack()))
		}
	}()
	return do()
}
