package main

import (
	"slices"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	got := targets(strings.NewReader("FuzzA\nFuzzB\nok  \tm/a\t0.01s\nok  \tm/b\t0.01s\n?   \tm/c\t[no test files]\nFuzzA\nok  \tm/d\t(cached)\n"))
	if want := []target{{"m/a", "FuzzA"}, {"m/a", "FuzzB"}, {"m/d", "FuzzA"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNoTarget(t *testing.T) {
	if err := run("1s", nil); err == nil {
		t.Error("modules without targets pass")
	}
}
