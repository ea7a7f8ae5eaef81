package structure

import (
	"os"
	"os/exec"
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
