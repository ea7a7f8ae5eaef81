package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/evidence"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
)

// foldFn sums up the Jobs of a bundle.
type foldFn struct {
	Options

	by  evidence.Summing
	sum evidence.Sum
}

// Setup compiles the policies.
func (f *foldFn) Setup(ctx context.Context) (err error) {
	f.by, err = f.summing(ctx)
	return err
}

// StartBundle begins a Fold.
func (f *foldFn) StartBundle(_ context.Context, _ func(evidence.Fold)) {
	f.sum = evidence.Sum{Fold: evidence.Fold{Since: f.Since}}
}

// ProcessElement adds the Jobs with a key to the Fold.
func (f *foldFn) ProcessElement(ctx context.Context, key string, encoded func(*[]byte) bool, _ func(evidence.Fold)) error {
	var records []gathering.Record
	for one := []byte(nil); encoded(&one); {
		var r gathering.Record
		if err := r.Unmarshal(one); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		records = append(records, r)
	}
	for family, err := range gathering.OfRecords(records).Families() {
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if err := f.sum.Add(ctx, f.by, family); err != nil {
			return err
		}
	}
	return nil
}

// FinishBundle emits the Fold.
func (f *foldFn) FinishBundle(ctx context.Context, emit func(evidence.Fold)) {
	for _, err := range f.sum.Unjudged {
		log.Warn(ctx, err)
	}
	unjudged.Inc(ctx, int64(len(f.sum.Unjudged)+f.sum.More))
	emit(f.sum.Fold)
}

// summing returns the rules and the start time by which Jobs are summed up.
func (o *Options) summing(ctx context.Context) (by evidence.Summing, err error) {
	environment, err := compiler.NewEnvironment(compiler.DefaultVersion)
	if err != nil {
		return by, err
	}
	set := &manifest.Set{}
	if len(o.Policies) > 0 {
		source := manifest.Options{Filenames: []string{"-"}, Stdin: bytes.NewReader(o.Policies), StdinName: "--policies"}
		if set, err = manifest.Read(ctx, source); err != nil {
			return by, err
		}
	}
	policies, err := effective.New(environment, effective.FromFiles(set))
	return evidence.Summing{Rules: snapshot.NewRulebook(environment, policies.For), Since: o.Since}, err
}

// mergeFn merges Folds.
type mergeFn struct{}

// MergeAccumulators adds b to a.
func (mergeFn) MergeAccumulators(a, b evidence.Fold) evidence.Fold {
	a.Merge(&b)
	return a
}

func encodeFold(f evidence.Fold) ([]byte, error) { return json.Marshal(f) }

func decodeFold(encoded []byte) (f evidence.Fold, err error) {
	err = json.Unmarshal(encoded, &f)
	return f, err
}

// reportFn writes the Report.
type reportFn struct{ Options }

// ProcessElement writes the Report of the only Fold.
func (f *reportFn) ProcessElement(ctx context.Context, fold evidence.Fold) error {
	return f.write(ctx, fold.Report(f.Top, f.By...))
}
