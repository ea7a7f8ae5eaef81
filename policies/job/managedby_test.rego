package podverdict.job_test

test_M1_fires_on_empty if {
	said("M1", changed(indexed, {"managedBy": ""})) == {`spec.managedBy: Required value`}
}

test_M1_silent_without_manager if {
	every object_ in [
		indexed,
		changed(indexed, {"managedBy": "example.com/x"}),
	] {
		said("M1", object_) == set()
	}
}

test_M2_fires_without_path if {
	said("M2", changed(indexed, {"managedBy": "example.com/"})) == {
		`spec.managedBy: Invalid value: "example.com/": must be a domain-prefixed path (such as "acme.io/foo")`,
	}
}

test_M2_fires_without_slash if {
	said("M2", changed(indexed, {"managedBy": "x"})) == {
		`spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")`,
	}
}

test_M2_fires_without_domain if {
	said("M2", changed(indexed, {"managedBy": "/x"})) == {
		`spec.managedBy: Invalid value: "/x": must be a domain-prefixed path (such as "acme.io/foo")`,
	}
}

test_M2_silent_with_both if {
	every object_ in [
		indexed,
		changed(indexed, {"managedBy": ""}),
		changed(indexed, {"managedBy": "example.com/x/y"}),
	] {
		said("M2", object_) == set()
	}
}

test_M3_fires_on_capitals if {
	said("M3", changed(indexed, {"managedBy": "Example.com/x"})) == {
		concat("", [`spec.managedBy: Invalid value: "Example.com": `, lowercase]),
	}
}

test_M3_fires_on_long_domains if {
	domain := concat("", [c | some _ in numbers.range(1, 254); c := "a"])
	said("M3", changed(indexed, {"managedBy": concat("/", [domain, "x"])})) == {sprintf(
		"spec.managedBy: Invalid value: %q: must be no more than 253 characters",
		[domain],
	)}
}

test_M3_silent_on_domains if {
	every object_ in [
		changed(indexed, {"managedBy": "kubernetes.io/job-controller"}),
		changed(indexed, {"managedBy": "x"}),
		indexed,
	] {
		said("M3", object_) == set()
	}
}

test_M4_fires_on_question_mark if {
	said("M4", changed(indexed, {"managedBy": "example.com/x?y"})) == {
		`spec.managedBy: Invalid value: "x?y": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`,
	}
}

test_M4_silent_on_slashes if {
	every object_ in [
		changed(indexed, {"managedBy": "example.com/x/y"}),
		indexed,
	] {
		said("M4", object_) == set()
	}
}

test_M5_fires_above_63_bytes if {
	said("M5", changed(indexed, {"managedBy": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.io/bbbbbbbbbb"})) == {
		`spec.managedBy: Too long: may not be more than 63 bytes`,
	}
}

test_M5_fires_on_bytes_not_characters if {
	said("M5", changed(indexed, {"managedBy": "example.com/éééééééééééééééééééééééééé"})) == {
		`spec.managedBy: Too long: may not be more than 63 bytes`,
	}
}

test_M5_silent_at_63_bytes if said("M5", changed(indexed, {"managedBy": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.io/bbbbbbbbb"})) == set()
