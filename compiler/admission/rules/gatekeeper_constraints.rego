package podverdict.job

violation contains {"msg": finding.msg, "details": object.remove(finding, ["msg"])} if {
	not _left_alone
	some finding in _found
}

# What is deleted or being deleted, and updates of something other than the spec.
_left_alone if input.review.operation == "DELETE"

_left_alone if _ = input.review.object.metadata.deletionTimestamp

_left_alone if input.review.object.spec == input.review.oldObject.spec

# The object under review.
submitted := _whole(input.review.object)

# The object that an update replaces.
stored := _whole(input.review.oldObject) if is_object(input.review.oldObject)

# Gatekeeper hands numbers of seven digits and more over in floating point, and they would be shown so.
_whole(reviewed) := json.patch(reviewed, [{"op": "replace", "path": path, "value": round(number)} |
	contains(json.marshal(reviewed), "e+")
	walk(reviewed, [path, number])
	is_number(number)
	number == round(number)
])
