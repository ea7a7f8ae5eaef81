package structure

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPageLinksNoClusters checks that the playground's engines do not link packages that they cannot use. A new file that reads
// clusters needs the same build tag as the other files of its package.
func TestPageLinksNoClusters(t *testing.T) {
	clusters := []string{"k8s.io/client-go/rest", "k8s.io/client-go/kubernetes"}
	for _, engine := range []struct {
		program string
		avoids  []string
	}{
		{"./cmd/podverdict/page/constraints", clusters},
		{"./cmd/podverdict/page", append(clusters, "k8s.io/apimachinery/pkg/runtime/serializer/protobuf", "k8s.io/client-go/util/jsonpath",
			"github.com/open-policy-agent/opa/v1/ast", "github.com/klauspost/compress/zstd")},
	} {
		command := exec.CommandContext(t.Context(), "go", "list", "-deps", engine.program)
		command.Dir = root
		command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go list for js/wasm: %v", err)
		}
		linked := strings.Fields(string(out))
		for _, avoided := range engine.avoids {
			if slices.Contains(linked, avoided) {
				t.Errorf("the engine %s links %s", engine.program, avoided)
			}
		}
	}
}
