package suites_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suites"
	"github.com/podverdict/podverdict/compiler"
)

// TestRunSideBySide checks that parallelism does not change the results and that Step is called
// once per case.
func TestRunSideBySide(t *testing.T) {
	const cases = 200
	loader := suites.Loader{Kubernetes: compiler.DefaultVersion}
	s, err := loader.Read(t.Context(), writeLarge(t, cases))
	if err != nil {
		t.Fatal(err)
	}
	written := func(o suites.Options) string {
		steps := make(chan struct{}, cases)
		o.Step = func() { steps <- struct{}{} }
		r := s.Run(t.Context(), o)
		if len(steps) != cases || !r.OK {
			t.Errorf("%d steps, %v", len(steps), r.Err)
		}
		var out bytes.Buffer
		if err := (suites.Report{Results: []suites.Result{r}}).Write(&out, "json"); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	several := runtime.GOMAXPROCS(1)
	alone := written(suites.Options{})
	runtime.GOMAXPROCS(max(several, 2))
	defer runtime.GOMAXPROCS(several)
	for range 3 {
		if diff := cmp.Diff(alone, written(suites.Options{})); diff != "" {
			t.Errorf("(-one +several)\n%s", diff)
		}
	}
}
