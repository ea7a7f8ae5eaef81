package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
)

// activity is what the controller was doing when it panicked.
type activity string

const (
	workingOnJob     activity = "job"
	releasingOrphan  activity = "orphan"
	freeingPod       activity = "freed_pod"
	judgingPod       activity = "verdict"
	tellingVerdict   activity = "verdict_event"
	tellingEvent     activity = "event"
	endingPendingPod activity = "pending_pod"
	handlingPolicy   activity = "policy"
	readingCache     activity = "cache"
)

// panicError is a panic as an error.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// panicked tells whether an error is a panic.
func panicked(err error) bool {
	caught := (*panicError)(nil)
	return errors.As(err, &caught)
}

// panicNote is what the events of a Job say of it.
func panicNote(err error) string {
	return "Will try again after a defect of the controller: " + err.Error()
}

func (m *Metrics) describePanics() collectors {
	m.panics = counters(ours, "panics_total", "Panics that were caught, by what was done. Each is a defect; what was worked on is tried again.", "activity")
	return collectors{m.panics}
}

// guard calls a function, and returns a panic in it as an error: a defect that one object meets does not keep the others
// waiting.
func (m *Metrics) guard(ctx context.Context, doing activity, do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			m.panics.With(prometheus.Labels{"activity": string(doing)}).Inc()
			err = &panicError{value}
			klog.FromContext(ctx).Error(err, "A panic was caught, please report it", "activity", doing, "stack", string(debug.Stack()))
		}
	}()
	return do()
}
