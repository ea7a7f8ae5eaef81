package vectors

import (
	"maps"
	"reflect"
)

// Update returns a copy of a stored object, which has the API's defaults and other additions, with the changes from the
// submission's old object to its new one, as after kubectl apply.
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
