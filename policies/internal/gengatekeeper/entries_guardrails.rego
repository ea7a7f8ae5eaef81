package podverdict.guardrails

violation contains found if {
	not admission.left_alone(input.review)
	some found in _broken - _broken_before
}

_broken contains {"msg": msg, "details": object.union(breach, {"id": id, "detail": details[id]})} if {
	some id, found in breaches
	some breach in found
	msg := _rendered(id, breach, details[id])
}

_broken_before := found if {
	is_object(input.review.oldObject)
	found := _broken with input.review.object as input.review.oldObject
} else := set()

# The object under review.
_object := _whole(input.review.object)

# Gatekeeper hands numbers of seven digits and more over in floating point, and they would be shown so.
_whole(reviewed) := json.patch(reviewed, [{"op": "replace", "path": path, "value": round(number)} |
	contains(json.marshal(reviewed), "e+")
	walk(reviewed, [path, number])
	is_number(number)
	number == round(number)
])
