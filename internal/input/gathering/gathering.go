package gathering

import (
	"bytes"
	"container/heap"
	"iter"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// maxBuffered is the maximum size in bytes of the encoded records that are sorted in memory.
const maxBuffered = 6 << 20

// Gathering holds the Jobs and Pods of an input.
type Gathering struct {
	// Set holds everything read except the Pods. For long input it also lacks the Jobs that no other object of the input creates.
	Set *manifest.Set
	// Jobs and Pods are the numbers of Jobs and Pods read. Long reports whether there are too many Pods to hold in memory.
	Jobs, Pods int
	Long       bool

	namespace string // default for objects without a namespace
	claims    bool   // whether any Pod names a controller or a Job
	owned     bool   // whether any Pod names a Job
	held      []entry
	spilling  sync.Mutex // guards storage while records are added
	adding    sync.Mutex // guards the following fields, Jobs and Pods
	packed    []packed
	buffered  int // size of packed in bytes
	limit     int // maximum of buffered
	runs      []run
	storage   storage
	dir       string // directory of the temporary file; "" is the default
}

// New returns an empty Gathering. The given namespace is the default for objects without one.
func New(namespace string) *Gathering {
	return &Gathering{Set: &manifest.Set{}, namespace: namespace, limit: maxBuffered}
}

// Of returns the Gathering of Jobs and Pods in memory. The Gathering owns the Jobs and sets their JobSets.
func Of(jobs []manifest.Job, pods []manifest.Pod) *Gathering {
	g := New("")
	for i := range jobs {
		g.Hold(&jobs[i])
	}
	for _, pod := range pods {
		g.holdPod(pod)
	}
	return g
}

// OfRecords returns the Gathering of records in memory.
func OfRecords(records []Record) *Gathering {
	g := New("")
	for _, r := range records {
		if r.Job != nil {
			g.Hold(&manifest.Job{Object: r.Job, Origin: r.Origin})
		} else {
			g.holdPod(manifest.Pod{Object: r.Pod, Origin: r.Origin, Recorded: r.Verdict})
		}
	}
	return g
}

// Hold adds a Job and keeps it in memory. The Job may be one that another object creates.
func (g *Gathering) Hold(job *manifest.Job) {
	r := Record{Job: job.Object, Origin: job.Origin}
	g.Jobs++
	g.held = append(g.held, entry{key: r.sortKey(job.Reference()), record: r, job: job})
}

// holdPod adds a Pod and keeps it in memory.
func (g *Gathering) holdPod(pod manifest.Pod) {
	r := Record{Pod: pod.Object, Verdict: pod.Recorded, Origin: pod.Origin}
	ref, says := r.jobRef(g.namespace)
	g.count(r, ref, says)
	g.held = append(g.held, entry{key: r.sortKey(ref), record: r})
}

// count counts a record, and notes whether a Pod names a controller or a Job.
func (g *Gathering) count(r Record, ref manifest.Reference, says bool) {
	if r.Job != nil {
		g.Jobs++
	} else {
		g.Pods++
		g.claims, g.owned = g.claims || says, g.owned || ref.Name != ""
	}
}

// Add encodes records and adds them; it does not retain the records themselves. It is safe for concurrent use.
func (g *Gathering) Add(records ...Record) (err error) {
	all := make([]packed, len(records))
	size := 0
	for i, r := range records {
		ref, says := r.jobRef(g.namespace)
		if all[i], err = pack(r, ref); err != nil {
			return err
		}
		size += all[i].size()
		g.adding.Lock()
		g.count(r, ref, says)
		g.adding.Unlock()
	}
	return g.spill(g.buffer(all, size))
}

// buffer adds encoded records to the buffer. If the buffer exceeds its limit, buffer empties it and returns its records.
func (g *Gathering) buffer(all []packed, size int) (full []packed) {
	g.adding.Lock()
	defer g.adding.Unlock()
	g.packed = append(g.packed, all...)
	if g.buffered += size; g.buffered < g.limit {
		return nil
	}
	full = g.packed
	g.packed, g.buffered = make([]packed, 0, len(full)+len(full)/8), 0
	return full
}

// spill writes encoded records to the temporary file. Calls run one at a time, so that memory holds at most two buffers.
func (g *Gathering) spill(full []packed) error {
	if full == nil {
		return nil
	}
	g.spilling.Lock()
	defer g.spilling.Unlock()
	sortPacked(full)
	written, err := g.storage.write(g.dir, full)
	g.adding.Lock()
	defer g.adding.Unlock()
	g.runs = append(g.runs, written)
	return err
}

// Close removes the temporary file.
func (g *Gathering) Close() error { return g.storage.close() }

// Bare reports whether there are Pods, but neither Jobs nor Pods that name one.
func (g *Gathering) Bare() bool { return g.Pods > 0 && g.Jobs == 0 && !g.owned }

// HasStatus reports whether any Job in memory has run in a cluster.
func (g *Gathering) HasStatus() bool {
	return slices.ContainsFunc(g.held, func(e entry) bool {
		return e.job != nil && (e.job.Object.Status.StartTime != nil || len(e.job.Object.Status.Conditions) > 0)
	})
}

// HasFailed reports whether any Job in memory has failed.
func (g *Gathering) HasFailed() bool {
	return slices.ContainsFunc(g.held, func(e entry) bool {
		return e.job != nil && slices.ContainsFunc(e.job.Object.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
		})
	})
}

