package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/input/fielddecoder"
)

const (
	// batchBytes and batchDocuments are the sizes at which a batch is sent to be decoded.
	batchBytes     = 256 << 10
	batchDocuments = 256
	// maxFileErrors is the number of errors after which the rest of a file is skipped.
	maxFileErrors = 1000
)

// reading is one pass over the sources in Options: one goroutine splits, others decode, and results are returned in input order.
type reading struct {
	options Options
	// plan decides how Pods are decoded; nil while Pods are only queued.
	plan atomic.Pointer[fielddecoder.Plan]
}

// wholePods is the plan that decodes all fields of a Pod.
var wholePods = sync.OnceValue(func() *fielddecoder.Plan { return fielddecoder.NewPlan[corev1.Pod](nil) })

type file struct {
	// errors counts errors, and kept the bytes of kept documents.
	errors, kept int
	// unread reports whether the rest of the file is skipped.
	unread bool
}

// part is one result: a document, or an error for an unreadable source.
type part struct {
	from     *file
	document *Document
	content  content
	err      error
	// ended is the -f argument that was read completely, set only in its last part; failed reports whether any of its sources
	// could not be read.
	ended  string
	failed bool
}

// batch is a group of parts, decoded concurrently with other batches.
type batch struct {
	parts []part
	bytes int
	done  chan struct{}
}

// parts returns the results in input order.
func (r *reading) parts(ctx context.Context) iter.Seq[part] {
	return func(yield func(part) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		inOrder := make(chan *batch, 2*runtime.GOMAXPROCS(0)) // bounds the number of batches decoded at once
		go r.batches(ctx, inOrder)
		for b := range inOrder {
			<-b.done
			for i := range b.parts {
				if !yield(b.parts[i]) {
					return
				}
			}
		}
	}
}

// batches sends the input in batches and starts a decoder for each.
func (r *reading) batches(ctx context.Context, inOrder chan<- *batch) {
	defer close(inOrder)
	b := &batch{done: make(chan struct{})}
	send := func() (goOn bool) {
		full := b
		b = &batch{done: make(chan struct{})}
		select {
		case <-ctx.Done():
			return false
		case inOrder <- full:
			go r.decode(full)
			return true
		}
	}
	r.produce(ctx, func(p part) (goOn bool) {
		b.parts = append(b.parts, p)
		if p.document != nil {
			b.bytes += len(p.document.Text)
		}
		if b.bytes < batchBytes && len(b.parts) < batchDocuments {
			return ctx.Err() == nil
		}
		return send()
	})
	send()
}

func (r *reading) decode(b *batch) {
	defer close(b.done)
	var decoder *fielddecoder.Decoder
	if plan := r.plan.Load(); plan != nil {
		decoder = plan.NewDecoder()
	}
	for i := range b.parts {
		p := &b.parts[i]
		if p.document == nil {
			continue
		}
		p.content = read(p.document, r.options)
		if decoder != nil {
			p.content.decodeWaiting(decoder)
		}
	}
}

// produce walks the input and calls add for each document and error.
func (r *reading) produce(ctx context.Context, add func(part) (goOn bool)) {
	stdin := false
	for _, filename := range r.options.Filenames {
		if ctx.Err() != nil {
			return
		}
		if filename == "-" && stdin {
			add(part{err: errStdinTwice})
			continue
		}
		stdin = stdin || filename == "-"
		found, err := r.options.sources(ctx, filename)
		failed := err != nil
		if failed {
			add(part{err: err})
		}
		for _, s := range found {
			from := &file{}
			err := s.split(longList, func(d *Document) bool { return add(part{from: from, document: d}) })
			if err != nil {
				failed = true
				add(part{err: err})
			}
		}
		add(part{ended: r.options.nameOf(filename), failed: failed})
	}
}

// ErrEmpty reports a source without objects.
var ErrEmpty = errors.New("empty: no Job, no Pod and no policy in it")

// collector adds the parts of a reading to a Set.
type collector struct {
	// Set is the result so far.
	Set *Set

	errs []error
	// empty reports whether the current -f argument has produced nothing yet.
	empty bool
}

// add adds a part, unless its file has reached the limit of errors or bytes.
func (c *collector) add(p part) {
	switch {
	case p.ended != "":
		if c.empty && !p.failed {
			c.errs = append(c.errs, fmt.Errorf("%s: %w", p.ended, ErrEmpty))
		}
		c.empty = true
	case p.err != nil:
		c.errs = append(c.errs, p.err)
	case p.from.unread:
	case p.from.errors >= maxFileErrors:
		p.from.unread = true
		c.errs = append(c.errs, Origin{Document: p.document}.Error("", messageRestUnread))
	default:
		c.document(p.from, p.document, &p.content)
	}
}

func (c *collector) document(from *file, d *Document, found *content) {
	c.empty = c.empty && found.empty()
	from.errors += len(found.errs)
	c.errs = append(c.errs, found.errs...)
	c.Set.add(&found.Set)
	if !found.keeps() {
		return
	}
	if from.kept += len(d.Text); from.kept > maxBytes {
		from.unread = true
		c.errs = append(c.errs, fmt.Errorf("%s: larger than the limit of %d MiB", d.File, maxBytes>>20))
	}
}

// Read reads all sources in Options. The error joins one error per problem: *Error for a problem within a document, other types
// for unreadable sources. The Set holds everything that could be read.
func Read(ctx context.Context, o Options) (*Set, error) {
	if len(o.Filenames) == 0 {
		return &Set{}, errNoFilenames
	}
	r := reading{options: o}
	r.plan.Store(wholePods())
	c := collector{Set: &Set{}, empty: true}
	for p := range r.parts(ctx) {
		c.add(p)
	}
	c.Set.addTrainJobs()
	return c.Set, errors.Join(append(c.errs, ctx.Err())...)
}

// nameOf returns the name of a -f argument in messages.
func (o Options) nameOf(filename string) string {
	if filename == "-" {
		return cmp.Or(o.StdinName, "stdin")
	}
	return filename
}
