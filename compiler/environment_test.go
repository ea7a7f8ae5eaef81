package compiler

import (
	"fmt"
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
		"1.38":  `kubernetes version "1.38": supported are 1.28 to 1.37`,
		"2.30":  `kubernetes version "2.30": supported are 1.28 to 1.37`,
		"0.30":  `kubernetes version "0.30": supported are 1.28 to 1.37`,
		"":      `kubernetes version "": `,
		"1":     `kubernetes version "1": `,
		"newer": `kubernetes version "newer": `,
	} {
		if _, err := NewEnvironment(given); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", given, err, want)
		}
	}
}

// Compilations of one environment share what the checker found, so this is a test
// for the race detector.
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

// One text for a whole policy would not do: the parser refuses the largest one.
func TestLargestPolicyIsTooLongForOneText(t *testing.T) {
	env := newEnvironment(t, DefaultVersion)
	var policy Policy
	for rule := range MaxRules {
		var m PodConditions
		for i := range MaxPatterns {
			m.Patterns = append(m.Patterns, patternsOf(fmt.Sprintf("%0*d=True", longestType, rule*MaxPatterns+i))...)
		}
		policy.Rules = append(policy.Rules, Rule{Action: "Ignore", Match: m})
	}
	compiled, err := env.Compile(&policy)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range compiled.Rules {
		text, err := r.Source()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	whole := strings.Join(texts, " || ")
	if _, issues := env.FailedRules.Parse(whole); issues.Err() == nil {
		t.Errorf("the parser takes %d characters", len(whole))
	}
}
