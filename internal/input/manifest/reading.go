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
	// batchBytes and batchDocuments are from when on documents are decoded together.
	batchBytes     = 256 << 10
	batchDocuments = 256
	// maxFileErrors is from how many errors on a file is read no further.
	maxFileErrors = 1000
)

// reading is one pass over what Options name: one goroutine splits, others decode, and the results come in the order of the input.
type reading struct {
	options Options
	// plan is how Pods are decoded; nil as long as these wait.
	plan atomic.Pointer[fielddecoder.Plan]
}

// wholePods is the plan for Pods with all their fields.
var wholePods = sync.OnceValue(func() *fielddecoder.Plan { return fielddecoder.NewPlan[corev1.Pod](nil) })

type file struct {
	// errors and kept count what was wrong and what is kept, in bytes.
	errors, kept int
	// unread says that the rest of it is of no interest.
	unread bool
}

// part is a result: of a document, or of something that cannot be read.
type part struct {
	from     *file
	document *Document
	content  content
	err      error
	// ended is the argument of -f that was read to its end, in the part that says so; failed is whether something in it could not
	// be read.
	ended  string
	failed bool
}

// batch is some parts, whose documents are decoded beside those of other batches.
type batch struct {
	parts []part
	bytes int
	done  chan struct{}
}

// parts returns the results in the order of the input.
func (r *reading) parts(ctx context.Context) iter.Seq[part] {
	return func(yield func(part) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		inOrder := make(chan *batch, 2*runtime.GOMAXPROCS(0)) // as many are decoded at once
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

// batches sends the input in batches, and has each decoded meanwhile.
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

// produce goes through the input, and adds what is to be decoded.
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

// ErrEmpty says that a source has nothing to read.
var ErrEmpty = errors.New("empty: no Job, no Pod and no policy in it")

// collector adds the parts of a reading to a Set.
type collector struct {
	// Set is what was read so far.
	Set *Set

	errs []error
	// empty says that nothing was found yet for the argument of -f that is being read.
	empty bool
}

// add adds a part, unless enough of its file is wrong or was kept.
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

// Read reads everything that Options name. The error joins one error for each thing wrong: *Error for what is wrong
// within a document, others for what cannot be read at all. The Set then holds what could be read.
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

// nameOf returns what messages call an argument of -f.
func (o Options) nameOf(filename string) string {
	if filename == "-" {
		return cmp.Or(o.StdinName, "stdin")
	}
	return filename
}
