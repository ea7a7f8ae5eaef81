package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
)

// Part is a Fold of the Jobs whose key has a hash equal to Index modulo Of.
type Part struct {
	Index uint64        `json:"index"`
	Of    uint64        `json:"of"`
	Fold  evidence.Fold `json:"fold"`
}

// WritePart reads all shards, sums up the Jobs of one part in this process, and writes the Part. It reports lines
// that cannot be read, and Jobs that cannot be judged, to leave. Memory is bounded: records that do not fit are
// written to a temporary file.
func WritePart(ctx context.Context, o Options, index, of uint64, leave func(error)) error {
	by, err := o.summing(ctx)
	if err != nil {
		return err
	}
	g := gathering.New("")
	g.Long = true
	defer g.Close()
	add := func(r gathering.Record) error {
		h := fnv.New64a()
		_, _ = h.Write([]byte(r.Key()))
		if h.Sum64()%of != index {
			return nil
		}
		return g.Add(r)
	}
	err = eachFile(ctx, o.Input, func(_ filesystem.Interface, shard string) error { return o.read(ctx, shard, add, leave) })
	if err != nil {
		return err
	}
	sum, err := evidence.SumUp(ctx, g.Families(), by)
	if err != nil {
		return err
	}
	for _, err := range sum.Unjudged {
		leave(err)
	}
	return o.write(ctx, Part{index, of, sum.Fold})
}

// MergeParts writes the Report of all Parts. Input is the pattern of their files.
func MergeParts(ctx context.Context, o Options) error {
	var whole evidence.Fold
	var of uint64
	seen := map[uint64]string{}
	err := eachFile(ctx, o.Input, func(files filesystem.Interface, name string) error {
		text, err := filesystem.Read(ctx, files, name)
		if err != nil {
			return err
		}
		var p Part
		if err := json.Unmarshal(text, &p); err != nil || p.Of == 0 {
			return fmt.Errorf("%s: is no part of a report", name)
		}
		if of == 0 {
			of, whole.Since = p.Of, p.Fold.Since
		}
		switch other := seen[p.Index]; {
		case other != "":
			return fmt.Errorf("%s: is part %d, as %s", name, p.Index, other)
		case p.Of != of || !p.Fold.Since.Equal(whole.Since):
			return fmt.Errorf("%s: is of another report, with %d parts since %v", name, p.Of, p.Fold.Since)
		}
		seen[p.Index] = name
		whole.Merge(&p.Fold)
		return nil
	})
	if err != nil {
		return err
	}
	if uint64(len(seen)) < of {
		return fmt.Errorf("%s: %d of %d parts are there", o.Input, len(seen), of)
	}
	return o.write(ctx, whole.Report(o.Top, o.By...))
}

// eachFile calls do for each file that matches a pattern. It fails if no file matches.
func eachFile(ctx context.Context, pattern string, do func(files filesystem.Interface, name string) error) error {
	files, err := filesystem.New(ctx, pattern)
	if err != nil {
		return err
	}
	defer files.Close()
	names, err := files.List(ctx, pattern)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no files matching pattern %q", pattern)
	}
	for i := 0; err == nil && i < len(names); i++ {
		err = do(files, names[i])
	}
	return err
}

// write writes an object to Output in the format of podverdict report -o json.
func (o *Options) write(ctx context.Context, object any) error {
	files, err := filesystem.New(ctx, o.Output)
	if err != nil {
		return err
	}
	defer files.Close()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(object); err != nil {
		return err
	}
	return filesystem.Write(ctx, files, o.Output, text.Bytes())
}
