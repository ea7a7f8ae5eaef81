package charts

import (
	"log/slog"
	"os"
	"testing"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm logs each link that it follows when it reads the chart, and log goes the same way
	os.Exit(controlplane.Run(m))                   //nolint:forbidigo // main of the tests
}
