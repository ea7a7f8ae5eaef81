package podverdict.guardrails

# METADATA
# title: Settings of the guardrails before any configuration
# description: |
#   Every guardrail by its id: whether it is on, how its findings are graded, and the
#   numbers and names that it compares with. The type of a value here is the type that
#   a configured value must have, and a list is never empty, so that it shows its type.
defaults := {
	"G-BACKOFF-LIMIT": {"enabled": true, "severity": "error", "max": 10},
	"G-CATCH-ALL-LAST": {"enabled": true, "severity": "error"},
	"G-CONTAINER-NAMED": {"enabled": true, "severity": "warning"},
	"G-DEADLINE": {"enabled": true, "severity": "warning", "min": 1, "max": 604800},
	"G-DISRUPTION-ACTION": {"enabled": true, "severity": "error", "actions": ["Ignore", "Count"]},
	"G-DISRUPTION-FIRST": {"enabled": true, "severity": "error", "codes": [137, 143]},
	"G-DISRUPTION-HANDLED": {"enabled": true, "severity": "error"},
	"G-IGNORE-BOUNDED": {"enabled": true, "severity": "error", "includeDisruptions": false},
	"G-INDEX-FAIL-INDEX": {"enabled": true, "severity": "warning"},
	"G-INDEX-FAILED-MAX": {"enabled": true, "severity": "warning", "minCompletions": 10, "maxPercent": 50},
	"G-INDEX-LIMIT": {"enabled": true, "severity": "warning", "minCompletions": 100},
	"G-INDEX-LIMIT-MAX": {"enabled": true, "severity": "error", "max": 6},
	"G-INDEX-RESTART-NEVER": {"enabled": true, "severity": "error"},
	"G-KILL-CODES": {"enabled": true, "severity": "error", "codes": [137, 143], "unlessDisruptionHandled": true},
	"G-MANAGED-BY": {"enabled": true, "severity": "error", "allowed": [
		"kubernetes.io/job-controller",
		"kueue.x-k8s.io/multikueue",
		"podverdict.io/job-controller",
	]},
	"G-PARALLELISM": {"enabled": true, "severity": "error", "max": 1000},
	"G-POD-DEADLINE": {"enabled": true, "severity": "warning"},
	"G-POLICY-REQUIRED": {"enabled": true, "severity": "warning"},
	"G-REPLACEMENT-INDEXED": {"enabled": false, "severity": "warning"},
	"G-REPLACEMENT-SCARCE": {"enabled": true, "severity": "error", "resourceClaims": true, "resources": [
		"amd.com/gpu",
		"aws.amazon.com/neuron",
		"gpu.intel.com/i915",
		"gpu.intel.com/xe",
		"google.com/tpu",
		"habana.ai/gaudi",
		"nvidia.com/gpu",
	]},
	"G-RESTART-NEVER": {"enabled": true, "severity": "warning"},
	"G-SIDECAR-TARGET": {"enabled": true, "severity": "warning"},
	"G-SIDECAR-UNNAMED": {"enabled": true, "severity": "error"},
	"G-SUCCESS-COUNT": {"enabled": true, "severity": "error"},
	"G-TTL": {"enabled": true, "severity": "warning", "min": 60, "max": 604800},
}
