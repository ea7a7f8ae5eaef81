package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/suite"
	"github.com/podverdict/podverdict/compiler"
)

// TestDraftReplacesNothing: not even a suite that has appeared since it was looked for, and it leaves nothing behind.
func TestDraftReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	target, job := filepath.Join(dir, "x_test.yaml"), filepath.Join(dir, "job.yaml")
	for name, text := range map[string]string{
		target: "mine",
		job: "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, " +
			"spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}}}",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &console{}
	loader := &suite.Loader{Kubernetes: compiler.DefaultVersion}
	const passes = "{apiVersion: podverdict.io/v1alpha1, kind: Suite, job: job.yaml, cases: [{name: a, expect: {matched: false}}]}"
	if err := new(testInitOptions).write(t.Context(), c, loader, target, []byte(passes)); err == nil || !strings.Contains(err.Error(), "suite already") {
		t.Errorf("got %v", err)
	}
	fails := strings.Replace(passes, "false", "true", 1)
	if err := (&testInitOptions{force: true}).write(t.Context(), c, loader, target, []byte(fails)); err == nil || !strings.Contains(err.Error(), "does not pass") {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	if err := (&testInitOptions{force: true}).write(t.Context(), c, loader, target, []byte(passes)); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != passes {
		t.Errorf("%q, %v", data, err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
}
