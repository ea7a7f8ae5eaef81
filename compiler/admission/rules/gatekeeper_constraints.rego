package podverdict.job

violation contains {"msg": finding.msg, "details": object.remove(finding, ["msg"])} if {
	not _left_alone
	some finding in _found
}

# What is deleted or being deleted, and updates of something other than the spec.
_left_alone if input.review.operation == "DELETE"

_left_alone if _ = input.review.object.metadata.deletionTimestamp

_left_alone if input.review.object.spec == input.review.oldObject.spec
