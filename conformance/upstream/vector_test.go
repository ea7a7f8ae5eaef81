package upstream

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/podverdict/podverdict/conformance"
)

// A vector written for a pair asks the question of that pair, hostile ones
// included: the parser accepts it, and upstream gives the verdict that it wants.
func TestFormatVectorCanBeCommitted(t *testing.T) {
	base, err := os.ReadFile("../vectors/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, hostile := range []bool{false, true} {
		g := conformance.NewGenerator(1, hostile)
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
			vectors, err := conformance.Load(fstest.MapFS{
				"base.yaml": {Data: base}, "generated/pair.txtar": {Data: []byte(text)},
			})
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			got, err := Matcher(t.Context(), vectors[0].Request())
			if err != nil || !got.Equal(want) || !vectors[0].Want.Equal(want) {
				t.Fatalf("verdict %+v, wanted %+v, error %v; want %+v from\n%s", got, vectors[0].Want, err, want, text)
			}
		}
	}
}