// HasJobSets reports whether any Job of the input comes from a JobSet of the input or of its cluster.
func (g *Gathering) HasJobSets() bool {
	return slices.ContainsFunc(g.held, func(e entry) bool { return e.job != nil && e.job.JobSet != nil })
}

// entries returns all entries sorted by key.
func (g *Gathering) entries() iter.Seq2[entry, error] {
	slices.SortStableFunc(g.held, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	return func(yield func(entry, error) bool) {
		held := g.held
		for e, err := range unpacked(g.merged()) {
			for len(held) > 0 && err == nil && bytes.Compare(held[0].key, e.key) <= 0 {
				if !yield(held[0], nil) {
					return
				}
				held = held[1:]
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		for _, e := range held {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// merged returns the encoded records sorted by key.
func (g *Gathering) merged() iter.Seq2[packed, error] {
	sortPacked(g.packed)
	return func(yield func(packed, error) bool) {
		all := sources{}
		for _, next := range append([]nextPacked{inMemory(g.packed)}, g.storage.open(g.runs)...) {
			first, more, err := next()
			if err != nil {
				yield(packed{}, err)
				return
			}
			if more {
				all = append(all, source{first, next})
			}
		}
		heap.Init(&all)
		for len(all) > 0 {
			first := &all[0]
			if !yield(first.packed, nil) {
				return
			}
			var more bool
			var err error
			switch first.packed, more, err = first.next(); {
			case err != nil:
				yield(packed{}, err)
				return
			case more:
				heap.Fix(&all, 0)
			default:
				heap.Pop(&all)
			}
		}
	}
}

// nextPacked returns the next record of a sorted sequence.
type nextPacked func() (p packed, more bool, err error)

func inMemory(all []packed) nextPacked {
	return func() (p packed, more bool, err error) {
		if len(all) == 0 {
			return p, false, nil
		}
		p, all = all[0], all[1:]
		return p, true, nil
	}
}

// source is a sorted sequence of records, with its next record.
type source struct {
	packed

	next nextPacked
}

// sources is a heap of sources, ordered by their next records.
type sources []source //nolint:recvcheck // as container/heap wants it

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return bytes.Compare(s[i].key, s[j].key) < 0 }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(any)          {}
func (s *sources) Pop() any {
	*s = slices.Delete(*s, len(*s)-1, len(*s))
	return nil
}
