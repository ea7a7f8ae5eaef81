package compiler

import (
	"strings"
	"sync"
	"testing"
)

func TestVersions(t *testing.T) {
	for given, want := range map[string]string{
		"1.28": "1.28", "1.29": "1.29", DefaultVersion: "1.37", "v1.30": "1.30", "1.30.5": "1.30", "v1.37.2-rc.0+abc": "1.37",
	} {
		env, err := NewEnvironment(given)
		if err != nil {
			t.Errorf("%s: %v", given, err)
		} else if env.Kubernetes != want {
			t.Errorf("%s is taken as %s", given, env.Kubernetes)
		}
	}
	for given, want := range map[string]string{
		"1.27":  `kubernetes version "1.27": supported are 1.28 to 1.37`,
		"":      `kubernetes version "": `,
		"newer": `kubernetes version "newer": `,
	} {
		if _, err := NewEnvironment(given); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", given, err, want)
		}
	}
}

// TestCompilingConcurrently is a test for the race detector: compilations with one environment
// share type-check results.
func TestCompilingConcurrently(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for n := range 12 {
				rule, err := env.compileRule(Rule{Action: "FailJob", Match: ExitCodes{Operator: In, Values: make([]int32, n)}})
				if err != nil {
					t.Errorf("%d values: %v", n, err)
					return
				}
				sameWhenParsed(t, env, rule)
			}
		})
	}
	group.Wait()
}
