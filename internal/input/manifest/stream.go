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

	// Whole reports whether all of the input was read. If not, Batches reads on, and the Set has no Pods.
	Whole bool

	reading reading
	next    func() (part, bool)
	stop    func()
	waiting []waitingPod
}

// Batch is some Jobs and Pods of a Stream. Errors in them name a place, but show no excerpt of Pods.
type Batch struct {
	// Jobs are those that no other object of the input makes.
	Jobs []Job
	Pods []Pod
}

// Open reads until the end of the input, or until there are too many Pods to be held in memory. Close is to be called in any case.
func Open(ctx context.Context, o Options) *Stream {
	s := &Stream{collector: &collector{Set: &Set{}, empty: true}, reading: reading{options: o}}
	if len(o.Filenames) == 0 {
		s.errs = append(s.errs, errNoFilenames)
	}
	s.next, s.stop = iter.Pull(s.reading.parts(ctx))
	for size := 0; size < maxWaiting; {
		p, more := s.next()
		if !more {
			s.errs = append(s.errs, ctx.Err())
			s.Set.Pods = s.decodeAll(s.waiting, wholePods())
			s.Whole = true
			s.Set.addTrainJobs()
			break
		}
		s.add(p)
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

// Batches returns the Jobs and Pods of the input, in its order. Unless it was read whole, Pods have some of their fields; nil is all of
// them. Everything else is added to the Set.
func (s *Stream) Batches(fields cel.Fields) iter.Seq[Batch] {
	if s.Whole {
		return s.only
	}
	plan := fielddecoder.NewPlan[corev1.Pod](fields)
	s.reading.plan.Store(plan)
	return func(yield func(Batch) bool) {
		const atOnce = 128 // decoded Pods take more memory than those that wait
		b := Batch{Jobs: s.Set.moveJobs()}
		for some := range slices.Chunk(s.waiting, atOnce) {
			b.Pods = placesOnly(s.decodeAll(some, plan))
			if s.Set.passed += len(b.Pods); !yield(b) {
				return
			}
			b = Batch{}
		}
		s.waiting = nil
		decoder := plan.NewDecoder()
		for p, more := s.next(); more; p, more = s.next() {
			p.content.decodeWaiting(decoder) // what was read before there was a plan
			jobs, pods := p.content.moveJobs(), placesOnly(p.content.Pods)
			p.content.Pods = nil
			s.Set.passed += len(pods)
			s.add(p)
			s.empty = s.empty && len(jobs)+len(pods) == 0
			b.Jobs, b.Pods = append(b.Jobs, jobs...), append(b.Pods, pods...)
			if len(b.Jobs)+len(b.Pods) >= atOnce {
				if !yield(b) {
					return
				}
				b = Batch{}
			}
		}
		if !yield(b) {
			return
		}
		s.Set.addTrainJobs()
	}
}

// only yields all of an input that was read whole.
func (s *Stream) only(yield func(Batch) bool) {
	b := Batch{s.Set.moveJobs(), s.Set.Pods}
	s.Set.Pods = nil
	yield(b)
}

// moveJobs removes the Jobs from the Set that nothing else of the input makes and that have a name, and returns them.
func (s *Set) moveJobs() (moved []Job) {
	s.Jobs = slices.DeleteFunc(s.Jobs, func(j Job) bool {
		moves := j.Template == "" && j.JobSet == nil && j.Object.Name != ""
		if moves {
			moved = append(moved, j)
		}
		return moves
	})
	return moved
}

// placesOnly returns Pods whose origins keep nothing of the file.
func placesOnly(pods []Pod) []Pod {
	for i := range pods {
		pods[i].Origin = pods[i].Origin.placeOnly()
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
