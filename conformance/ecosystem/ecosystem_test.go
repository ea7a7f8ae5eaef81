package ecosystem

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A suite is a folder of scenarios, and what they need in the cluster beside the Job controllers.
type suite struct {
	folder   string
	programs []program
	more     string // configuration of the last program
}

var suites = []suite{
	{folder: "jobset", programs: []program{jobset}},
	{folder: "cronjob"},
	{folder: "kueue", programs: []program{jobset, kueue}},
	{folder: "podsready", programs: []program{kueue}, more: `
waitForPodsReady:
  timeout: 10s
  recoveryTimeout: 6s
  requeuingStrategy: {backoffBaseSeconds: 4, backoffLimitCount: 2}
`},
}

// TestEcosystem runs the scenarios of all suites, one suite after the other.
func TestEcosystem(t *testing.T) {
	w := newWorld(t, "")
	w.createNode(t)
	defer w.startController(t)()
	for _, s := range suites {
		t.Run(s.folder, func(t *testing.T) { w.in(t).play(t, s) })
	}
}

// play installs what a suite needs, and runs its scenarios at the same time.
func (w *world) play(t *testing.T, s suite) {
	t.Helper()
	for i, p := range s.programs {
		more := ""
		if i == len(s.programs)-1 {
			more = s.more
		}
		w.install(t, p, more)
	}
	w.watch(t)
	playFolder(t, s.folder, w.setUp)
}

// playFolder runs the scenarios of a folder of testdata at the same time.
func playFolder(t *testing.T, folder string, setUp func(*testscript.Env) error) {
	t.Helper()
	t.Run("scenarios", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata/" + folder,
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			Setup:               setUp,
			Cmds:                scripted(),
		})
	})
}
