package podverdict.guardrails_test

broken_policies := {
	"G-POLICY-REQUIRED": {"patch": drop("podFailurePolicy"), "field": "spec.podFailurePolicy"},
	"G-RESTART-NEVER": {
		"patch": put("template/spec/restartPolicy", "OnFailure"),
		"field": "spec.template.spec.restartPolicy",
	},
	"G-POD-DEADLINE": {
		"patch": put("template/spec/activeDeadlineSeconds", 60),
		"field": "spec.template.spec.activeDeadlineSeconds",
	},
	"G-MANAGED-BY": {"patch": put("managedBy", "kubernetes.io/job-controler"), "field": "spec.managedBy"},
}

test_policy[note] if {
	some note, case in {
		"no rules are no policy": {
			"id": "G-POLICY-REQUIRED",
			"patch": policy([]),
			"fields": {"spec.podFailurePolicy"},
		},
		"rules that are no objects are none": {
			"id": "G-POLICY-REQUIRED",
			"patch": policy(["Ignore"]),
			"fields": {"spec.podFailurePolicy"},
		},
		"no policy is possible with OnFailure": {
			"id": "G-POLICY-REQUIRED",
			"patch": array.concat(drop("podFailurePolicy"), put("template/spec/restartPolicy", "OnFailure")),
			"fields": set(),
		},
		"a Pod's deadline hides nothing where no rule looks": {
			"id": "G-POD-DEADLINE",
			"patch": array.concat(drop("podFailurePolicy"), put("template/spec/activeDeadlineSeconds", 60)),
			"fields": set(),
		},
		"without managedBy the Job is Kubernetes' own": {
			"id": "G-MANAGED-BY",
			"patch": drop("managedBy"),
			"fields": set(),
		},
		"null is no name": {
			"id": "G-MANAGED-BY",
			"patch": put("managedBy", null),
			"fields": set(),
		},
		"another controller may be allowed": {
			"id": "G-MANAGED-BY",
			"patch": put("managedBy", "acme.io/jobs"),
			"settings": {"allowed": ["acme.io/jobs"]},
			"fields": set(),
		},
	}
	fields(case.id, case.patch, object.get(case, "settings", {})) == case.fields
}
