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
	// Directory is the directory of the files, which other replicas may share. It is created if it does not exist. "-" is
	// standard output.
	Directory string
	// MaxBytes is the maximum total size of all files. A single file may have MaxBytes/files bytes. The oldest files are
	// deleted to make room.
	MaxBytes int64
	// MaxFileAge is how long lines are added to a file.
	MaxFileAge time.Duration
	Metrics    *metrics.Metrics
}

const (
	// period is how long lines are collected before they are written. A crash loses them.
	period = 500 * time.Millisecond
	// maxText is the maximum number of bytes collected, and the maximum length of a line.
	maxText = 1 << 20
	// files is the number of full files within MaxBytes.
	files = 16
	// MinBytes is the minimum of MaxBytes.
	MinBytes = files * maxText
	// maxWaiting is the maximum number of waiting lines. Each needs about 500 bytes, plus an object that is usually also in the
	// caches.
	maxWaiting = 100_000
)

// Writer writes history. The methods of a nil Writer do nothing.
type Writer struct {
	Options

	replica string
	mu      sync.Mutex
	waiting []entry

	// The following fields belong to the writing goroutine. Known holds hashes of the UIDs that have a line.
	seed   maphash.Seed
	known  map[uint64]bool
	text   bytes.Buffer
	lines  float64  // number of lines in text
	file   *os.File // nil if the next line starts a new file
	size   int64
	opened time.Time
	lossy  bool // whether the last lines were lost
}

// entry is a line that has not been encoded yet.
type entry struct {
	uid  types.UID
	line func() any
}

// New returns a Writer that writes when Run is called, or nil if Directory is empty.
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

// Judged adds the verdict on a failed Pod, and the verdicts that do not take effect.
func (w *Writer) Judged(pod *corev1.Pod, verdict runtime.Verdict, would []binding.Would) {
	now := time.Now()
	w.add(entry{pod.UID, func() any {
		owner, _ := plan.OwnerOf(pod)
		job := history.Reference{Namespace: owner.Namespace, Name: owner.Name, UID: owner.UID}
		return history.NewVerdict(now, job, pod, verdict, would)
	}})
}

// Finished adds a finished Job.
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

// Run writes until ctx is done, and then writes the waiting lines. It must be called only once.
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

// names returns the history files, oldest first. Other files in the directory are ignored.
func (w *Writer) names() []string {
	names, _ := filepath.Glob(filepath.Join(w.Directory, "[0-9]*T[0-9]*Z-*.ndjson")) // the pattern is valid
	return names
}

// readKnown reads the UIDs of Pods and Jobs that have a complete line.
func (w *Writer) readKnown() {
	for _, name := range w.names() {
		file, err := os.Open(name)
		if err != nil {
			continue // deleted by another replica, or else lines are written again
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
		waiting[i] = entry{} // allows the object to be freed
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
		_, _ = line.WriteTo(&w.text) // writing to memory does not fail
		w.lines++
	}
	w.flush(ctx)
}

// flush writes the text and waits until it is stored on disk.
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

// lost counts dropped lines, and logs this once until lines are written again.
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
	if err != nil { // truncate incomplete lines; if that fails, readers skip them
		if _ = w.file.Truncate(w.size); w.size == 0 {
			_ = os.Remove(w.file.Name())
		}
		w.closeFile()
		return err
	}
	w.size += int64(w.text.Len())
	return nil
}

// beginFile creates a file, after deleting the oldest files that leave no room for it.
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
	// File names determine the order, so no two of them may have the same time.
	next := w.opened.Add(time.Millisecond)
	if w.opened, w.size = time.Now(), 0; w.opened.Before(next) {
		w.opened = next
	}
	w.file, err = os.CreateTemp(w.Directory, w.opened.UTC().Format("20060102T150405.000Z")+"-"+w.replica+"-*.ndjson")
	return err
}

func (w *Writer) closeFile() {
	if w.file != nil {
		_ = w.file.Close() // everything written has been synced
	}
	w.file = nil
}
