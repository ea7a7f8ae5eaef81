//go:build cluster

package controlplane_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// buildTests compiles the tests of a package that go test ./... leaves out.
func buildTests(t *testing.T, path string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "tests")
	if out, err := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", binary, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
