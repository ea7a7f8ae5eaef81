package cli

import (
	"runtime/debug"
	"testing"

	"github.com/podverdict/podverdict/compiler"
)

// A bug report names the commit, regardless of how the program was built.
func TestVersionNamesTheSource(t *testing.T) {
	cel := &debug.Module{Path: "github.com/google/cel-go", Version: "v0.29.2"}
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"a tagged commit": {
			&debug.BuildInfo{
				GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.1.0"}, Deps: []*debug.Module{cel},
				Settings: []debug.BuildSetting{
					{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-20T10:00:00Z"},
				},
			},
			"podverdict v0.1.0, commit 0123456789ab of 2026-11-20T10:00:00Z, Kubernetes " + compiler.DefaultVersion + ", cel-go v0.29.2, go1.26.0",
		},
		"go install with a version": {
			&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.1.0"}, Deps: []*debug.Module{cel}},
			"podverdict v0.1.0, Kubernetes " + compiler.DefaultVersion + ", cel-go v0.29.2, go1.26.0",
		},
		"no version": {
			&debug.BuildInfo{GoVersion: "go1.26.0"},
			"podverdict (devel), Kubernetes " + compiler.DefaultVersion + ", cel-go unknown, go1.26.0",
		},
	} {
		if got := buildOf(test.info).String(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
