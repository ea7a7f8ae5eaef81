package jobset

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"
)

// TestCheck overlays parts of a valid JobSet.
func TestCheck(t *testing.T) {
	const (
		plain = "{name: a, template: {spec: {template: {spec: {containers: [{name: main}]}}}}}"
		codes = "{name: a, template: {spec: {backoffLimit: 2147483647, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}, " +
			"{action: FailJob, onExitCodes: {containerName: main, operator: In, values: [42, 43]}}]}, template: {spec: {containers: [{name: main}]}}}}}"
		endless = "{name: b, template: {spec: {backoffLimit: 2147483647, template: {spec: {containers: [{name: main}]}}}}}"
		foreign = "{name: a, template: {spec: {managedBy: example.com/mine, template: {spec: {containers: [{name: main}]}}}}}"
		inPlace = "{name: a, template: {spec: {backoffLimit: 2147483647, podReplacementPolicy: Failed, completions: 2, parallelism: 2}}}"
	)
	long := strings.Repeat("x", 60)
	for _, test := range []struct {
		jobs, spec string
		want       []string
	}{
		{jobs: plain},
		{plain, "failurePolicy: {maxRestarts: 3, rules: [{action: FailJobSet, onJobFailureReasons: [BackoffLimitExceeded, PodFailurePolicy]}, {action: RestartJobSet}]}", nil},
		{plain + ", " + plain, "", []string{`jobset-invalid spec.replicatedJobs[1].name: "a" is there twice`}},
		{plain, "successPolicy: {operator: All, targetReplicatedJobs: [aa]}", []string{`jobset-invalid spec.successPolicy.targetReplicatedJobs[0]: there is no replicatedJob "aa" (did you mean "a"?)`}},
		{"{name: a, dependsOn: [{name: b, status: Ready}]}, {name: b, dependsOn: [{name: c, status: Ready}]}, {name: c, dependsOn: [{name: b, status: Ready}]}", "", []string{
			"jobset-invalid spec.replicatedJobs[0].dependsOn: the first replicatedJob must not depend on another",
			`jobset-invalid spec.replicatedJobs[0].dependsOn[0].name: "b" is no replicatedJob before this one (there are a)`,
			`jobset-invalid spec.replicatedJobs[1].dependsOn[0].name: "c" is no replicatedJob before this one (there are a, b)`,
		}},
		{"{name: a, replicas: 70000, template: {spec: {parallelism: 70000}}}", "", []string{"jobset-invalid spec.replicatedJobs[0].replicas: replicas times parallelism must be at most 2147483647, not 4900000000"}},
		{"{name: " + long + ", replicas: 1}", "", []string{`jobset-invalid spec.replicatedJobs[0].name: the name of a Job or Pod would be "set-` + long + `-0": must be no more than 63 characters`}},
		{inPlace, "failurePolicy: {restartStrategy: InPlaceRestart}", nil},
		{plain, "failurePolicy: {restartStrategy: InPlaceRestart}", []string{
			"jobset-invalid spec.replicatedJobs[0].template.spec.backoffLimit: must be 2147483647 (the restartStrategy InPlaceRestart demands it, so that no failed Pod ends the Job)",
			"jobset-invalid spec.replicatedJobs[0].template.spec.podReplacementPolicy: must be Failed (the restartStrategy InPlaceRestart demands it, so that no failed Pod ends the Job)",
			"jobset-invalid spec.replicatedJobs[0].template.spec.completions: completions and parallelism must be set and equal (the restartStrategy InPlaceRestart demands it, so that no failed Pod ends the Job)",
		}},
		{plain, "failurePolicy: {restartStrategy: Recrate}", []string{`jobset-invalid spec.failurePolicy.restartStrategy: there is no strategy "Recrate" (did you mean "Recreate"?)`}},
		{plain, "failurePolicy: {rules: [{action: FailJobset, name: 1x}, {action: RestartJobSet, name: 1x, targetReplicatedJobs: [wrong]}]}", []string{
			`jobset-invalid spec.failurePolicy.rules[0].action: there is no action "FailJobset" (did you mean "FailJobSet"?)`,
			"jobset-invalid spec.failurePolicy.rules[0].name: must begin with a letter, go on with letters, digits, _ , and :, and have at most 128 characters",
			"jobset-invalid spec.failurePolicy.rules[1].name: must begin with a letter, go on with letters, digits, _ , and :, and have at most 128 characters",
			`jobset-invalid spec.failurePolicy.rules[1].targetReplicatedJobs[0]: there is no replicatedJob "wrong" (there are a)`,
			`jobset-invalid spec.failurePolicy.rules[1].name: rule 0 is called "1x" too`,
		}},
		{"{name: a, replicas: 1025}", "failurePolicy: {rules: [{action: RestartJob}]}", []string{"jobset-invalid spec.failurePolicy.rules[0].action: RestartJob does not go with more than 1024 replicas"}},
		{plain, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [BackofLimitExceeded]}]}", []string{
			`jobset-invalid spec.failurePolicy.rules[0].onJobFailureReasons[0]: no Job fails with reason "BackofLimitExceeded" (did you mean "BackoffLimitExceeded"?)`,
		}},
		{plain, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}", []string{
			"jobset-unreachable-rule spec.failurePolicy.rules[0].onJobFailureReasons: no Job that this rule is for can fail with it, but only with BackoffLimitExceeded",
		}},
		{foreign, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}", nil},
		{codes, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [BackoffLimitExceeded, FailedIndexes]}]}", []string{
			"jobset-unreachable-rule spec.failurePolicy.rules[0].onJobFailureReasons: no Job that this rule is for can fail with it, but only with PodFailurePolicy",
		}},
		{codes + ", " + endless, "failurePolicy: {rules: [{action: FailJobSet, targetReplicatedJobs: [b]}]}", []string{
			"jobset-unreachable-rule spec.failurePolicy.rules[0]: no Job that this rule is for can fail",
		}},
		{codes, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['exit code 4[2-9]', 'x']}]}", nil},
		{codes, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['exit code 44']}, {action: FailJobSet, onJobFailureMessagePatterns: [x, '(']}]}", []string{
			`jobset-unreachable-rule spec.failurePolicy.rules[0].onJobFailureMessagePatterns: no Job that this rule is for can fail with such a message, but for example with ` +
				`"Container main for pod .../... failed with exit code 42 matching FailJob rule at index 1" or "Container main for pod .../... failed with exit code 43 matching FailJob rule at index 1"`,
			"jobset-pattern-invalid spec.failurePolicy.rules[1].onJobFailureMessagePatterns[1]: error parsing regexp: missing closing ): `(`; it matches no message",
		}},
		{plain, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [BackoffLimitExceeded]}, {action: RestartJobSet, onJobFailureReasons: [BackoffLimitExceeded], targetReplicatedJobs: [a]}]}", []string{
			"jobset-unreachable-rule spec.failurePolicy.rules[1]: rule 0 applies to all failures that this rule is for",
		}},
	} {
		set := &v1alpha2.JobSet{}
		if err := yaml.UnmarshalStrict(fmt.Appendf(nil, "kind: JobSet\nmetadata: {name: set}\nspec: {replicatedJobs: [%s], %s}", test.jobs, test.spec), set); err != nil {
			t.Fatal(err)
		}
		for i := range set.Spec.ReplicatedJobs {
			set.Spec.ReplicatedJobs[i].Replicas = max(set.Spec.ReplicatedJobs[i].Replicas, 1)
		}
		SetDefaults(set)
		var got []string
		for _, f := range Check(set) {
			text := f.Check + " " + f.Field + ": " + f.Message
			if f.Hint != "" {
				text += " (" + f.Hint + ")"
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, %s: -want +got:\n%s", test.jobs, test.spec, diff)
		}
	}
}

