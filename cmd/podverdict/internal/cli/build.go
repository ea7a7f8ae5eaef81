package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/podverdict/podverdict/compiler"
)

// Build is the version of the program and of what it is built from.
type Build struct {
	Version string `json:"version"`
	// Commit and Date are those of the source; a build from the module proxy or from an archive of the source does not know them.
	Commit     string `json:"commit,omitempty"`
	Date       string `json:"date,omitempty"`
	Revision   string `json:"revision,omitempty"` // Commit, as it was called first
	Go         string `json:"go"`
	CEL        string `json:"cel"`
	Kubernetes string `json:"kubernetes"`
}

// ReadBuild returns what the Go linker recorded. It reads no clock: builds of the same source are equal.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) Build {
	v := Build{Version: "(devel)", CEL: "unknown", Kubernetes: compiler.DefaultVersion, Go: info.GoVersion}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Commit, v.Revision = setting.Value, setting.Value
		case "vcs.time":
			v.Date = setting.Value
		}
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/google/cel-go" {
			v.CEL = module.Version
		}
	}
	return v
}

// String returns the version in a line.
func (v Build) String() string {
	source := ""
	if v.Commit != "" {
		source = fmt.Sprintf(", commit %.12s of %s", v.Commit, v.Date)
	}
	return fmt.Sprintf("podverdict %s%s, Kubernetes %s, cel-go %s, %s", v.Version, source, v.Kubernetes, v.CEL, v.Go)
}

// UserAgent returns the name that requests to API servers carry.
func UserAgent() string { return "podverdict/" + ReadBuild().Version }
