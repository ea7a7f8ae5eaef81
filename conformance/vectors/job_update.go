package vectors

import (
	"maps"
	"reflect"
)

// Update makes of a stored object, which has the API's defaults and what else the API
// server adds, what the submission makes of its old object: what differs between the
// two is changed, and everything else stays, as after kubectl apply. The stored object
// stays as it is.
func (s Submission) Update(stored map[string]any) map[string]any {
	updated, _ := update(stored, s.OldObject, s.Object).(map[string]any)
	return updated
}

func update(stored, before, after any) any {
	old, _ := before.(map[string]any)
	changed, both := after.(map[string]any)
	members, ok := stored.(map[string]any)
	if !both || !ok {
		return after
	}
	members = maps.Clone(members)
	for name := range old {
		if _, stays := changed[name]; !stays {
			delete(members, name)
		}
	}
	for name, value := range changed {
		if was, there := old[name]; !there || !reflect.DeepEqual(was, value) {
			members[name] = update(members[name], was, value)
		}
	}
	return members
}
