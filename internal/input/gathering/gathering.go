package gathering

import (
	"bytes"
	"container/heap"
	"iter"
	"slices"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// maxBuffered is how many bytes of encoded records are sorted in memory.
const maxBuffered = 8 << 20

// Gathering holds the Jobs and Pods of an input.
type Gathering struct {
	// Set has what was read, except for the Pods. In long inputs it also lacks the Jobs that no other object of the input makes.
	Set *manifest.Set
	// Jobs and Pods are how many were read, and Long reports whether the Pods are too many to be held in memory.
	Jobs, Pods int
	Long       bool

	namespace string // of objects that name none
	claims    bool   // some Pod names a controller or a Job
	owned     bool   // some Pod names a Job
	held      []entry
	runs      []run
	storage   storage
	dir       string // of the temporary file; "" is the usual one
	buffered  int    // bytes of encoded records that are held
	limit     int    // of buffered
}

// New returns an empty Gathering. Objects without a namespace are in the given one.
func New(namespace string) *Gathering {
	return &Gathering{Set: &manifest.Set{}, namespace: namespace, limit: maxBuffered}
}

// Of returns the Gathering of Jobs and Pods that are in memory. The Jobs belong to it: it records in them of which JobSet they are.
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

// OfRecords returns the Gathering of records that are in memory.
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

// Hold adds a Job, which another object may make, and keeps it in memory.
func (g *Gathering) Hold(job *manifest.Job) {
	r := Record{Job: job.Object, Origin: job.Origin}
	g.Jobs++
	g.held = append(g.held, entry{key: r.sortKey(job.Reference()), record: r, job: job})
}

// holdPod adds a Pod and keeps it in memory.
func (g *Gathering) holdPod(pod manifest.Pod) {
	r := Record{Pod: pod.Object, Verdict: pod.Recorded, Origin: pod.Origin}
	g.held = append(g.held, entry{key: g.keyOf(r), record: r})
}

// keyOf returns the sort key of a record. It counts the record, and notes whether a Pod names a controller or a Job.
func (g *Gathering) keyOf(r Record) []byte {
	ref, says := r.jobRef(g.namespace)
	if r.Job != nil {
		g.Jobs++
	} else {
		g.Pods++
		g.claims, g.owned = g.claims || says, g.owned || ref.Name != ""
	}
	return r.sortKey(ref)
}

// Add adds a record, of which it keeps only what is encoded.
func (g *Gathering) Add(r Record) error {
	encoded, err := r.Marshal()
	if err != nil {
		return err
	}
	e := entry{key: g.keyOf(r), encoded: encoded}
	g.held = append(g.held, e)
	if g.buffered += len(e.key) + len(encoded) + 64; g.buffered < g.limit {
		return nil
	}
	return g.spill()
}

// spill writes the encoded entries to the temporary file.
func (g *Gathering) spill() error {
	var encoded, rest []entry
	for _, e := range g.held {
		if e.encoded != nil {
			encoded = append(encoded, e)
		} else {
			rest = append(rest, e)
		}
	}
	sortEntries(encoded)
	written, err := g.storage.write(g.dir, encoded)
	g.runs = append(g.runs, written)
	g.held, g.buffered = rest, 0
	return err
}

// Close removes the temporary file.
func (g *Gathering) Close() error { return g.storage.close() }

// Bare reports whether there are Pods, and neither Jobs nor Pods that name one.
func (g *Gathering) Bare() bool { return g.Pods > 0 && g.Jobs == 0 && !g.owned }

// HasJobSets reports whether Jobs of the input come from JobSets of the input, or of its cluster.
func (g *Gathering) HasJobSets() bool {
	return slices.ContainsFunc(g.held, func(e entry) bool { return e.job != nil && e.job.JobSet != nil })
}

// entries returns all entries in the order of their keys. An entry is valid until the next one.
func (g *Gathering) entries() iter.Seq2[entry, error] {
	sortEntries(g.held)
	return func(yield func(entry, error) bool) {
		sources := sources{}
		open := func(next func() (entry, bool, error)) error {
			first, more, err := next()
			if more {
				sources = append(sources, source{first, next})
			}
			return err
		}
		if err := open(inMemory(g.held)); err != nil {
			yield(entry{}, err)
			return
		}
		for _, r := range g.runs {
			if err := open(g.storage.entries(r)); err != nil {
				yield(entry{}, err)
				return
			}
		}
		heap.Init(&sources)
		for len(sources) > 0 {
			first := &sources[0]
			if !yield(first.entry, nil) {
				return
			}
			var more bool
			var err error
			switch first.entry, more, err = first.next(); {
			case err != nil:
				yield(entry{}, err)
				return
			case more:
				heap.Fix(&sources, 0)
			default:
				heap.Pop(&sources)
			}
		}
	}
}

func inMemory(entries []entry) func() (entry, bool, error) {
	return func() (e entry, more bool, err error) {
		if len(entries) == 0 {
			return e, false, nil
		}
		e, entries = entries[0], entries[1:]
		return e, true, nil
	}
}

// source is where sorted entries come from, with the next one.
type source struct {
	entry

	next func() (entry, bool, error)
}

// sources is a heap of sources by their next entries.
type sources []source //nolint:recvcheck // as container/heap wants it

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return bytes.Compare(s[i].key, s[j].key) < 0 }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(any)          {}
func (s *sources) Pop() any {
	*s = slices.Delete(*s, len(*s)-1, len(*s))
	return nil
}
