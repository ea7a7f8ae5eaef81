package podverdict.job_test

test_R1_fires_with_policy if {
	said("R1", changed(indexed, {"podFailurePolicy": {}, "podReplacementPolicy": "TerminatingOrFailed"})) == {
		`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`,
	}
}

test_R1_fires_on_empty if {
	said("R1", changed(indexed, {"podFailurePolicy": {}, "podReplacementPolicy": ""})) == {
		`spec.podReplacementPolicy: Unsupported value: "": supported values: "Failed"`,
	}
}

test_R1_silent_on_Failed_and_default if {
	every object_ in [
		changed(indexed, {"podFailurePolicy": {}, "podReplacementPolicy": "Failed"}),
		changed(indexed, {"podFailurePolicy": {}}),
		changed(indexed, {"podReplacementPolicy": "TerminatingOrFailed"}),
	] {
		said("R1", object_) == set()
	}
}

test_R2_fires_on_unknown if {
	said("R2", changed(indexed, {"podReplacementPolicy": "failed"})) == {
		`spec.podReplacementPolicy: Unsupported value: "failed": supported values: "Failed", "TerminatingOrFailed"`,
	}
}

test_R2_silent_on_known_and_default if {
	every object_ in [
		changed(indexed, {"podReplacementPolicy": "Failed"}),
		changed(indexed, {"podReplacementPolicy": "TerminatingOrFailed"}),
		indexed,
		changed(indexed, {"podFailurePolicy": {}, "podReplacementPolicy": "x"}),
	] {
		said("R2", object_) == set()
	}
}
