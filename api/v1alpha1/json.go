package v1alpha1

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateJSON says what the schemas refuse of an object's spec and a Go object cannot show: an optional text that is there
// but empty, an element of a list that is null, and a delay that is not written as one; and labels that are null, which they
// do not refuse. It takes any JSON; the rest is for the decoder and for Validate to say.
func ValidateJSON(object []byte) field.ErrorList {
	var content struct {
		Spec any `json:"spec"`
	}
	if json.Unmarshal(object, &content) != nil {
		return nil
	}
	return validateValue(field.NewPath("spec"), "", content.Spec)
}

func validateValue(at *field.Path, name string, value any) (all field.ErrorList) {
	switch v := value.(type) {
	case map[string]any:
		if name == "matchLabels" {
			return validateLabels(at, v)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, validateValue(at.Child(key), key, v[key])...)
		}
	case []any:
		for i, element := range v {
			if element == nil {
				all = append(all, field.TypeInvalid(at.Index(i), field.OmitValueType{}, messageNull))
			}
			all = append(all, validateValue(at.Index(i), "", element)...)
		}
	case string:
		return validateText(at, name, v)
	}
	return all
}

// validateLabels checks labels, which may be empty and may have any name. The API server drops those that are null, and
// selects more then than whoever wrote "gpu:" had in mind; nobody else says so.
func validateLabels(at *field.Path, labels map[string]any) (all field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == nil {
			all = append(all, field.TypeInvalid(at.Key(key), field.OmitValueType{}, messageNullLabel))
		}
	}
	return all
}

// optional are the names of texts that may be left out.
var optional = []string{"failurePolicy", "messageExpression", "mode", "pendingPods", "per", "phase", "position", "reason", "retryDelay"}

const maxDelay = 18

// delay is what retryDelay looks like. The Go type takes more.
var delay = regexp.MustCompile(`^([0-9]{1,5}[hms]){1,3}$`)

func validateText(at *field.Path, name, s string) field.ErrorList {
	switch {
	case s == "" && slices.Contains(optional, name):
		return field.ErrorList{field.Invalid(at, s, messageEmpty)}
	case name == "retryDelay" && utf8.RuneCountInString(s) > maxDelay:
		return field.ErrorList{field.TooLongCharacters(at, s, maxDelay)}
	case name == "retryDelay" && !delay.MatchString(s):
		return field.ErrorList{field.Invalid(at, s, messageDelayForm)}
	}
	return nil
}
