package podverdict.job_test

test_U1_fires_on_change if {
	said(
		"U1",
		updated({"selector": {"matchLabels": {"a": "b"}}}, {"selector": {"matchLabels": {"a": "c"}, "matchExpressions": [{"key": "k", "operator": "Exists"}]}}),
	) == {
		`spec.selector: Invalid value: {"matchLabels":{"a":"c"},"matchExpressions":[{"key":"k","operator":"Exists"}]}: field is immutable`,
	}
}

test_U1_fires_on_removal if {
	said("U1", updated({"selector": {"matchLabels": {"a": "b"}}}, {})) == {
		`spec.selector: Invalid value: null: field is immutable`,
	}
}

test_U1_silent_on_the_same if {
	every object_ in [
		updated({}, {"selector": null}),
		updated({"selector": {}}, {"selector": {"matchLabels": {}, "matchExpressions": []}}),
		updated({"selector": {"matchExpressions": [{"key": "k", "operator": "Exists"}]}}, {"selector": {"matchExpressions": [{"key": "k", "operator": "Exists", "values": []}]}}),
		indexed,
	] {
		said("U1", object_) == set()
	}
}

test_U2_fires_on_change if {
	said("U2", updated({}, {"completionMode": null})) == {
		`spec.completionMode: Invalid value: "NonIndexed": field is immutable`,
	}
}

test_U2_silent_on_default if {
	every object_ in [
		updated({"completionMode": null}, {"completionMode": "NonIndexed"}),
		indexed,
	] {
		said("U2", object_) == set()
	}
}

test_U3_fires_on_addition if {
	said(
		"U3",
		updated({}, {"podFailurePolicy": failure_policy}),
	) == {
		concat("", [
			`spec.podFailurePolicy: Invalid value: `,
			`{"Rules":[{"Action":"Ignore","OnExitCodes":null,"OnPodConditions":[{"Type":"X","Status":"True"}]},`,
			`{"Action":"FailJob","OnExitCodes":{"ContainerName":null,"Operator":"In","Values":[1]},"OnPodConditions":null}]}`,
			`: field is immutable`,
		]),
	}
}

test_U3_fires_on_removal if {
	said("U3", updated({"podFailurePolicy": {}}, {})) == {
		`spec.podFailurePolicy: Invalid value: null: field is immutable`,
	}
}

test_U3_silent_on_the_same if {
	every object_ in [
		updated({"podFailurePolicy": {}}, {"podFailurePolicy": {"rules": []}}),
		updated({"podFailurePolicy": failure_policy}, {"podFailurePolicy": spelled_out}),
		indexed,
	] {
		said("U3", object_) == set()
	}
}

test_U4_fires_on_change if {
	said("U4", updated({"backoffLimitPerIndex": 1}, {"backoffLimitPerIndex": 2})) == {
		`spec.backoffLimitPerIndex: Invalid value: 2: field is immutable`,
	}
}

test_U4_silent_on_the_same if {
	every object_ in [
		updated({"backoffLimitPerIndex": 1}, {"backoffLimitPerIndex": 1}),
		updated({"maxFailedIndexes": 1, "backoffLimitPerIndex": 1}, {"maxFailedIndexes": 2, "backoffLimitPerIndex": 1}),
	] {
		said("U4", object_) == set()
	}
}

test_U5_fires_on_removal if {
	said("U5", updated({"managedBy": "example.com/x"}, {})) == {
		`spec.managedBy: Invalid value: null: field is immutable`,
	}
}

test_U5_silent_on_the_same if {
	every object_ in [
		updated({"managedBy": "example.com/x"}, {"managedBy": "example.com/x"}),
	] {
		said("U5", object_) == set()
	}
}

test_U6_fires_on_change if {
	said(
		"U6",
		updated({"successPolicy": {"rules": [{"succeededCount": 1}]}}, {"successPolicy": {"rules": [{"succeededCount": 2}]}}),
	) == {
		`spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":2}]}: field is immutable`,
	}
}

test_U6_fires_on_removal if {
	said("U6", updated({"successPolicy": {"rules": [{"succeededCount": 1}]}}, {})) == {
		`spec.successPolicy: Invalid value: null: field is immutable`,
	}
}

test_U6_silent_on_the_same if {
	every object_ in [
		updated({"successPolicy": {"rules": [{"succeededCount": 1}]}}, {"successPolicy": {"rules": [{"succeededCount": 1, "succeededIndexes": null}]}}),
		indexed,
	] {
		said("U6", object_) == set()
	}
}

test_U7_fires_without_indexes if {
	said("U7", updated({"completionMode": null}, {"completionMode": null, "completions": 11})) == {
		`spec.completions: Invalid value: 11: field is immutable`,
	}
}

test_U7_fires_on_removal if {
	said("U7", updated({"completionMode": null}, {"completionMode": null, "completions": null})) == {
		`spec.completions: Invalid value: null: field is immutable`,
	}
}

test_U7_silent_with_indexes if {
	every object_ in [
		updated({}, {"completions": 11}),
		updated({"completionMode": null}, {"completionMode": null, "parallelism": 3}),
	] {
		said("U7", object_) == set()
	}
}

test_U8_fires_away_from_parallelism if {
	said("U8", updated({}, {"completions": 11})) == {
		`spec.completions: Invalid value: 11: can only be modified in tandem with spec.parallelism`,
	}
}

