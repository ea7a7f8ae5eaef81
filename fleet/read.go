package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Namespace is the namespace of the pipeline's counters.
const Namespace = "podverdict"

var (
	jobs     = beam.NewCounter(Namespace, "jobs")
	pods     = beam.NewCounter(Namespace, "pods")
	broken   = beam.NewCounter(Namespace, "broken")
	unjudged = beam.NewCounter(Namespace, "unjudged")
)

// readFn reads shards.
type readFn struct{ Options }

// ProcessElement emits the records of a shard by key.
func (f *readFn) ProcessElement(ctx context.Context, shard fileio.FileMetadata, emit func(string, []byte)) error {
	add := func(r gathering.Record) error {
		encoded, err := r.Marshal()
		if err != nil {
			return err
		}
		if r.Job != nil {
			jobs.Inc(ctx, 1)
		} else {
			pods.Inc(ctx, 1)
		}
		emit(r.Key(), encoded)
		return nil
	}
	return f.read(ctx, shard.Path, add, func(err error) {
		broken.Inc(ctx, 1)
		log.Warn(ctx, err)
	})
}

// read passes the records of a shard to add. It reports lines that cannot be read to leave, or fails at the first one
// if Strict.
func (o *Options) read(ctx context.Context, shard string, add func(gathering.Record) error, leave func(error)) error {
	files, err := filesystem.New(ctx, shard)
	if err != nil {
		return err
	}
	defer files.Close()
	in, err := files.OpenRead(ctx, shard)
	if err != nil {
		return err
	}
	defer in.Close()
	source := manifest.Options{Filenames: []string{"-"}, Stdin: in, StdinName: shard}
	set, err := gathering.Records(ctx, source, o.fields(), add)
	if len(set.Policies)+len(set.Bindings) > 0 {
		return fmt.Errorf("%s: has custom policies, which are given with --policies", shard)
	}
	for _, err := range manifest.EachError(err) {
		switch {
		case errors.Is(err, manifest.ErrEmpty):
		case o.Strict || !manifest.OnlyDocuments(err):
			return err
		default:
			leave(err)
		}
	}
	return nil
}

// fields returns the fields of Pods to keep. With custom policies, which may read any field, it returns nil for all
// fields.
func (o *Options) fields() cel.Fields {
	if len(o.Policies) > 0 {
		return nil
	}
	return evidence.PodFields
}
