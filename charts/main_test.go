package charts

import (
	"log/slog"
	"os"
	"testing"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm logs its actions
	os.Exit(controlplane.Run(m))                   //nolint:forbidigo // main of the tests
}
