package main

const (
	noGates = "it switches off a gate that is GA; the controller has no gates"
	noGangs = "gang scheduling is alpha and not supported: there is no PodGroup"
)

// notApplicable are tests of what the controller is not to do, as patterns of go test -skip.
var notApplicable = []struct{ test, reason string }{
	{"^TestBackoffLimitPerIndex_Reenabling$", noGates},
	{"^TestDelayTerminalPhaseCondition$/(JobPodReplacementPolicy_and_JobManagedBy_disabled|completions;_JobPodReplacementPolicy_enabled|JobManagedBy_enabled|JobManagedBy_and_JobSuccessPolicy_are_enabled)$", noGates},
	{"^TestJobAdmissionParallelismUpdate$/^parallelism_update_blocked_for_gang-scheduled_job$", noGangs},
	{"^TestJobGangScheduling$", noGangs},
	{"^TestJobPodReplacementPolicy$/^feature_flag_(off|false)", noGates},
	{"^TestJobPodReplacementPolicyFeatureToggling$", noGates},
	{"^TestManagedBy$/feature_disabled$", noGates + " and never runs Jobs of others"},
	{"^TestManagedBy_Reenabling$", noGates + " and never runs Jobs of others"},
	{"^TestSuccessPolicy$/JobSuccessPolicy_is_disabled$", noGates},
}
