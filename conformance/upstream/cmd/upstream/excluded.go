package main

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

const (
	noGates = "it switches off a gate that is GA; the controller has no gates"
	noGangs = "gang scheduling is not supported: there is no PodGroup"
)

// An exclusion is a test of behaviour that the controller does not have, as a pattern for go test -skip.
type exclusion struct {
	test, reason string
	before       *version.Version // the first release without the test; nil if the newest has it
}

var v137 = version.MajorMinor(1, 37)

var exclusions = []exclusion{
	{"^TestBackoffLimitPerIndex_Reenabling$", noGates, v137},
	{"^TestDelayTerminalPhaseCondition$/(JobPodReplacementPolicy_and_JobManagedBy_disabled|completions;_JobPodReplacementPolicy_enabled|JobManagedBy_enabled|JobManagedBy_and_JobSuccessPolicy_are_enabled)$", noGates, v137},
	{"^TestJobAdmissionParallelismUpdate$/^parallelism_update_blocked_for_gang-scheduled_job$", noGangs, v137},
	{"^TestJobDelegatedPodGroup$", noGangs, nil},
	{"^TestJobGangScheduling$", noGangs, nil},
	{"^TestJobGangSchedulingElasticScaling$", noGangs, nil},
	{"^TestJobGangSchedulingSuspendResume$", noGangs, nil},
	{"^TestJobPodReplacementPolicy$/^feature_flag_(off|false)", noGates, v137},
	{"^TestJobPodReplacementPolicyFeatureToggling$", noGates, v137},
	{"^TestManagedBy$/feature_disabled$", noGates + " and never runs Jobs of others", nil},
	{"^TestManagedBy_Reenabling$", noGates + " and never runs Jobs of others", nil},
	{"^TestSuccessPolicy$/JobSuccessPolicy_is_disabled$", noGates, v137},
}

// function returns the name of the test function.
func (e exclusion) function() string {
	name, _, _ := strings.Cut(strings.Trim(e.test, "^"), "$")
	return name
}

// notApplicable returns the exclusions that match tests of a release.
func notApplicable(release, tests string) []exclusion {
	return slices.DeleteFunc(slices.Clone(exclusions), func(e exclusion) bool {
		return e.before != nil && version.MustParseGeneric(release).AtLeast(e.before) || !strings.Contains(tests, "func "+e.function()+"(")
	})
}
