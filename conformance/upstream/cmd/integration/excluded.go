package main

// notApplicable are the tests, as patterns of go test -skip, of what the controller is not to do.
var notApplicable = []struct{ test, reason string }{
	{"^TestManagedBy_Reenabling$", "the gate JobManagedBy is off, so that upstream's controller runs the Jobs of others"},
	{"^TestJobAdmissionParallelismUpdate$/^parallelism_update_blocked_for_gang-scheduled_job$", "it waits for the PodGroup of a gang, which is alpha and not supported"},
	{"^TestJobGangScheduling$", "gang scheduling is alpha and not supported: no PodGroup is made"},
}
