package main

const (
	noGates = "it switches off a gate that is GA; the controller has no gates"
	noGangs = "gang scheduling is not supported: there is no PodGroup"
)

// notApplicable are tests of what the controller is not to do, as patterns of go test -skip.
var notApplicable = []struct{ test, reason string }{
	{"^TestJobDelegatedPodGroup$", noGangs},
	{"^TestJobGangScheduling$", noGangs},
	{"^TestJobGangSchedulingElasticScaling$", noGangs},
	{"^TestJobGangSchedulingSuspendResume$", noGangs},
	{"^TestManagedBy$/feature_disabled$", noGates + " and never runs Jobs of others"},
	{"^TestManagedBy_Reenabling$", noGates + " and never runs Jobs of others"},
}
