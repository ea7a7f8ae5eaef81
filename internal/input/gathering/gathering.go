package gathering

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/podverdict/podverdict/internal/evidence"
)

const (
	partitions = 256
	// maxBuffered is how many bytes of records are held in memory.
	maxBuffered = 16 << 20
)

// Gathering keeps the Records of an input by their Key: in memory while they are few, else in a temporary file, which Close removes.
// It is not safe for concurrent use.
type Gathering struct {
	// WholePods is whether Read keeps all fields of Pods, which custom policies may read. It does so if the input has any.
	WholePods bool

	dir      string
	file     *os.File // nil until there are too many records for memory
	end      int64    // of the file
	parts    [partitions]partition
	buffered int
	limit    int // of buffered
}

// partition is the records whose Keys have one hash.
type partition struct {
	buffer []byte
	blocks []block // in the file, written before what is in buffer
}

// block is a compressed part of a partition.
type block struct {
	offset int64
	size   int
}

// New returns a Gathering that is empty. Its temporary file, if it needs one, is in dir; "" is os.TempDir().
func New(dir string) *Gathering { return &Gathering{dir: dir, limit: maxBuffered} }

// Add keeps a record.
func (g *Gathering) Add(r evidence.Record) error {
	encoded, err := r.Marshal()
	if err != nil {
		return err
	}
	key := r.Key()
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	p := &g.parts[h.Sum64()%partitions]
	before := len(p.buffer)
	p.buffer = binary.AppendUvarint(p.buffer, uint64(len(key)))
	p.buffer = append(p.buffer, key...)
	p.buffer = binary.AppendUvarint(p.buffer, uint64(len(encoded)))
	p.buffer = append(p.buffer, encoded...)
	if g.buffered += len(p.buffer) - before; g.buffered < g.limit {
		return nil
	}
	return g.spill()
}

// spill moves what is in memory to the file.
func (g *Gathering) spill() error {
	if err := g.open(); err != nil {
		return fmt.Errorf("keep what does not fit into memory: %w", err)
	}
	var compressed []byte
	for i := range g.parts {
		p := &g.parts[i]
		if len(p.buffer) == 0 {
			continue
		}
		compressed = s2.Encode(compressed[:cap(compressed)], p.buffer)
		if _, err := g.file.WriteAt(compressed, g.end); err != nil {
			return fmt.Errorf("keep what does not fit into memory: %w", err)
		}
		p.blocks = append(p.blocks, block{g.end, len(compressed)})
		p.buffer = p.buffer[:0]
		g.end += int64(len(compressed))
	}
	g.buffered = 0
	return nil
}

// open creates the file. Where the system allows that, its name goes at once, so that nothing is left of a program that is killed.
func (g *Gathering) open() (err error) {
	if g.file == nil {
		if g.file, err = os.CreateTemp(g.dir, "podverdict-*"); err == nil {
			_ = os.Remove(g.file.Name())
		}
	}
	return err
}

// Close removes the file, and all that was kept.
func (g *Gathering) Close() error {
	g.parts = [partitions]partition{}
	if g.file == nil {
		return nil
	}
	err := g.file.Close()
	if gone := os.Remove(g.file.Name()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	g.file = nil
	return err
}

// Families returns the families of all records, in an order that does not depend on the order of the input. It may be called several
// times, after the last Add.
func (g *Gathering) Families() iter.Seq2[evidence.Family, error] {
	return func(yield func(evidence.Family, error) bool) {
		var buffer []byte
		for i := range g.parts {
			whole, err := g.whole(&g.parts[i], buffer[:0])
			if err != nil {
				yield(evidence.Family{}, fmt.Errorf("read what was kept: %w", err))
				return
			}
			if buffer = whole; !families(whole, yield) {
				return
			}
		}
	}
}

// whole appends all of a partition to a buffer.
func (g *Gathering) whole(p *partition, buffer []byte) ([]byte, error) {
	var compressed []byte
	for _, b := range p.blocks {
		compressed = slices.Grow(compressed[:0], b.size)[:b.size]
		if _, err := g.file.ReadAt(compressed, b.offset); err != nil {
			return nil, err
		}
		n, err := s2.DecodedLen(compressed)
		if err != nil {
			return nil, err
		}
		buffer = slices.Grow(buffer, n)
		text, err := s2.Decode(buffer[len(buffer):len(buffer)+n], compressed)
		if err != nil {
			return nil, err
		}
		buffer = buffer[:len(buffer)+len(text)]
	}
	return append(buffer, p.buffer...), nil
}

// kept is a record as it lies in a partition.
type kept struct{ key, encoded []byte }

// families yields the families of a partition, sorted by their keys.
func families(whole []byte, yield func(evidence.Family, error) bool) bool {
	var all []kept
	next := func() []byte {
		size, n := binary.Uvarint(whole)
		end := n + int(size) //nolint:gosec // Add has written it
		field := whole[n:end]
		whole = whole[end:]
		return field
	}
	for len(whole) > 0 {
		all = append(all, kept{next(), next()})
	}
	slices.SortStableFunc(all, func(a, b kept) int { return bytes.Compare(a.key, b.key) })
	var records []evidence.Record
	for i, k := range all {
		var r evidence.Record
		if err := r.Unmarshal(k.encoded); err != nil {
			return yield(evidence.Family{}, err)
		}
		records = append(records, r)
		if i+1 < len(all) && bytes.Equal(all[i+1].key, k.key) {
			continue
		}
		for _, f := range evidence.Families(records) {
			if !yield(f, nil) {
				return false
			}
		}
		clear(records)
		records = records[:0]
	}
	return true
}
