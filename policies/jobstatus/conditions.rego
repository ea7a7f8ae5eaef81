package podverdict.jobstatus

import data.podverdict.fields

# METADATA
# title: What the API server refuses in a write to the status
# scope: document
# entrypoint: true

# METADATA
# title: Success and failure exclude each other
# custom:
#   id: ST4
#   kep: KEP-3998
#   field: status.conditions
#   severity: error
findings contains _conditions("ST4", "cannot set SuccessCriteriaMet=True and Failed=true conditions") if {
	"SuccessCriteriaMet" in conditions
	"Failed" in conditions
}

# METADATA
# title: Meeting the success criteria excludes failing
# custom:
#   id: ST5
#   kep: KEP-3998
#   field: status.conditions
#   severity: error
findings contains _conditions("ST5", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions") if {
	"SuccessCriteriaMet" in conditions
	"FailureTarget" in conditions
}

# METADATA
# title: With a success policy, a complete Job met its criteria
# custom:
#   id: ST6
#   kep: KEP-3998
#   field: status.conditions
#   severity: error
findings contains _conditions("ST6", "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True") if {
	fields.given(spec, "successPolicy")
	"Complete" in conditions
	not "SuccessCriteriaMet" in conditions
}

# METADATA
# title: Success criteria once met stay met
# custom:
#   id: ST7
#   kep: KEP-3998
#   field: status.conditions
#   severity: error
findings contains _conditions("ST7", "cannot disable the SuccessCriteriaMet=True condition") if {
	"SuccessCriteriaMet" in (old_conditions - conditions)
}

# METADATA
# title: Success criteria are not met after completion
# custom:
#   id: ST8
#   kep: KEP-3998
#   field: status.conditions
#   severity: error
findings contains _conditions("ST8", "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions") if {
	"Complete" in old_conditions
	"SuccessCriteriaMet" in (conditions - old_conditions)
}

# METADATA
# title: A terminal condition stays
# custom:
#   id: ST9
#   kep: KEP-4368
#   field: status.conditions
#   severity: error
findings contains _conditions("ST9", detail) if {
	some type in ({"Failed", "Complete", "FailureTarget"} & (old_conditions - conditions))
	detail := sprintf("cannot disable the terminal %s=True condition", [type])
}

# METADATA
# title: A Job is complete or failed
# custom:
#   id: ST13
#   kep: KEP-4368
#   field: status.conditions
#   severity: error
findings contains _conditions("ST13", "cannot set Complete=True and Failed=true conditions") if {
	_flips({"Complete", "Failed"})
	"Complete" in conditions
	"Failed" in conditions
}

# METADATA
# title: A complete Job is not about to fail
# custom:
#   id: ST14
#   kep: KEP-4368
#   field: status.conditions
#   severity: error
findings contains _conditions("ST14", "cannot set Complete=True and FailureTarget=true conditions") if {
	_flips({"Complete", "FailureTarget"})
	"Complete" in conditions
	"FailureTarget" in conditions
}

# METADATA
# title: A failed Job was about to fail
# custom:
#   id: ST18
#   kep: KEP-4368
#   field: status.conditions
#   severity: error
findings contains _conditions("ST18", "cannot set Failed=True condition without the FailureTarget=true condition") if {
	_failure_concerned
	"Failed" in conditions
	not "FailureTarget" in conditions
}

# METADATA
# title: A complete Job met its success criteria
# custom:
#   id: ST19
#   kep: KEP-4368
#   field: status.conditions
#   severity: error
findings contains _conditions("ST19", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition") if {
	_flips({"Complete", "SuccessCriteriaMet"})
	"Complete" in conditions
	not "SuccessCriteriaMet" in conditions
}

_failure_concerned if _flips({"Failed"})

_failure_concerned if _changed("failedIndexes")

_flips(types) if types & flipped != set()
