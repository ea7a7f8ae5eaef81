package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Options configure a Writer.
type Options struct {
	// Directory is where files are written, also by other replicas. It is made if it is missing; - is standard output.
	Directory string
	// MaxBytes is how much all files together may have, and MaxBytes/files how much one. The oldest are deleted for the newest.
	MaxBytes int64
	// MaxFileAge is how long lines are added to a file.
	MaxFileAge time.Duration
	Metrics    *metrics.Metrics
}

const (
	// period is how long lines are collected. A crash loses them.
	period = 500 * time.Millisecond
	// maxText is how many bytes are collected, or a line may have.
	maxText = 1 << 20
	// files is how many files there are when no more fit.
	files = 16
	// MinBytes is the least MaxBytes.
	MinBytes = files * maxText
	// maxWaiting is how many lines may wait. Each takes about 500 bytes, besides an object that the caches mostly have, too.
	maxWaiting = 100_000
)

// Writer writes history. The methods of a nil Writer do nothing.
type Writer struct {
	Options

	replica string
	mu      sync.Mutex
	waiting []entry

	// What follows belongs to the goroutine that writes. Known are hashes of the UIDs that have a line.
	seed   maphash.Seed
	known  map[uint64]bool
	text   bytes.Buffer
	lines  float64  // in text
	file   *os.File // nil if the next line begins a file
	size   int64
	opened time.Time
	lossy  bool // the last lines were lost
}

// entry is a line to be.
type entry struct {
	uid  types.UID
	line func() any
}

// New returns a Writer that writes when Run is called, or nil if there is no directory.
func New(o Options) (*Writer, error) {
	if o.Directory == "" {
		return nil, nil //nolint:nilnil // it is one that does nothing
	}
	host, err := os.Hostname()
	w := &Writer{Options: o, replica: host, seed: maphash.MakeSeed(), known: map[uint64]bool{}}
	if o.Directory == "-" {
		w.file = os.Stdout
	} else if err == nil {
		err = os.MkdirAll(o.Directory, 0o750)
	}
	return w, err
}

// Judged adds the verdict on a Pod that failed, and those that do not take effect.
func (w *Writer) Judged(pod *corev1.Pod, verdict runtime.Verdict, would []binding.Would) {
	now := time.Now()
	w.add(entry{pod.UID, func() any {
		owner, _ := plan.OwnerOf(pod)
		job := history.Reference{Namespace: owner.Namespace, Name: owner.Name, UID: owner.UID}
		return history.NewVerdict(now, job, pod, verdict, would)
	}})
}

// Finished adds a Job that has finished.
func (w *Writer) Finished(job *batchv1.Job) {
	w.add(entry{job.UID, func() any { return history.Job(job) }})
}

func (w *Writer) add(e entry) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == maxWaiting {
		w.Metrics.HistoryDropped.Inc()
		return
	}
	w.waiting = append(w.waiting, e)
}

// Run writes until ctx is done, and then what waits. It is to be called once.
func (w *Writer) Run(ctx context.Context) {
	if w == nil {
		return
	}
	w.readKnown()
	klog.FromContext(ctx).Info("Writing history", "directory", w.Directory, "lines", len(w.known))
	for ticker := time.NewTicker(period); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
		_ = w.Metrics.Guard(ctx, metrics.WritingHistory, func() error { // Guard has logged it
			w.writeWaiting(ctx)
			return nil
		})
	}
	w.closeFile()
}

// names returns the history files, the oldest first. Other files in the directory are left alone.
func (w *Writer) names() []string {
	names, _ := filepath.Glob(filepath.Join(w.Directory, "[0-9]*T[0-9]*Z-*.ndjson")) // the pattern is right
	return names
}

// readKnown reads which Pods and Jobs have a whole line.
func (w *Writer) readKnown() {
	for _, name := range w.names() {
		file, err := os.Open(name)
		if err != nil {
			continue // another replica has deleted it, or lines are written again
		}
		in := bufio.NewReaderSize(file, maxText)
		for line, err := in.ReadSlice('\n'); err == nil; line, err = in.ReadSlice('\n') {
			w.known[maphash.String(w.seed, history.UID(line))] = true
		}
		_ = file.Close() // nothing was written
	}
}

func (w *Writer) writeWaiting(ctx context.Context) {
	w.mu.Lock()
	waiting := w.waiting
	w.waiting = nil
	w.mu.Unlock()
	var line bytes.Buffer
	for i, e := range waiting {
		waiting[i] = entry{} // the object may be freed
		if w.known[maphash.String(w.seed, string(e.uid))] {
			continue
		}
		line.Reset()
		if err := history.Write(&line, e.line()); err != nil || line.Len() > maxText {
			w.lost(ctx, 1, errors.Join(err, fmt.Errorf("the line of %s has %d bytes", e.uid, line.Len())))
			continue
		}
		if w.text.Len()+line.Len() > maxText {
			w.flush(ctx)
		}
		_, _ = line.WriteTo(&w.text) // memory
		w.lines++
	}
	w.flush(ctx)
}

// flush writes the text and waits until it is safe.
func (w *Writer) flush(ctx context.Context) {
	if w.lines == 0 {
		return
	}
	if err := w.write(); err != nil {
		w.lost(ctx, w.lines, err)
	} else {
		w.Metrics.HistoryWritten.Add(w.lines)
		w.lossy = false
	}
	w.text.Reset()
	w.lines = 0
}

// lost counts lines that were dropped, and logs it once until lines are written again.
func (w *Writer) lost(ctx context.Context, lines float64, err error) {
	w.Metrics.HistoryDropped.Add(lines)
	if !w.lossy {
		klog.FromContext(ctx).Error(err, "Lines of history are lost until there is room for them")
	}
	w.lossy = true
}

func (w *Writer) write() error {
	if w.Directory == "-" {
		_, err := w.file.Write(w.text.Bytes())
		return err
	}
	if w.file != nil && (w.size+int64(w.text.Len()) > w.MaxBytes/files || time.Since(w.opened) >= w.MaxFileAge) {
		w.closeFile()
	}
	if w.file == nil {
		if err := w.beginFile(); err != nil {
			return err
		}
	}
	_, err := w.file.Write(w.text.Bytes())
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil { // what is not whole is cut off; if that fails, readers skip it
		if _ = w.file.Truncate(w.size); w.size == 0 {
			_ = os.Remove(w.file.Name())
		}
		w.closeFile()
		return err
	}
	w.size += int64(w.text.Len())
	return nil
}

// beginFile makes a file, after it has deleted the oldest ones that leave no room for it.
func (w *Writer) beginFile() (err error) {
	names, total := w.names(), w.MaxBytes/files
	for _, name := range slices.Backward(names) {
		if info, err := os.Stat(name); err == nil {
			total += info.Size()
		}
		if total > w.MaxBytes {
			if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	// The names of files tell their order, so no two of them are of one moment.
	next := w.opened.Add(time.Millisecond)
	if w.opened, w.size = time.Now(), 0; w.opened.Before(next) {
		w.opened = next
	}
	w.file, err = os.CreateTemp(w.Directory, w.opened.UTC().Format("20060102T150405.000Z")+"-"+w.replica+"-*.ndjson")
	return err
}

func (w *Writer) closeFile() {
	if w.file != nil {
		_ = w.file.Close() // what was written is safe
	}
	w.file = nil
}