// TestMayMatch checks that a pattern reported as not matching matches no text, whatever fills the holes, and that without holes the result
// equals that of regexp.
func TestMayMatch(t *testing.T) {
	fixed := shape{"Container main for pod ", hole, "/", hole, " failed with exit code 42 matching FailJob rule at index 0"}
	for pattern, want := range map[string]bool{
		"": true, "exit code 42": true, "exit code 43": false, "exit code 4$": false, "^Container": true, "^ontainer": false, "index 0$": true,
		"pod ml/train-[a-z]+-0 failed": true, "pod ml/Train": false, `(?i)CONTAINER MAIN`: true, `\bmain\b`: true, "for pod$": false,
		"(a|b)/x{3} ": true, "pod .* index": true, `\d{5} failed`: true, "Job has": false, "^$": false, "(": false, `main (for|by)`: true,
	} {
		if got := mayMatch(pattern, fixed); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
	pattern := rapid.StringMatching(`(\^)?([ab.1 ]|a\*|b\+|\[ab\]|\(a\|b1\)|1\?){0,5}(\$)?`)
	filling := rapid.StringMatching(`[ab1]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		expression, before, after := pattern.Draw(t, "pattern"), filling.Draw(t, "before"), filling.Draw(t, "after")
		matches := regexp.MustCompile(expression).MatchString(" " + before + " " + after)
		if matches && !mayMatch(expression, shape{" ", hole, " ", hole}) {
			t.Fatalf("%q matches with %q and %q", expression, before, after)
		}
		if got := mayMatch(expression, shape{" ", before, " ", after}); got != matches {
			t.Fatalf("%q: %v for %q and %q", expression, got, before, after)
		}
	})
}
