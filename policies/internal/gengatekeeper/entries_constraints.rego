package podverdict.job

violation contains {"msg": finding.msg, "details": object.remove(finding, ["msg"])} if {
	not admission.left_alone(input.review)
	some finding in _found - _found_before
}

# What is said of the old object, if it were new.
_found_before := found if {
	is_object(input.review.oldObject)
	found := _found with input.review.object as input.review.oldObject with input.review.oldObject as null
} else := set()

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
