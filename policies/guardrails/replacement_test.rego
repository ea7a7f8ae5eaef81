package podverdict.guardrails_test

broken_replacements := {
	"G-REPLACEMENT-SCARCE": {
		"patch": array.concat(early, requesting("containers/0", "limits", {"nvidia.com/gpu": 1})),
		"field": "spec.podReplacementPolicy",
	},
	"G-REPLACEMENT-INDEXED": {"patch": early, "field": "spec.podReplacementPolicy"},
}

early := put("podReplacementPolicy", "TerminatingOrFailed")

requesting(container, kind, quantities) := put(sprintf("template/spec/%s/resources", [container]), {kind: quantities})

test_scarce_resources[note] if {
	defaulted := array.concat(drop("podReplacementPolicy"), drop("podFailurePolicy"))
	gpu := requesting("containers/1", "requests", {"nvidia.com/gpu": "2"})
	some note, case in {
		"the API's own policy": {"patch": array.concat(defaulted, gpu), "broken": true},
		"the API's own policy beside podFailurePolicy": {
			"patch": array.concat(drop("podReplacementPolicy"), gpu),
			"broken": false,
		},
		"null for a policy": {
			"patch": array.concat(put("podReplacementPolicy", null), gpu),
			"broken": false,
		},
		"an init container": {
			"patch": array.concat(early, requesting("initContainers/0", "limits", {"google.com/tpu": "4"})),
			"broken": true,
		},
		"none": {
			"patch": array.concat(early, requesting("containers/0", "limits", {"nvidia.com/gpu": "0"})),
			"broken": false,
		},
		"plenty": {
			"patch": array.concat(early, requesting("containers/0", "limits", {"cpu": "2"})),
			"broken": false,
		},
		"scarce by configuration": {
			"patch": array.concat(early, requesting("containers/0", "limits", {"acme.com/fpga": "2"})),
			"settings": {"resources": ["acme.com/fpga"]},
			"broken": true,
		},
		"a claim": {
			"patch": array.concat(early, put("template/spec/resourceClaims", [{"name": "gpu"}])),
			"broken": true,
		},
		"claims are plenty by configuration": {
			"patch": array.concat(early, put("template/spec/resourceClaims", [{"name": "gpu"}])),
			"settings": {"resourceClaims": false},
			"broken": false,
		},
	}
	findings := fields("G-REPLACEMENT-SCARCE", case.patch, object.get(case, "settings", {}))
	count(findings) == 1 == case.broken
}

test_indexed_jobs_wait_where_asked[note] if {
	some note, case in {
		"off": {"patch": early, "enabled": false, "broken": false},
		"on": {"patch": early, "enabled": true, "broken": true},
		"no indexes": {"patch": array.concat(early, drop("completionMode")), "enabled": true, "broken": false},
		"waits already": {"patch": [], "enabled": true, "broken": false},
	}
	findings := fields("G-REPLACEMENT-INDEXED", case.patch, {"enabled": case.enabled})
	count(findings) == 1 == case.broken
}
