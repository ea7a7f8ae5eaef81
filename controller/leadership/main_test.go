//go:build cluster

package leadership_test

import (
	"os"
	"testing"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}
