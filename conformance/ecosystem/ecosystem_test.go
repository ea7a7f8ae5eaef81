package ecosystem

import (
	"errors"
	"os"
	"path/filepath"
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
	{folder: "podsready", programs: []program{jobset, kueue}, more: `
waitForPodsReady:
  timeout: 10s
  recoveryTimeout: 6s
  requeuingStrategy: {backoffBaseSeconds: 4, backoffLimitCount: 2}
`},
}

// TestEcosystem runs the scenarios of all suites, one suite after the other.
func TestEcosystem(t *testing.T) {
	w := newEcosystem(t, "")
	w.createNode(t)
	defer w.startController(t)()
	for _, s := range suites {
		t.Run(s.folder, func(t *testing.T) { w.in(t).play(t, s) })
	}
}

// play installs what a suite needs, and runs its scenarios at the same time.
func (w *ecosystem) play(t *testing.T, s suite) {
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
			Setup:               func(env *testscript.Env) error { return errors.Join(share(env.WorkDir), setUp(env)) },
			Cmds:                scripted(),
		})
	})
}

// share puts the files that are beside the folders of testdata into that of a scenario, unless it has its own of that name.
func share(folder string) error {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		own := filepath.Join(folder, filepath.Base(file))
		if _, err := os.Stat(own); err == nil {
			continue
		}
		content, err := os.ReadFile(file)
		if err := errors.Join(err, os.WriteFile(own, content, 0o600)); err != nil {
			return err
		}
	}
	return nil
}
