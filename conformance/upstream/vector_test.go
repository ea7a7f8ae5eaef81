package upstream

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/generators"
	"github.com/podverdict/podverdict/conformance/vectors"
)

// A vector written for a pair asks the question of that pair, hostile ones
// included: the parser accepts it, and upstream gives the verdict that it wants.
func TestFormatVectorCanBeCommitted(t *testing.T) {
	base, err := os.ReadFile("../vectors/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, hostile := range []bool{false, true} {
		g := generators.NewPairs(1, hostile)
		for i := range 300 {
			r := conformance.Request{Policy: g.Policy(), Pod: g.Pod()}
			if i%8 == 0 {
				r.Kubernetes = "1.28"
			}
			want, err := Matcher(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := FormatVector(r, want)
			if err != nil {
				t.Fatal(err)
			}
			all, err := vectors.Load(fstest.MapFS{
				"base.yaml": {Data: base}, "generated/pair.txtar": {Data: []byte(text)},
			})
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			got, err := Matcher(t.Context(), all[0].Request())
			if err != nil || !got.Equal(want) || !all[0].Want.Equal(want) {
				t.Fatalf("verdict %+v, wanted %+v, error %v; want %+v from\n%s", got, all[0].Want, err, want, text)
			}
		}
	}
}
