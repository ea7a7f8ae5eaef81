package cli

import (
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// addAtFlag adds nothing: the paths that the flag takes are read with the API server's schemas.
func addAtFlag(*pflag.FlagSet, *manifest.Options) {}
