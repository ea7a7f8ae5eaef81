package v1alpha1

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateJSON returns errors in an object's spec that the schemas reject but the Go types cannot represent: optional strings
// that are present but empty, null elements of lists, and delays in a wrong format. It also rejects labels that are null, which
// the schemas allow. It accepts any JSON, and leaves all other checks to the decoder and to Validate.
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

// validateLabels rejects labels that are null. The API server drops them, so that a selector with just "gpu:" selects more than
// its author meant, and nothing else reports it.
func validateLabels(at *field.Path, labels map[string]any) (all field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == nil {
			all = append(all, field.TypeInvalid(at.Key(key), field.OmitValueType{}, messageNullLabel))
		}
	}
	return all
}

// optional holds the names of optional string fields.
var optional = []string{"avoidNode", "class", "condition", "failurePolicy", "hint", "messageExpression", "mode", "per", "phase", "position", "reason", "retryDelay"}

const maxDelay = 18

// delay is the format of retryDelay. The Go type accepts more.
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
