package podverdict.guardrails

violation contains {"msg": msg, "details": object.union(breach, {"id": id, "detail": details[id]})} if {
	not _left_alone
	some id, found in breaches
	some breach in found
	msg := _rendered(id, breach, details[id])
}

# What is deleted or being deleted, and updates that leave alone what guardrails look at.
_left_alone if input.review.operation == "DELETE"

_left_alone if _ = input.review.object.metadata.deletionTimestamp

_left_alone if {
	input.review.object.kind == "CronJob"
	input.review.object.spec == input.review.oldObject.spec
}

_left_alone if {
	input.review.object.kind == "Job"
	is_object(input.review.oldObject)
	every name in _mutable {
		object.get(input.review.object.spec, name, null) == object.get(input.review.oldObject.spec, name, null)
	}
}

# The object under review.
_object := _whole(input.review.object)

# Gatekeeper hands numbers of seven digits and more over in floating point, and they would be shown so.
_whole(reviewed) := json.patch(reviewed, [{"op": "replace", "path": path, "value": round(number)} |
	contains(json.marshal(reviewed), "e+")
	walk(reviewed, [path, number])
	is_number(number)
	number == round(number)
])
