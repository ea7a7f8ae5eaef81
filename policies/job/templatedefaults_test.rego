package podverdict.job_test

# Pairs of a pod's members in a manifest and in the object that the API server stores.
_with_and_without_defaults := [
	[_container({"ports": [{"containerPort": 80}]}), _container({"ports": [{"containerPort": 80, "protocol": "TCP"}]})],
	[
		_container({"env": [{"name": "A", "value": ""}, _reference({"fieldPath": "spec.nodeName"})]}),
		_container({"env": [{"name": "A"}, _reference({"fieldPath": "spec.nodeName", "apiVersion": "v1"})]}),
	],
	[
		_container({"livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 0, "timeoutSeconds": null}}),
		_container({"livenessProbe": object.union(_probe, {"exec": {"command": ["true"]}})}),
	],
	[
		_container({"readinessProbe": {"httpGet": {"port": 80}}}),
		_container({"readinessProbe": object.union(_probe, {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}})}),
	],
	[
		_container({"startupProbe": {"grpc": {"port": 80, "service": null}}}),
		_container({"startupProbe": object.union(_probe, {"grpc": {"port": 80, "service": ""}})}),
	],
	[
		_container({"lifecycle": {"preStop": {"httpGet": {"port": 80, "path": ""}}}}),
		_container({"lifecycle": {"preStop": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}}}}),
	],
	[{"serviceAccount": "a"}, {"serviceAccount": "a", "serviceAccountName": "a"}],
	[{"serviceAccountName": "a"}, {"serviceAccount": "a", "serviceAccountName": "a"}],
	[{"volumes": [{"name": "v"}]}, {"volumes": [{"name": "v", "emptyDir": {}}]}],
	[_volume({"emptyDir": {}}), _volume({"emptyDir": {}, "secret": null})],
	[_volume({"hostPath": {"path": "/"}}), _volume({"hostPath": {"path": "/", "type": ""}})],
	[_volume({"configMap": {"name": "a"}}), _volume({"configMap": {"name": "a", "defaultMode": 420}})],
	[
		_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "a"}]}}),
		_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "a"}], "defaultMode": 420}}),
	],
	[
		_volume({"downwardAPI": {"items": [_file({})]}}),
		_volume({"downwardAPI": {"items": [_file({"apiVersion": "v1"})], "defaultMode": 420}}),
	],
	[
		_volume({"projected": {"sources": [
			{"serviceAccountToken": {"path": "t"}},
			{"downwardAPI": {"items": [_file({})]}},
			{"configMap": {"name": "a"}},
		]}}),
		_volume({"projected": {"defaultMode": 420, "sources": [
			{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
			{"downwardAPI": {"items": [_file({"apiVersion": "v1"})]}},
			{"configMap": {"name": "a"}},
		]}}),
	],
]

_container(members) := {"containers": [object.union({"name": "main", "image": "example.com/main:1"}, members)]}

_volume(members) := {"volumes": [object.union({"name": "v"}, members)]}

_reference(members) := {"name": "B", "valueFrom": {"fieldRef": members}}

_file(members) := {"path": "a", "fieldRef": object.union({"fieldPath": "metadata.labels"}, members)}

_probe := {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

test_defaults_are_no_change if {
	every pair in _with_and_without_defaults {
		said("U9", updated(pods(pair[0]), pods(pair[1]))) == set()
		said("U9", updated(pods(pair[1]), pods(pair[0]))) == set()
	}
}

# Several tests, because each has the time of one.
test_values_that_are_gone_are_a_change if {
	every pair in _with_and_without_defaults {
		count(said("U9", updated(pods(pair[0]), pods({})))) == 1
	}
}

test_other_values_than_the_defaults_of_containers_are_a_change if {
	_are_changes([
		_container({"ports": [{"containerPort": 80, "protocol": "UDP"}]}),
		_container({"ports": "x", "env": "x", "livenessProbe": "x", "lifecycle": "x"}),
	])
}

test_other_values_than_the_defaults_of_volumes_are_a_change if {
	_are_changes([
		_volume({"configMap": {"name": "a", "defaultMode": 256}}),
		_volume({"projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}]}}),
	])
}

test_values_without_a_default_are_a_change if {
	_are_changes([_volume({"nfs": {"server": "a", "path": "/"}}), {"volumes": "x"}])
}

_are_changes(all_changes) if {
	every changes in all_changes {
		every pair in _with_and_without_defaults {
			count(said("U9", updated(pods(pair[1]), pods(changes)))) == 1
		}
	}
}
