// Mutate changes the engine and the Job controller in one small way at a time, and finds the changes that no test
// notices. It never writes to the tree: all changes are built into the test programs at once, by the -overlay of the go
// command, and each run of a program chooses one. Each result is a line of a file, so that an interrupted run goes on
// where it stopped. When a source file has changed, its mutants are tested again.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"sync"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"
)

// suites are the packages that are mutated, and the tests that may notice, the cheapest first. They run the code in their own process.
var suites = []struct {
	mutated string
	tests   []string
}{
	{"controller/plan", []string{"controller/plan", "controller/simulation", "conformance/lives", "controller"}},
	{"controller", []string{"controller"}},
	{"controller/caches", []string{"controller/caches", "controller/running", "controller"}},
	{"controller/fair", []string{"controller/fair", "controller/recorder", "controller/pending"}},
	{"controller/leadership", []string{"controller/leadership"}},
	{"controller/metrics", []string{"controller/metrics", "controller/observing", "controller"}},
	{"controller/observing", []string{"controller/observing", "controller"}},
	{"controller/pending", []string{"controller/pending", "controller"}},
	{"controller/policies", []string{"controller/policies", "controller"}},
	{"controller/recorder", []string{"controller/recorder", "controller"}},
	{"controller/running", []string{"controller/running", "controller"}},
	{"controller/serving", []string{"controller/serving"}},
	{"runtime", []string{"runtime", "runtime/binding", "controller", "conformance"}},
	{"runtime/binding", []string{"runtime/binding", "controller", "controller/simulation"}},
	{"runtime/closure", []string{"runtime", "conformance"}},
	{"runtime/metered", []string{"runtime"}},
	{"runtime/rego", []string{"runtime/rego", "conformance"}},
	{"compiler/custom", []string{"compiler/custom", "runtime", "controller"}},
	{"compiler/library", []string{"compiler/library", "runtime"}},
	{"compiler/schema", []string{"compiler/schema", "controller/caches", "runtime"}},
}

type options struct {
	root, results string
	skip          string
	count         int
	seed          uint64
	workers       int
	again         bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", "..", "the repository's root")
	flag.StringVar(&o.results, "results", "../.cache/mutants.jsonl", "the file of results, which is read first")
	flag.IntVar(&o.count, "n", 200, "how many mutants that compile")
	flag.Uint64Var(&o.seed, "seed", 1, "choose them by this number")
	flag.IntVar(&o.workers, "workers", 1, "how many mutants are tested at once")
	flag.BoolVar(&o.again, "again", false, "test the survivors again")
	flag.StringVar(&o.skip, "skip", "", "leave out the tests that match this, for a first look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := o.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// queue is a package's mutants, in the order in which they are drawn.
type queue struct {
	tests   []string
	mutants []*mutant
	total   int
	share   int
}

// newQueues shares the mutants out among the packages, by the number of those that they have.
func newQueues(o options) ([]*queue, error) {
	var queues []*queue
	for _, s := range suites {
		mutants, err := mutantsOf(o.root, s.mutated)
		if err != nil {
			return nil, err
		}
		q := &queue{tests: s.tests, total: len(mutants)}
		random := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // a sample, to be drawn again by its seed
		random.Shuffle(len(mutants), func(i, k int) { mutants[i], mutants[k] = mutants[k], mutants[i] })
		q.mutants = slices.DeleteFunc(mutants, func(m *mutant) bool { return m.function == nil }) // nothing could choose those
		queues = append(queues, q)
	}
	for range o.count {
		behind := slices.MinFunc(queues, func(a, b *queue) int { return cmp.Compare((a.share+1)*b.total, (b.share+1)*a.total) })
		behind.share++
	}
	return queues, nil
}

// trial is a mutant to be tested.
type trial struct {
	*mutant

	number int
	tests  []string
}

// draw returns the shares of all packages, one after the other from each, and their mutants by number. Those that do not compile are left out.
func draw(queues []*queue, invalid map[*mutant]bool) ([]*trial, map[int]*mutant) {
	var trials []*trial
	mutants := map[int]*mutant{}
	for i := range slices.MaxFunc(queues, func(a, b *queue) int { return cmp.Compare(a.share, b.share) }).share {
		for _, q := range queues {
			q.mutants = slices.DeleteFunc(q.mutants, func(m *mutant) bool { return invalid[m] })
			if i < min(q.share, len(q.mutants)) {
				t := &trial{q.mutants[i], len(trials) + 1, q.tests}
				trials, mutants[t.number] = append(trials, t), t.mutant
			}
		}
	}
	return trials, mutants
}

func (o options) run(ctx context.Context, w io.Writer) error {
	queues, err := newQueues(o)
	if err != nil {
		return err
	}
	j, err := openJournal(o)
	if err != nil {
		return err
	}
	b, err := newBench(o, j)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	trials, err := b.prepare(ctx, queues)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	var outcomes []*outcome
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.workers)
	for _, t := range trials {
		group.Go(func() error {
			result, err := b.try(ctx, t)
			if err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			outcomes = append(outcomes, result)
			fmt.Fprintf(w, "%3d/%d %s\n", len(outcomes), len(trials), result)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return report(w, outcomes)
}

// report writes a table of the packages and a list of the survivors.
func report(w io.Writer, outcomes []*outcome) error {
	type tally struct{ mutants, killed int }
	tallies := map[string]tally{}
	slices.SortFunc(outcomes, func(a, b *outcome) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	var rows []string
	for _, result := range outcomes {
		for _, row := range []string{result.Package, "all"} {
			t := tallies[row]
			t.mutants++
			if result.Killed != "" {
				t.killed++
			}
			tallies[row] = t
		}
		if !slices.Contains(rows, result.Package) {
			rows = append(rows, result.Package)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "package\tmutants\tkilled\tsurvived\t")
	for _, row := range append(rows, "all") {
		t := tallies[row]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", row, t.mutants, t.killed, t.mutants-t.killed)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, result := range outcomes {
		if result.Killed == "" {
			fmt.Fprintln(w, result)
		}
	}
	return nil
}
