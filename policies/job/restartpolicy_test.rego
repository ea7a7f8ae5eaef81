package podverdict.job_test

test_F19_fires_with_policy if {
	said("F19", changed(indexed, {"template": {"spec": {"restartPolicy": "OnFailure"}}, "podFailurePolicy": {}})) == {
		`spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`,
	}
}

test_F19_silent_without_policy_or_with_Never if {
	every object_ in [
		changed(indexed, {"template": {"spec": {"restartPolicy": "OnFailure"}}}),
		changed(indexed, {"template": {"spec": {"restartPolicy": "Never"}}, "podFailurePolicy": {}}),
	] {
		said("F19", object_) == set()
	}
}

test_F20_fires_on_Always if {
	said("F20", changed(indexed, {"template": {"spec": {"restartPolicy": "Always"}}})) == {
		`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`,
	}
}

test_F20_fires_without_restart_policy if {
	said("F20", changed(indexed, {"template": {"spec": {}}})) == {
		`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`,
	}
}

test_F20_silent_on_others if {
	every object_ in [
		changed(indexed, {"template": {"spec": {"restartPolicy": "Never"}}}),
		changed(indexed, {"template": {"spec": {"restartPolicy": "x"}}}),
	] {
		said("F20", object_) == set()
	}
}

test_F21_fires_on_unknown if {
	said("F21", changed(indexed, {"template": {"spec": {"restartPolicy": "never"}}})) == {
		`spec.template.spec.restartPolicy: Unsupported value: "never": supported values: "OnFailure", "Never"`,
	}
}

test_F21_silent_on_known if {
	every object_ in [
		changed(indexed, {"template": {"spec": {"restartPolicy": "Never"}}}),
		changed(indexed, {"template": {"spec": {"restartPolicy": "Always"}}}),
		changed(indexed, {"template": {"spec": {}}}),
	] {
		said("F21", object_) == set()
	}
}
