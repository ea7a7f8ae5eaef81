package history

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
)

// BenchmarkLine reports the CPU time, including kernel time, from receiving a verdict to storing its line on
// disk.
func BenchmarkLine(b *testing.B) {
	counts, err := metrics.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	w, err := New(Options{Directory: b.TempDir(), MaxBytes: 1 << 30, MaxFileAge: time.Hour, Metrics: counts})
	if err != nil {
		b.Fatal(err)
	}
	failed := fixtures.FailedPod("train-0", 137)
	failed.OwnerReferences = pod(0).OwnerReferences
	verdict := runtime.Unmatched(failed)
	before := used(b)
	for b.Loop() {
		w.Judged(failed, verdict, nil)
		if len(w.waiting) == 1000 {
			w.writeWaiting(context.Background())
		}
	}
	b.ReportMetric(float64(used(b)-before)/float64(b.N), "cpu-ns/op")
}

func used(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
