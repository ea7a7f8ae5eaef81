package manifest

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/input/fielddecoder"
)

// maxWaiting is how many bytes of Pods are held before they are streamed. An input with fewer is read
// whole.
const maxWaiting = 8 << 20

// Stream is an input whose Pods may be too many to be held in memory.
type Stream struct {
	*collector

	// Whole says that all of the input was read. The Set has no Pods else. It is false for a caller with Options.TakeJob, who takes
	// Pods one by one, too.
	Whole bool

	reading reading
	next    func() (part, bool)
	stop    func()
	waiting []waitingPod
}

// Open reads until the end of the input, or until there are so many Pods that they are to be taken one by one, by Pods. Close is to
// be called in any case.
func Open(ctx context.Context, o Options) *Stream {
	s := &Stream{collector: &collector{Set: &Set{}, empty: true, takeJob: o.TakeJob}, reading: reading{options: o}}
	s.next, s.stop = iter.Pull(s.reading.parts(ctx))
	for size := 0; size < maxWaiting; {
		p, more := s.next()
		if !more {
			s.errs = append(s.errs, ctx.Err())
			if s.Whole = o.TakeJob == nil; s.Whole {
				s.Set.Pods = s.decodeAll(s.waiting, wholePods())
			}
			break
		}
		s.take(p)
		for _, w := range p.content.waiting {
			size += len(w.value)
		}
		s.waiting = append(s.waiting, p.content.waiting...)
	}
	s.Set.addTrainJobs()
	return s
}

// Close ends the reading.
func (s *Stream) Close() { s.stop() }

// Err returns what was wrong so far, as Read does.
func (s *Stream) Err() error { return errors.Join(s.errs...) }

// decodeAll decodes Pods that have waited, side by side.
func (s *Stream) decodeAll(waiting []waitingPod, plan *fielddecoder.Plan) (pods []Pod) {
	var results []*content
	var workers sync.WaitGroup
	for some := range slices.Chunk(waiting, 1+len(waiting)/runtime.GOMAXPROCS(0)) {
		c := &content{options: s.reading.options, waiting: some}
		results = append(results, c)
		workers.Go(func() { c.decodeWaiting(plan.NewDecoder()) })
	}
	workers.Wait()
	for _, c := range results {
		s.errs = append(s.errs, c.errs...)
		s.Set.Skipped.add(c.Skipped)
		pods = append(pods, c.Pods...)
	}
	return pods
}

// Pods returns the Pods of an input that is not read whole, in its order, with some of their fields. Everything else is added to Set
// before the Pods that come behind it. Custom policies, their bindings and Namespaces are errors there: the Pods before them have
// been judged.
func (s *Stream) Pods(fields cel.Fields) iter.Seq2[[]Pod, error] {
	plan := fielddecoder.NewPlan[corev1.Pod](fields)
	s.reading.plan.Store(plan)
	return func(yield func([]Pod, error) bool) {
		const atOnce = 128 // decoded Pods take more memory than those that wait
		for some := range slices.Chunk(s.waiting, atOnce) {
			if !yield(placesOnly(s.decodeAll(some, plan)), nil) {
				return
			}
		}
		s.waiting = nil
		decoder := plan.NewDecoder()
		for p, more := s.next(); more; p, more = s.next() {
			p.content.decodeWaiting(decoder) // what was read before there was a plan
			pods := placesOnly(p.content.Pods)
			p.content.Pods = nil
			s.take(p)
			s.empty = s.empty && len(pods) == 0
			if !yield(pods, late(&p.content)) {
				return
			}
		}
	}
}

// late refuses what would have had a say in verdicts that have been given.
func late(c *content) error {
	const message = "comes behind too many Pods, which have their verdicts already: give it before them"
	switch {
	case len(c.Policies) > 0:
		return c.Policies[0].Origin.Error("", message)
	case len(c.Bindings) > 0:
		return c.Bindings[0].Origin.Error("", message)
	case len(c.Namespaces) > 0:
		return c.Namespaces[0].Origin.Error("", message)
	}
	return nil
}

// placesOnly returns Pods whose origins keep nothing of the file.
func placesOnly(pods []Pod) []Pod {
	for i := range pods {
		pods[i].Origin = Origin{Document: pods[i].Origin.Document.without(), Path: pods[i].Origin.Path}
	}
	return pods
}

// decodeWaiting decodes the Pods that wait, those of a document as long as few of them are wrong.
func (c *content) decodeWaiting(decoder *fielddecoder.Decoder) {
	var from, unread *Document
	enough := maxErrors
	for _, w := range c.waiting {
		if from != nil && from != w.origin.Document {
			enough = len(c.errs) + maxErrors
		}
		from = w.origin.Document
		if from != unread && len(c.errs) >= enough {
			unread = from
			c.fail(Origin{Document: from}, "items", messageMoreUnread)
		}
		if from == unread {
			continue
		}
		pod := &corev1.Pod{}
		if c.options.Strict || decoder.Decode(w.value, pod) != nil || !plain(pod) {
			if pod = c.strictly(w); pod == nil {
				continue
			}
		}
		c.Pods = append(c.Pods, Pod{Object: pod, Origin: w.origin, Namespace: c.options.Namespace, Recorded: w.recorded})
	}
	c.waiting = nil
}

// plain reports whether a Pod that could be decoded has nothing odd.
func plain(pod *corev1.Pod) bool {
	name := pod.Name + pod.GenerateName
	return (pod.TypeMeta == podType || pod.TypeMeta == metav1.TypeMeta{}) && name != "" && !strings.Contains(name, "{{")
}

// strictly decodes a Pod that has something odd, and finds out what. The result is nil if it cannot be read.
func (c *content) strictly(w waitingPod) *corev1.Pod {
	d := w.origin.Document
	alone := content{options: c.options, errs: checkUTF8(d)}
	if len(alone.errs) == 0 {
		alone.decode(w.origin, w.value, podType)
	}
	if !c.options.Strict && len(alone.errs) > 0 && d.isTorn() {
		c.Skipped.Torn = append(c.Skipped.Torn, d.begin(1))
		return nil
	}
	if !c.options.Strict && alone.isTemplate(d, true) {
		c.Skipped.Templates = append(c.Skipped.Templates, d.begin(1))
		return nil
	}
	c.errs = append(c.errs, withheld(d, alone.errs)...)
	if len(alone.Pods) == 0 {
		return nil
	}
	return alone.Pods[0].Object
}
