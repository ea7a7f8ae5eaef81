package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/podverdict/podverdict/compiler"
)

// Build holds the version of the program, its source and its main dependencies.
type Build struct {
	Version string `json:"version"`
	// Commit and Date describe the source; builds from the module proxy or from a source archive lack them.
	Commit     string `json:"commit,omitempty"`
	Date       string `json:"date,omitempty"`
	Revision   string `json:"revision,omitempty"` // Commit, under its first name
	Go         string `json:"go"`
	CEL        string `json:"cel"`
	Kubernetes string `json:"kubernetes"`
}

// ReadBuild returns the build information recorded by the Go linker. It reads no clock, so builds of the same source are equal.
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

// String returns the version in one line.
func (v Build) String() string {
	source := ""
	if v.Commit != "" {
		source = fmt.Sprintf(", commit %.12s of %s", v.Commit, v.Date)
	}
	return fmt.Sprintf("podverdict %s%s, Kubernetes %s, cel-go %s, %s", v.Version, source, v.Kubernetes, v.CEL, v.Go)
}

// UserAgent returns the user agent of requests to API servers.
func UserAgent() string { return "podverdict/" + ReadBuild().Version }
