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

// Options configure a report.
type Options struct {
	// Input is the pattern of the shards in a file system that Beam supports, such as history/*.ndjson.zst or
	// gs://bucket/history/*.
	Input string
	// Policies are custom policies, their bindings, and the Namespaces that bindings select by labels, as YAML or
	// JSON.
	Policies []byte
	// Strict fails at a line that cannot be read. Otherwise such lines are skipped and counted.
	Strict bool
	// Since excludes attempts that ended earlier.
	Since time.Time
	// By are the sections of the report. Top is the maximum number of rows of each section; 0 means no limit.
	By  []evidence.Dimension
	Top int
	// Output is the file to write.
	Output string
}

// Register registers the types and functions of the pipeline with Beam.
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
	nothing := beam.Create(s, evidence.Fold{Since: o.Since}) // makes a Report even if there are no Jobs
	beam.ParDo0(s, &reportFn{o}, beam.Combine(s, &mergeFn{}, beam.Flatten(s, folds, nothing)))
}
