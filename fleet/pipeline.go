package fleet

import (
	"context"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/podverdict/podverdict/internal/evidence"
)

// Options say what to report.
type Options struct {
	// Input names the shards: a pattern of a file system that Beam knows, such as history/*.ndjson.zst or gs://bucket/history/*.
	Input string
	// Policies are custom policies, their bindings, and the Namespaces that bindings select by labels, as YAML or JSON.
	Policies []byte
	// Strict fails at a line that cannot be read. Else it is left out, and counted.
	Strict bool
	// Since leaves out attempts that ended earlier.
	Since time.Time
	// By are the sections of the report, and Top is how many rows each has at most; 0 means all.
	By  []evidence.Dimension
	Top int
	// Output is the file to write.
	Output string
}

// Register tells Beam the types and functions of the pipeline.
func Register() {
	register.DoFn3x1[context.Context, fileio.FileMetadata, func(string, []byte), error](&readFn{})
	register.DoFn4x1[context.Context, string, func(*[]byte) bool, func(evidence.Fold), error](&foldFn{})
	register.Combiner1[evidence.Fold](&mergeFn{})
	register.DoFn2x1[context.Context, evidence.Fold, error](&reportFn{})
	register.Emitter1[evidence.Fold]()
	register.Emitter2[string, []byte]()
	register.Iter1[[]byte]()
	beam.RegisterCoder(reflect.TypeFor[evidence.Fold](), encodeFold, decodeFold)
}

// Build adds the pipeline that writes a Report to a scope.
func Build(s beam.Scope, o Options) {
	shards := beam.Reshuffle(s, fileio.MatchFiles(s, o.Input, fileio.MatchEmptyDisallow()))
	records := beam.ParDo(s, &readFn{o}, shards)
	folds := beam.ParDo(s, &foldFn{Options: o}, beam.GroupByKey(s, records))
	nothing := beam.Create(s, evidence.Fold{Since: o.Since}) // so that there is a Report when there are no Jobs
	beam.ParDo0(s, &reportFn{o}, beam.Combine(s, &mergeFn{}, beam.Flatten(s, folds, nothing)))
}
