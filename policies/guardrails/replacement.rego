package podverdict.guardrails

# When the next Pod starts.

# METADATA
# title: A scarce resource is let go before it is asked for again
# description: |
#   A terminating Pod keeps its device. A replacement that is created meanwhile waits for
#   another one, or makes the autoscaler buy a node that nobody needs.
# custom:
#   id: G-REPLACEMENT-SCARCE
#   kep: KEP-3939 Story 2
#   field: spec.podReplacementPolicy
#   parameters:
#     resources: names of the extended resources that are scarce
#     resourceClaims: take every Pod with resource claims for one with scarce resources
breaches["G-REPLACEMENT-SCARCE"] contains _spec_field("podReplacementPolicy") if {
	_replacement != "Failed"
	_takes_scarce
}

_takes_scarce if {
	some container in _containers
	some kind in {"requests", "limits"}
	some name in config["G-REPLACEMENT-SCARCE"].resources
	quantity := container.resources[kind][name]
	not quantity in {0, "0"}
}

_takes_scarce if {
	config["G-REPLACEMENT-SCARCE"].resourceClaims
	_job.spec.template.spec.resourceClaims[0]
}

# METADATA
# title: No two Pods of one index at a time
# description: |
#   Frameworks that know their peers by index fail when a replacement starts while the old
#   Pod is still terminating. Off by default: a lost node holds up the replacement.
# custom:
#   id: G-REPLACEMENT-INDEXED
#   kep: KEP-3939 Story 1
#   field: spec.podReplacementPolicy
breaches["G-REPLACEMENT-INDEXED"] contains _spec_field("podReplacementPolicy") if {
	_indexed
	_replacement != "Failed"
}
