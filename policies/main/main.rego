# METADATA
# scope: package
# title: Verdicts for conftest
# description: |
#   The bundle in the form that conftest and other tools look for: deny holds what the API
#   server would refuse, warn what it or a platform team warns of.
package main

# METADATA
# title: What the API server refuses, and guardrails that are errors
# scope: document
# entrypoint: true
deny contains finding if some finding in data.podverdict.job.findings

deny contains finding if {
	some finding in data.podverdict.guardrails.findings
	finding.severity == "error"
}

# METADATA
# title: What the API server warns of, and guardrails that are warnings
# scope: document
# entrypoint: true
warn contains finding if some finding in data.podverdict.job.warnings

warn contains finding if {
	some finding in data.podverdict.guardrails.findings
	finding.severity != "error"
}