test_U8_silent_together_with_parallelism if {
	every object_ in [
		updated({}, {"completions": 5, "parallelism": 5}),
		updated({}, {"parallelism": 5}),
		updated({}, {"completions": null}),
		updated({"completionMode": null}, {"completionMode": null, "completions": 11}),
	] {
		said("U8", object_) == set()
	}
}

test_U9_fires_on_change if {
	said("U9", updated(pods({}), pods({"nodeSelector": {"a": "b"}}))) == {
		`spec.template: Invalid value: field is immutable`,
	}
}

test_U9_fires_on_label if {
	said("U9", updated(pods({}), object.union(pods({}), {"template": {"metadata": {"labels": {"a": "b"}}}}))) == {
		`spec.template: Invalid value: field is immutable`,
	}
}

test_U9_fires_on_resources if {
	said("U9", updated(pods({}), limited({"limits": {"cpu": 1}}))) == {
		`spec.template: Invalid value: field is immutable`,
	}
}

test_U9_fires_on_other_changes_while_suspended if {
	every changes in [
		{"hostNetwork": true},
		{"containers": [{"name": "main", "image": "example.com/main:2"}]},
		{"affinity": {"podAffinity": {}}},
	] {
		said("U9", resting(pods(changes))) == {"spec.template.spec: Invalid value: field is immutable"}
	}
}

test_U9_fires_while_suspended_pods_run if {
	every status in [
		{"active": 1},
		{"startTime": "2026-01-01T00:00:00Z"},
		{"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", "status": "False"}]},
	] {
		said("U9", object.union_n([resting(scheduled), {"oldObject": {"status": status}}])) == {"spec.template: Invalid value: field is immutable"}
	}
}

test_U9_silent_on_scheduling_while_suspended if {
	every status in [{}, {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", "status": "True"}]}] {
		said("U9", object.union_n([resting(scheduled), {"oldObject": {"status": status}}])) == set()
	}
}

test_U9_silent_on_the_same if {
	every object_ in [
		indexed,
		updated(pods({}), written_out),
		updated(containers(["a", "a/b:latest@sha256:0", "a:5000/c@sha256:0"]), defaulted_containers),
		updated(limited({"limits": {"cpu": "1000m", "memory": "odd"}}), limited({"limits": {"cpu": 1, "memory": "odd"}, "requests": null})),
		updated(limited({}), limited(null)),
		updated(limited({"limits": "odd"}), limited({"limits": "odd"})),
	] {
		said("U9", object_) == set()
	}
}

failure_policy := {"rules": [
	{"action": "Ignore", "onPodConditions": [{"type": "X"}]},
	{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}},
]}

# The same, with all that may be left out.
spelled_out := {"rules": [
	{"action": "Ignore", "onExitCodes": null, "onPodConditions": [{"type": "X", "status": "True"}]},
	{
		"action": "FailJob",
		"onExitCodes": {"operator": "In", "values": [1], "containerName": null},
		"onPodConditions": [],
	},
]}

# An update of a suspended Job.
resting(spec) := updated(object.union(pods({}), {"suspend": true}), object.union(spec, {"suspend": true}))

# A template with all that may change while a Job is suspended.
scheduled := {"template": {
	"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
	"spec": {
		"restartPolicy": "Never",
		"containers": [{"name": "main", "image": "example.com/main:1", "resources": {"requests": {"cpu": "1"}}}],
		"nodeSelector": {"a": "b"},
		"tolerations": [{"operator": "Exists"}],
		"schedulingGates": [{"name": "x"}],
		"affinity": {"nodeAffinity": {}},
	},
}}

# A template with other members in the pod's spec.
pods(changes) := {"template": {"spec": object.union(
	{"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main:1"}]},
	changes,
)}}

# The defaults written out.
written_out := pods({
	"dnsPolicy": "ClusterFirst",
	"hostNetwork": false,
	"initContainers": null,
	"nodeSelector": {},
	"terminationGracePeriodSeconds": 30,
	"volumes": [],
})

containers(images) := {"template": {"spec": {"containers": [{"image": image} | some image in images]}}}

defaulted_containers := {"template": {"spec": {"restartPolicy": "Always", "containers": [
	{"image": "a", "imagePullPolicy": "Always"},
	{"image": "a/b:latest@sha256:0", "imagePullPolicy": "Always", "terminationMessagePolicy": "File"},
	{"image": "a:5000/c@sha256:0", "imagePullPolicy": "IfNotPresent"},
]}}}

limited(resources) := pods({"containers": [{"name": "main", "image": "example.com/main:1", "resources": resources}]})

test_create_rules_hold_in_updates if {
	shrunk := updated({"maxFailedIndexes": 8, "backoffLimitPerIndex": 1}, {
		"maxFailedIndexes": 8,
		"backoffLimitPerIndex": 1,
		"completions": 5,
		"parallelism": 5,
	})
	said("B4", shrunk) == {"spec.maxFailedIndexes: Invalid value: 8: must be less than or equal to completions"}
}

test_mutable_members_are_mutable if {
	findings := data.podverdict.job.findings with input as updated({}, {
		"parallelism": 3,
		"backoffLimit": 1,
		"activeDeadlineSeconds": 1,
		"ttlSecondsAfterFinished": 1,
		"suspend": true,
		"podReplacementPolicy": "Failed",
	})
	findings == set()
}
