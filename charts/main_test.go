package charts

import (
	"io"
	"log"
	"os"
	"testing"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)    // Helm logs each link that it follows when it reads the chart
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}
