package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Options configure a Writer.
type Options struct {
	// Directory is where files are written, by this process alone or by several replicas. It is made if it is missing.
	Directory string
	// Out takes the lines in place of files, if it is not nil.
	Out io.Writer
	// Replica is a part of the names of files.
	Replica string
	// MaxBytes is how much the files of the directory may have together; the oldest are deleted for the newest. It is at least
	// twice MaxFileBytes.
	MaxBytes, MaxFileBytes int64
	// MaxFileAge is how long lines are added to a file.
	MaxFileAge time.Duration
	Metrics    *metrics.Metrics
}

const (
	// period is how long lines are collected. A crash loses them.
	period = 500 * time.Millisecond
	// maxBatch and maxBatchBytes are how many lines are made safe at a time.
	maxBatch, maxBatchBytes = 1000, 1 << 20
	// maxWaiting is how many lines may wait. Each takes about 500 bytes, besides an object that the caches mostly have, too.
	maxWaiting = 100_000
)

// Writer writes history. The methods of a nil Writer do nothing.
type Writer struct {
	options Options
	files   files
	some    chan struct{} // something waits
	many    chan struct{} // a batch waits

	mu       sync.Mutex
	waiting  []entry
	overflow int64 // lines that were dropped because too many waited

	// What follows belongs to the goroutine that writes. The hashes in known are of UIDs that have a line.
	seed  maphash.Seed
	known map[uint64]bool
	text  bytes.Buffer
	lines int64 // in text
	lossy bool  // the last batch was lost
}

// entry is a line to be: of a Job, or of a Pod with its verdict.
type entry struct {
	time    time.Time
	job     *batchv1.Job
	pod     *corev1.Pod
	verdict runtime.Verdict
	would   []binding.Would
}

// New returns a Writer that writes when Run is called. It returns an error if nothing can be written in the directory.
func New(o Options) (*Writer, error) {
	w := &Writer{
		options: o, files: files{Options: o}, some: make(chan struct{}, 1), many: make(chan struct{}, 1),
		seed: maphash.MakeSeed(), known: map[uint64]bool{},
	}
	if o.Out != nil {
		return w, nil
	}
	return w, w.files.check()
}

// Judged adds the verdict on a Pod that failed, and those that do not take effect.
func (w *Writer) Judged(pod *corev1.Pod, verdict runtime.Verdict, would []binding.Would) {
	if w != nil {
		w.add(entry{pod: pod, verdict: verdict, would: would})
	}
}

// Finished adds a Job that has finished.
func (w *Writer) Finished(job *batchv1.Job) {
	if w != nil {
		w.add(entry{job: job})
	}
}

func (w *Writer) add(e entry) {
	e.time = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) >= maxWaiting {
		w.overflow++
		return
	}
	w.waiting = append(w.waiting, e)
	signal(w.some)
	if len(w.waiting)%maxBatch == 0 {
		signal(w.many)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run writes until ctx is done, and then what waits. It is to be called once.
func (w *Writer) Run(ctx context.Context) {
	if w == nil {
		return
	}
	logger := klog.FromContext(ctx)
	if w.options.Out == nil {
		if err := w.files.each(func(uid string) { w.known[maphash.String(w.seed, uid)] = true }); err != nil {
			logger.Error(err, "Not all of the history can be read: some lines may be written again")
		}
		logger.Info("History is written", "directory", w.options.Directory, "lines", len(w.known))
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-w.some:
			w.collect(ctx)
			w.writeWaiting(logger)
		}
	}
	w.writeWaiting(logger)
	w.files.close()
}

// collect waits for a period, or until there is a batch.
func (w *Writer) collect(ctx context.Context) {
	timer := time.NewTimer(period)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.many:
	}
}

func (w *Writer) writeWaiting(logger klog.Logger) {
	w.mu.Lock()
	waiting, overflow := w.waiting, w.overflow
	w.waiting, w.overflow = nil, 0
	w.mu.Unlock()
	if overflow > 0 {
		w.lost(logger, overflow, errors.New("the disk is too slow"))
	}
	for i := range waiting {
		err := w.options.Metrics.Guard(klog.NewContext(context.Background(), logger), metrics.WritingHistory, func() error {
			return w.encode(&waiting[i])
		})
		if err != nil {
			w.options.Metrics.HistoryDropped.Inc()
		}
		waiting[i] = entry{} // the object may be freed
		if w.lines >= maxBatch || w.text.Len() >= maxBatchBytes {
			w.flush(logger)
		}
	}
	w.flush(logger)
}

// encode adds a line to the text, unless there is one already.
func (w *Writer) encode(e *entry) error {
	uid := ""
	if e.job != nil {
		uid = string(e.job.UID)
	} else {
		uid = string(e.pod.UID)
	}
	if w.known[maphash.String(w.seed, uid)] {
		return nil
	}
	before := w.text.Len()
	err := history.Write(&w.text, e.line())
	if size := int64(w.text.Len() - before); w.options.Out == nil && size > w.options.MaxFileBytes {
		err = fmt.Errorf("a line of %d bytes has no room in a file", size)
	}
	if err != nil {
		w.text.Truncate(before)
		return err
	}
	w.lines++
	return nil
}

func (e *entry) line() any {
	if e.job != nil {
		return history.Job(e.job)
	}
	owner, _ := plan.OwnerOf(e.pod)
	job := history.Reference{Namespace: owner.Namespace, Name: owner.Name, UID: owner.UID}
	return history.NewVerdict(e.time, job, e.pod, e.verdict, e.would)
}

// flush writes the text and waits until it is safe.
func (w *Writer) flush(logger klog.Logger) {
	if w.lines == 0 {
		return
	}
	var err error
	if w.options.Out != nil {
		_, err = w.options.Out.Write(w.text.Bytes())
	} else {
		err = w.files.write(w.text.Bytes())
	}
	if err != nil {
		w.lost(logger, w.lines, err)
	} else {
		w.options.Metrics.HistoryWritten.Add(float64(w.lines))
		if w.lossy {
			logger.Info("History is written again")
		}
		w.lossy = false
	}
	w.text.Reset()
	w.lines = 0
}

// lost counts lines that were dropped, and logs it once until lines are written again.
func (w *Writer) lost(logger klog.Logger, lines int64, err error) {
	w.options.Metrics.HistoryDropped.Add(float64(lines))
	if !w.lossy {
		logger.Error(err, "Lines of history are lost until this changes, podverdict_history_lines_total counts them")
	}
	w.lossy = true
}
