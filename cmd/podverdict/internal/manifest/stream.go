package manifest

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/partial"
	"github.com/podverdict/podverdict/compiler/schema"
)

// maxWaiting is how many bytes of Pods are held before they are streamed. An input with fewer is read
// whole.
const maxWaiting = 8 << 20

// Stream is an input whose Pods may be too many to be held in memory.
type Stream struct {
	// Set is what was read so far; it has Pods only if Whole is true.
	Set *Set
	// Whole says that all of the input was read.
	Whole bool

	collector *collector
	options   Options
	next      func() (part, bool)
	stop      func()
	waiting   []waitingPod
	// plan is how Pods are decoded by the workers; nil as long as they wait.
	plan atomic.Pointer[partial.Plan]
}

// Open reads until the end of the input, or until there are so many Pods that they are to be taken one by one, by Pods. Close is to
// be called in any case.
func Open(ctx context.Context, o Options) *Stream {
	s := &Stream{collector: newCollector(o), options: o}
	s.Set = s.collector.set
	r := reading{options: o, decode: s.decode}
	s.next, s.stop = iter.Pull(r.parts(ctx))
	for size := 0; size < maxWaiting; {
		p, more := s.next()
		if !more {
			s.collector.errs = append(s.collector.errs, ctx.Err())
			s.Whole = true
			s.Set.Pods = s.whole()
			break
		}
		s.collector.take(p)
		for _, w := range p.content.waiting {
			size += len(w.value)
		}
		s.waiting = append(s.waiting, p.content.waiting...)
	}
	return s
}

// Close ends the reading.
func (s *Stream) Close() { s.stop() }

// Err returns what was wrong so far, as Read does.
func (s *Stream) Err() error { return errors.Join(s.collector.errs...) }

// decode returns what a worker does.
func (s *Stream) decode() func(*Document) content {
	var decoder *partial.Decoder
	return func(d *Document) content {
		c := decode(d, s.options, true)
		plan := s.plan.Load()
		if plan == nil || len(c.waiting) == 0 {
			return c
		}
		if decoder == nil {
			decoder = plan.NewDecoder()
		}
		c.decodeWaiting(decoder, true)
		return c
	}
}

// whole returns the Pods that wait, with all that they have.
func (s *Stream) whole() []Pod {
	pods := s.Set.Pods // of items whose List has said late what they are
	for c := range s.decodeAll(partial.NewPlan[corev1.Pod](nil), false) {
		pods = append(pods, s.named(c.pods)...)
	}
	s.waiting = nil
	return pods
}

// decodeAll decodes the Pods that wait, side by side, and returns the results in their order.
func (s *Stream) decodeAll(plan *partial.Plan, light bool) iter.Seq[*content] {
	const size = 64
	return func(yield func(*content) bool) {
		for some := range slices.Chunk(s.waiting, size*runtime.GOMAXPROCS(0)) {
			results := make([]content, (len(some)+size-1)/size)
			var workers sync.WaitGroup
			for i, few := range slices.Collect(slices.Chunk(some, size)) {
				workers.Go(func() {
					results[i].options, results[i].waiting = s.options, few
					results[i].decodeWaiting(plan.NewDecoder(), light)
				})
			}
			workers.Wait()
			for i := range results {
				s.collector.errs = append(s.collector.errs, results[i].errs...)
				s.Set.Skipped.add(results[i].skipped)
				if !yield(&results[i]) {
					return
				}
			}
		}
	}
}

// Pods returns the Pods of an input that is not read whole, in its order, with some of their fields. Everything else is added to Set
// before the Pods that come behind it. Custom policies, their bindings and Namespaces are errors there: the Pods before them have
// been judged.
func (s *Stream) Pods(fields schema.Fields) iter.Seq2[[]Pod, error] {
	plan := partial.NewPlan[corev1.Pod](fields)
	s.plan.Store(plan)
	return func(yield func([]Pod, error) bool) {
		for c := range s.decodeAll(plan, true) {
			if !yield(s.named(c.pods), nil) {
				return
			}
		}
		s.waiting = nil
		decoder := plan.NewDecoder()
		for p, more := s.next(); more; p, more = s.next() {
			p.content.decodeWaiting(decoder, true) // what was read before there was a plan
			pods := p.content.pods
			p.content.pods = nil
			s.collector.take(p)
			s.collector.empty = s.collector.empty && len(pods) == 0
			if !yield(s.named(pods), s.late(&p.content)) {
				return
			}
		}
	}
}

func (s *Stream) named(pods []Pod) []Pod {
	for i := range pods {
		pods[i].Namespace = s.options.Namespace
	}
	return pods
}

// late refuses what would have had a say in verdicts that have been given.
func (s *Stream) late(c *content) error {
	const message = "comes behind too many Pods, which have their verdicts already: give it before them"
	switch {
	case len(c.policies) > 0:
		return c.policies[0].Origin.Error("", message)
	case len(c.bindings) > 0:
		return c.bindings[0].Origin.Error("", message)
	case len(c.namespaces) > 0:
		return c.namespaces[0].Origin.Error("", message)
	}
	return nil
}

// decodeWaiting decodes the Pods that wait. Their origins keep nothing of the file where that is asked for.
func (c *content) decodeWaiting(decoder *partial.Decoder, light bool) {
	for _, w := range c.waiting {
		pod := &corev1.Pod{}
		if c.options.Strict || decoder.Decode(w.value, pod) != nil || !plain(pod) {
			if pod = c.strictly(w); pod == nil {
				continue
			}
		}
		if light {
			w.origin = Origin{Document: w.origin.Document.without(), Path: w.origin.Path}
		}
		c.pods = append(c.pods, Pod{Object: pod, Origin: w.origin})
	}
	c.waiting = nil
}

// plain tells whether a Pod that could be decoded has nothing odd.
func plain(pod *corev1.Pod) bool {
	name := pod.Name + pod.GenerateName
	return (pod.TypeMeta == podType || pod.TypeMeta == metav1.TypeMeta{}) && name != "" && !strings.Contains(name, "{{")
}

// strictly decodes a Pod that has something odd, and finds out what. The result is nil if it cannot be read.
func (c *content) strictly(w waitingPod) *corev1.Pod {
	d := w.origin.Document
	alone := content{options: c.options, errs: checkUTF8(d)}
	if len(alone.errs) == 0 {
		alone.errs = checkDepth(d, w.value)
	}
	if len(alone.errs) == 0 {
		alone.object(w.origin, w.value, podType)
	}
	if !c.options.Strict && alone.isTemplate(d, true) {
		c.skipped.Templates = append(c.skipped.Templates, d.begin(1))
		return nil
	}
	c.errs = append(c.errs, withheld(d, alone.errs)...)
	if len(alone.pods) == 0 {
		return nil
	}
	return alone.pods[0].Object
}
