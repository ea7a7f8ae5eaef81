package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bench builds and runs test programs, in a folder of its own.
type bench struct {
	root, folder string
	skip         string
	overlay      string
	journal      *journal

	lock     sync.Mutex
	programs map[string]*program
}

// program is the tests of a package, with all mutants in it.
type program struct {
	file, folder string
	skip         string
	limit        time.Duration
}

func newBench(o options, j *journal) (*bench, error) {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mutate-")
	return &bench{root: root, folder: folder, skip: o.skip, journal: j, programs: map[string]*program{}}, err
}

var named = regexp.MustCompile(`mutant(\d+)\.go:`)

// prepare draws mutants until all compile.
func (b *bench) prepare(ctx context.Context, queues []*queue) ([]*trial, error) {
	invalid := map[*mutant]bool{}
	for {
		trials, mutants := draw(queues, invalid)
		var err error
		if b.overlay, err = writeOverlay(b.root, b.folder, mutants); err != nil {
			return nil, err
		}
		arguments := []string{"build", "-gcflags=-e", "-overlay=" + b.overlay}
		for _, s := range suites {
			arguments = append(arguments, "./"+s.mutated)
		}
		output, err := b.command(ctx, arguments...).CombinedOutput()
		if err == nil {
			return trials, nil
		}
		before := len(invalid)
		for _, match := range named.FindAllSubmatch(output, -1) {
			if number, err := strconv.Atoi(string(match[1])); err == nil {
				invalid[mutants[number]] = true
			}
		}
		if len(invalid) == before {
			return nil, fmt.Errorf("%w: %s", err, output)
		}
	}
}

func (b *bench) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // builds what the table of suites names
	command.Dir = b.root
	return command
}

// try runs tests on the mutant until one notices it, and writes down what came of each package's.
func (b *bench) try(ctx context.Context, t *trial) (*outcome, error) {
	o := b.journal.outcome(t.mutant)
	for _, tested := range t.tests {
		name := tested
		if b.skip != "" {
			name += " without " + b.skip
		}
		if o.Killed != "" || slices.Contains(o.Ran, name) {
			continue
		}
		p, err := b.program(ctx, tested)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if by := p.test(ctx, t.number); by != "" {
			o.Killed = tested + ": " + by
		}
		if ctx.Err() != nil {
			return nil, ctx.Err() // what was interrupted says nothing
		}
		o.Ran = append(o.Ran, name)
		o.Seconds += time.Since(start).Seconds()
		if err := b.journal.write(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// program builds the tests of a package when they are needed first, and has them pass without a mutant. A mutant may take four
// times as long, and a minute.
func (b *bench) program(ctx context.Context, tested string) (*program, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if p := b.programs[tested]; p != nil {
		return p, nil
	}
	p := &program{
		file: filepath.Join(b.folder, strings.ReplaceAll(tested, "/", "_")+".test"), folder: filepath.Join(b.root, filepath.FromSlash(tested)),
		skip: b.skip, limit: time.Hour,
	}
	output, err := b.command(ctx, "test", "-c", "-vet=off", "-overlay="+b.overlay, "-o", p.file, "./"+tested).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("build the tests of %s: %w: %s", tested, err, output)
	}
	start := time.Now()
	if by := p.test(ctx, 0); by != "" {
		return nil, fmt.Errorf("tests of %s fail without a mutant: %s", tested, by)
	}
	p.limit = 4*time.Since(start) + time.Minute
	b.programs[tested] = p
	return p, nil
}

// test returns the name of the test that notices the mutant, or how else the program ended, or nothing. On a busy machine, tests
// that measure time fail now and then: a test that passes alone is left out, and the others decide. Tests run in full only if
// their short forms notice nothing.
func (p *program) test(ctx context.Context, number int) string {
	if by := p.testForm(ctx, number, "-test.short"); by != "" {
		return by
	}
	return p.testForm(ctx, number, "-test.short=false")
}

func (p *program) testForm(ctx context.Context, number int, form string) string {
	skip := p.skip
	for {
		by, named := p.start(ctx, number, form, "-test.skip="+skip)
		if !named {
			return by
		}
		if again, _ := p.start(ctx, number, form, "-test.run=^"+by+"$"); again != "" {
			return by
		}
		skip = strings.TrimPrefix(skip+"|^"+by+"$", "|")
	}
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: ([^/\s]+)`)

// start runs the program, and tells whether it has named the test that fails. A mutant must not take all memory.
func (p *program) start(ctx context.Context, number int, flags ...string) (by string, named bool) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	script := `ulimit -d 12000000; exec "$0" -test.failfast "$@"`
	command := exec.CommandContext(ctx, "sh", append([]string{"-c", script, p.file}, flags...)...) //nolint:gosec // runs what was built
	command.Dir, command.Env = p.folder, append(os.Environ(), fmt.Sprintf("%s=%d", variable, number))
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	found := failed.FindSubmatch(output)
	switch {
	case err == nil:
		return "", false
	case ctx.Err() != nil:
		return "not done in " + p.limit.Round(time.Second).String(), false
	case found != nil:
		return string(found[1]), true
	default:
		return err.Error(), false
	}
}
