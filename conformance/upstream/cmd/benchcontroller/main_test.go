package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) }

func TestBenchController(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	var stdout, stderr bytes.Buffer
	args := []string{"-n", "2,3", "-runs", "1", "-shapes", "succeed", "-qps", "500", "-burst", "10", "-cpuprofile", profile}
	if code := benchcontroller(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, stderr:\n%s", code, &stderr)
	}
	for _, want := range []string{
		`(?m)^\| 2 succeed, until Complete \| 1 \| \d+\.\d\d \|`,
		`(?m)^\| 3 succeed, until the last finalizer is gone \| 1 \| \d+\.\d\d \|`,
		`(?m)^\| pods, calls of upstream / podverdict \|.* update jobs/status \| create pods \| patch pods \|$`,
		`(?m)^\| 3 succeed, until the last finalizer is gone \|.* 3 / 3 \| [3-9] / 3 \|$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("no %s in\n%s", want, &stdout)
		}
	}
	if order := "upstream\n3 pods succeed, run 1 of 1: podverdict\n"; !strings.HasSuffix(stderr.String(), order) {
		t.Errorf("stderr:\n%s", &stderr)
	}
	if info, err := os.Stat(profile); err != nil || info.Size() == 0 {
		t.Errorf("the profile: %v, %v", info, err)
	}
}

func TestBenchControllerInterrupted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := benchcontroller(interrupted(t), nil, &stdout, &stderr)
	if code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "benchcontroller: interrupted") {
		t.Errorf("exit code %d, stderr:\n%s", code, &stderr)
	}
}

func interrupted(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestBenchControllerRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"-n", "0"}, {"-n", "10,"}, {"-n", "many"}, {"-n", "10001"}, {"-shapes", "hang"}, {"-until", "later"}, {"-runs", "-1"},
		{"-qps", "0"}, {"-qps", "NaN"}, {"-qps", "fast"}, {"-burst", "0"}, {"-frob"}, {"10"}, {"-cpuprofile", "/nowhere/profile"},
	} {
		var stdout, stderr bytes.Buffer
		code := benchcontroller(interrupted(t), args, &stdout, &stderr) // what is not refused must not run for minutes
		if code != 2 || stderr.Len() == 0 || strings.Contains(stderr.String(), "interrupted") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 2 and an error", args, code, &stdout, &stderr)
		}
	}
}
