package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/podverdict/podverdict/fleet"
	"github.com/podverdict/podverdict/internal/evidence"
)

const usage = `Sum up how Pods have failed, as podverdict report does, over more Jobs and Pods
than one machine should read.

  podverdict-fleet --input 'history/*.ndjson.zst' --output report.json
  podverdict-fleet --input 'history/*' --part 3/8 --output part-3.json
  podverdict-fleet --merge 'part-*.json' --output report.json

Flags of Apache Beam say where the first one runs, such as --runner, --endpoint,
--environment_type and --worker_binary. Without them, it runs in this process.

`

// arguments holds the values of the flags.
type arguments struct {
	fleet.Options

	policies, since, by, part, merge string
}

func main() {
	var a arguments
	own := flag.NewFlagSet("podverdict-fleet", flag.ExitOnError)
	a.define(own)
	own.VisitAll(func(f *flag.Flag) { flag.Var(f.Value, f.Name, f.Usage) })
	flag.Usage = func() {
		fmt.Fprint(own.Output(), usage)
		own.PrintDefaults()
	}
	log.LogLevel, log.LogKind = "warn", "text"
	flag.Parse()
	fleet.Register()
	beam.Init() // does not return on a worker
	slog.SetDefault(slog.New(notes{slog.DiscardHandler}))
	if err := a.run(context.Background()); err != nil {
		note(cause(err))
		os.Exit(1)
	}
}

func note(text string) { fmt.Fprintln(os.Stderr, "podverdict-fleet:", text) }

// notes is a log handler that prints warnings about skipped input. It drops errors, because run returns them as well.
type notes struct{ slog.Handler }

func (notes) Enabled(_ context.Context, level slog.Level) bool { return level == slog.LevelWarn }

func (notes) Handle(_ context.Context, r slog.Record) error {
	note(strings.TrimPrefix(r.Message, "[SDK] ")) // prefix added by Prism
	return nil
}

// cause returns the text of an error without the stages and coders that Beam puts before it.
func cause(err error) string {
	const before = " failed:\n"
	text := err.Error()
	if at := strings.LastIndex(text, before); at >= 0 {
		return text[at+len(before):]
	}
	return text
}

func (a *arguments) define(flags *flag.FlagSet) {
	flags.StringVar(&a.Input, "input", "", "shards: a `pattern` of files with Jobs and Pods, as podverdict report reads them")
	flags.StringVar(&a.policies, "policies", "", "`file` of custom policies, bindings, and Namespaces with their labels")
	flags.StringVar(&a.since, "since", "", "leave out attempts that ended before a `time`: 2026-11-01 (UTC) or 2026-11-01T06:00:00Z")
	flags.StringVar(&a.by, "by", "reason,code,rule,node,owner", "`sections` of the report")
	flags.IntVar(&a.Top, "top", 10, "rows of each section; 0 means all")
	flags.BoolVar(&a.Strict, "strict", false, "fail at a line that cannot be read; without it, such lines are left out and counted")
	flags.StringVar(&a.part, "part", "", "write part `i/n` of a report, without a runner: that of every n-th Job; i is from 0 to n-1")
	flags.StringVar(&a.merge, "merge", "", "write the report of all parts, without a runner: a `pattern` of their files")
	flags.StringVar(&a.Output, "output", "", "`file` to write")
}

func (a *arguments) run(ctx context.Context) error {
	if err := a.complete(); err != nil {
		return err
	}
	switch {
	case a.merge != "":
		a.Input = a.merge
		return fleet.MergeParts(ctx, a.Options)
	case a.part != "":
		var index, of uint64
		if n, err := fmt.Sscanf(a.part+"\n", "%d/%d\n", &index, &of); n < 2 || err != nil || index >= of {
			return fmt.Errorf("--part %s: must be as 0/8, up to 7/8", a.part)
		}
		return fleet.WritePart(ctx, a.Options, index, of, func(err error) { note(err.Error()) })
	}
	pipeline, root := beam.NewPipelineWithRoot()
	fleet.Build(root, a.Options)
	result, err := beamx.RunWithMetrics(ctx, pipeline)
	if err != nil {
		return err
	}
	summarize(result.Metrics())
	return nil
}

// complete parses the flags whose values are not stored in Options directly.
func (a *arguments) complete() (err error) {
	if (a.Input == "") == (a.merge == "") || a.Output == "" {
		return errors.New("give --input or --merge, and --output")
	}
	if a.policies != "" {
		if a.Policies, err = os.ReadFile(a.policies); err != nil {
			return err
		}
	}
	if a.since != "" {
		if a.Since, err = time.Parse(time.DateOnly, a.since); err != nil {
			if a.Since, err = time.Parse(time.RFC3339, a.since); err != nil {
				return fmt.Errorf("--since %s: must be as 2026-11-01 (UTC) or 2026-11-01T06:00:00Z", a.since)
			}
		}
		a.Since = a.Since.UTC()
	}
	for name := range strings.SplitSeq(a.by, ",") {
		if !slices.Contains(evidence.Dimensions(), name) {
			return fmt.Errorf("--by %s: must be some of %v", a.by, evidence.Dimensions())
		}
		a.By = append(a.By, name)
	}
	return nil
}

// summarize prints the number of objects read and of lines skipped.
func summarize(results metrics.Results) {
	count := map[string]int64{}
	for _, c := range results.AllMetrics().Counters() {
		if c.Namespace() == fleet.Namespace {
			count[c.Name()] += c.Result()
		}
	}
	fmt.Fprintf(os.Stderr, "%d Jobs and %d Pods read, %d lines that cannot be read left out, %d Jobs without verdicts\n",
		count["jobs"], count["pods"], count["broken"], count["unjudged"])
}
