package structure

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// portable are the packages that a page in a browser can use, with all that they import.
var portable = []string{"./compiler", "./compiler/custom", "./runtime", "./controller/plan", "./controller/simulation"}

func TestDecisionsBuildForWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles Kubernetes' API types and cel-go once more, for another architecture")
	}
	command := exec.CommandContext(t.Context(), "go", append([]string{"build"}, portable...)...)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("go build for js/wasm: %v\n%s", err, out)
	}
}

// TestPageLinksNoClusters keeps out of the program in a page what it has no use for: a new file of a package that reads clusters needs
// the build tag of the others.
func TestPageLinksNoClusters(t *testing.T) {
	for _, tags := range []string{"page", "constraints"} {
		command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags="+tags, "./cmd/podverdict")
		command.Dir = root
		command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go list for js/wasm: %v", err)
		}
		for linked := range strings.Lines(string(out)) {
			linked = strings.TrimSpace(linked)
			for _, large := range []string{"k8s.io/client-go/rest", "k8s.io/client-go/kubernetes", "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"} {
				if linked == large {
					t.Errorf("the program in a page, with the tag %s, links %s", tags, large)
				}
			}
			for _, large := range []string{"github.com/open-policy-agent/", "github.com/klauspost/compress/", "k8s.io/client-go/util/jsonpath"} {
				if tags == "page" && strings.HasPrefix(linked, large) {
					t.Errorf("the program in a page that has no constraints links %s", linked)
				}
			}
		}
	}
}
