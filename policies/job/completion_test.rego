package podverdict.job_test

test_CM1_fires_on_unknown_mode if {
	said("CM1", changed(indexed, {"completionMode": "indexed"})) == {
		`spec.completionMode: Unsupported value: "indexed": supported values: "NonIndexed", "Indexed"`,
	}
}

test_CM1_silent_on_known_modes if {
	every object_ in [
		indexed,
		plain,
		changed(indexed, {"completionMode": "NonIndexed"}),
	] {
		said("CM1", object_) == set()
	}
}

test_CM2_fires_without_completions if {
	said("CM2", changed(indexed, {"completions": null})) == {
		`spec.completions: Required value: when completion mode is Indexed`,
	}
}

# The API server itself panics on this one.
test_CM2_fires_with_success_policy if {
	said(
		"CM2",
		changed(indexed, {"completions": null, "successPolicy": {"rules": [{"succeededIndexes": "0-3", "succeededCount": 2}]}}),
	) == {
		`spec.completions: Required value: when completion mode is Indexed`,
	}
}

test_CM2_fires_alone_with_success_policy if {
	findings := data.podverdict.job.findings with input as changed(indexed, {
		"completions": null,
		"successPolicy": {"rules": [{"succeededIndexes": "0-3", "succeededCount": 20}]},
	})
	{finding.id | some finding in findings} == {"CM2"}
}

test_CM2_silent_with_default if {
	every object_ in [
		changed(indexed, {"completions": null, "parallelism": null}),
		changed(plain, {"completions": null}),
	] {
		said("CM2", object_) == set()
	}
}

test_CM3_fires_on_dots if {
	said("CM3", object.union(indexed, {"metadata": {"name": "a.b"}})) == {
		`metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-9`,
	}
}

test_CM3_fires_on_long_names if {
	name := substring("a123456789b123456789c123456789d123456789e123456789f123456789g123456789", 0, 62)
	said("CM3", object.union(indexed, {"metadata": {"name": name}})) == {sprintf(
		"metadata.name: Invalid value: %q: will not able to create pod with invalid DNS label: %s-9",
		[name, name],
	)}
	said("CM3", object.union(indexed, {"metadata": {"name": substring(name, 0, 61)}})) == set()
}

test_CM3_silent_without_indexes if {
	every object_ in [
		object.union(plain, {"metadata": {"name": "a.b"}}),
		object.union(changed(indexed, {"completions": 0}), {"metadata": {"name": "a.b"}}),
	] {
		said("CM3", object_) == set()
	}
}

test_CM3_silent_on_generated_names if {
	said("CM3", object.union(object.remove(indexed, ["metadata"]), {"metadata": {"generateName": "a.b"}})) == set()
}
