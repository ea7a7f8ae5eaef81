package memoryapi

import (
	"bytes"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"
)

// stream is an open watch, and the body of its response.
type stream struct {
	table     *table
	wanted    func(Object) bool
	bookmarks bool
	media     runtime.SerializerInfo
	sent      int64           // version up to which everything was sent
	done      <-chan struct{} // closed when the client has gone

	mu      sync.Mutex
	text    bytes.Buffer
	ended   bool
	changed chan struct{} // has a value after text or ended has changed
}

// begin sends the current objects and, if the client requests it, a bookmark after them.
func (w *stream) begin(marked bool) {
	for _, o := range w.table.stateAt(w.sent) {
		if w.wanted(o) {
			w.send(watch.Added, o)
		}
	}
	if marked {
		end := w.table.bookmark(w.sent)
		end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		w.send(watch.Bookmark, end)
	}
}

// feed sends the new changes in the cache.
func (w *stream) feed() {
	history := w.table.history
	first := len(history)
	for first > 0 && history[first-1].Version > w.sent {
		first--
	}
	for _, c := range history[first:] {
		if c.Version > w.table.shown {
			return
		}
		w.sent = c.Version
		kind, o := c.kind(w.wanted)
		if kind == watch.Deleted { // a deletion has its own version
			o = w.table.typed(o)
			o.SetResourceVersion(w.table.bookmark(c.Version).GetResourceVersion())
		}
		if kind != "" {
			w.send(kind, o)
		}
	}
}

func (w *stream) send(kind watch.EventType, o Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	frames := w.media.StreamSerializer.Framer.NewFrameWriter(&w.text)
	encoder := restwatch.NewEncoder(streaming.NewEncoder(frames, w.media.StreamSerializer.Serializer), w.media.Serializer)
	if err := encoder.Encode(&watch.Event{Type: kind, Object: w.table.typed(o)}); err != nil {
		w.ended = true
	}
	w.wake()
}

func (w *stream) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.wake()
}

func (w *stream) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *stream) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// Read waits for the next event.
func (w *stream) Read(p []byte) (int, error) {
	for {
		n, err := w.read(p)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-w.changed:
		case <-w.done:
			return 0, io.ErrUnexpectedEOF
		}
	}
}

func (w *stream) read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() > 0 {
		return w.text.Read(p)
	}
	if w.ended {
		return 0, io.EOF
	}
	return 0, nil
}

// Close ends the stream when the client closes it.
func (w *stream) Close() error {
	w.end()
	return nil
}
