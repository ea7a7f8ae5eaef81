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

// maxWaiting is the number of bytes of Pods held before streaming starts. A smaller input is read whole.
const maxWaiting = 8 << 20

// Stream is an input whose Pods may not fit into memory.
type Stream struct {
	*collector

	// Whole reports whether the entire input was read. If not, Batches reads the rest, and the Set has no Pods.
	Whole bool

	reading reading
	next    func() (part, bool)
	stop    func()
	waiting []waitingPod
}

// Batch is a group of Jobs and Pods of a Stream. Errors about them have a position, but no excerpt of Pods.
type Batch struct {
	// Jobs holds the Jobs that no other object of the input creates.
	Jobs []Job
	Pods []Pod
}

// Open reads to the end of the input, or until maxWaiting bytes of Pods are held. The caller must call Close.
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

// Close stops the reading.
func (s *Stream) Close() { s.stop() }

// Err returns the errors so far, joined as by Read.
func (s *Stream) Err() error { return errors.Join(s.errs...) }

// decodeAll decodes queued Pods concurrently.
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

// Batches returns the Jobs and Pods of the input in order. Unless the input was read whole, Pods have only the given fields; nil
// selects all. Everything else is added to the Set.
func (s *Stream) Batches(fields cel.Fields) iter.Seq[Batch] {
	if s.Whole {
		return s.only
	}
	plan := fielddecoder.NewPlan[corev1.Pod](fields)
	s.reading.plan.Store(plan)
	return func(yield func(Batch) bool) {
		const atOnce = 128 // decoded Pods need more memory than queued ones
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
			p.content.decodeWaiting(decoder) // decodes Pods that were read before the plan was set
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

// only yields the whole input as one batch.
func (s *Stream) only(yield func(Batch) bool) {
	b := Batch{s.Set.moveJobs(), s.Set.Pods}
	s.Set.Pods = nil
	yield(b)
}

// moveJobs removes and returns the named Jobs that no other object of the input creates.
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

// placesOnly reduces the origins of Pods to positions, so that they do not retain the file.
func placesOnly(pods []Pod) []Pod {
	for i := range pods {
		pods[i].Origin = pods[i].Origin.placeOnly()
	}
	return pods
}

// decodeWaiting decodes the queued Pods. It stops decoding the Pods of a document that has maxErrors errors.
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

// plain reports whether a decoded Pod has the type and name of an ordinary Pod.
func plain(pod *corev1.Pod) bool {
	name := pod.Name + pod.GenerateName
	return (pod.TypeMeta == podType || pod.TypeMeta == metav1.TypeMeta{}) && name != "" && !strings.Contains(name, "{{")
}

// strictly decodes a rejected or unusual Pod and reports its errors. It returns nil if the Pod cannot be read.
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
