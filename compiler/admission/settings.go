package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Settings maps the names of one rule's settings to their values. Each value is a bool, an int64, a string, a []int64 or
// a []string.
type Settings map[string]any

// Configuration maps rule ids to a platform team's settings, as in podverdict.config.guardrails of the Rego bundle's
// data.
type Configuration map[string]map[string]any

// Choices maps the names of enumerated settings to their allowed values.
var Choices = map[string][]string{
	"severity": {"error", "warning"},
	"actions":  {"FailJob", "FailIndex", "Ignore", "Count"},
}

// MaxPercent is the name of the only setting with an upper bound, which is 100.
const MaxPercent = "maxPercent"

// newSettings converts settings decoded from YAML or JSON, with whole numbers as int64 and lists as []any.
func newSettings(given map[string]any) (Settings, error) {
	s := Settings{"enabled": true, "severity": "error"}
	for name, value := range given {
		typed, ok := typedValue(value)
		if !ok {
			return nil, fmt.Errorf("%s: %v is no value for a setting", name, value)
		}
		s[name] = typed
	}
	return s, nil
}

// typedValue returns the value with typed list elements. It returns false for a value that no setting can have.
func typedValue(value any) (any, bool) {
	switch v := value.(type) {
	case bool, string:
		return v, true
	case []any:
		return typedList(v)
	default:
		number, ok := whole(value)
		return number, ok && number >= 0
	}
}

// whole converts a decoded whole number to int64.
func whole(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case json.Number:
		number, err := v.Int64()
		return number, err == nil
	default:
		return 0, false
	}
}

func typedList(list []any) (any, bool) {
	var numbers []int64
	var texts []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
			continue
		}
		number, ok := whole(item)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, number)
	}
	if texts != nil {
		return texts, numbers == nil
	}
	return numbers, numbers != nil
}

// kindOf returns the type of a value, in the words of the Rego bundle.
func kindOf(value any) string {
	switch value.(type) {
	case bool:
		return "true or false"
	case int64:
		return "a whole number, 0 or more"
	case string:
		return "a string"
	case []string:
		return "a list of strings, one at least"
	case []int64:
		return "a list of whole numbers, one at least"
	default:
		return "of another type"
	}
}

// configure merges a configuration into the rules' default settings. The ConfigurationError lists all mistakes, ordered
// by path.
func (c *Catalogue) configure(configuration Configuration) (map[string]Settings, error) {
	all := map[string]Settings{}
	for _, r := range c.Rules {
		all[r.ID] = r.Settings
	}
	var mistakes ConfigurationError
	for _, id := range slices.Sorted(maps.Keys(configuration)) {
		standard, ok := all[id]
		if !ok {
			mistakes = append(mistakes, Mistake{id, "is not a " + c.singular() + didyoumean.Near(id, slices.Sorted(maps.Keys(all)))})
			continue
		}
		settings, wrong := standard.with(id, configuration[id])
		mistakes, all[id] = append(mistakes, wrong...), settings
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return all, nil
}

func (c *Catalogue) singular() string { return strings.TrimSuffix(c.Name, "s") }

// noun returns the singular with an initial capital.
func (c *Catalogue) noun() string { return strings.ToUpper(c.Name[:1]) + c.singular()[1:] }

// with returns the settings of a rule overridden by the configured ones.
func (s Settings) with(id string, configured map[string]any) (Settings, []Mistake) {
	changed := maps.Clone(s)
	var mistakes []Mistake
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		value, fault := s.value(name, configured[name])
		if fault != "" {
			mistakes = append(mistakes, Mistake{id + "." + name, fault})
			continue
		}
		changed[name] = value
	}
	least, bounded := changed["min"].(int64)
	if most, ok := changed["max"].(int64); bounded && ok && least > most {
		for _, name := range []string{"max", "min"} {
			if _, set := configured[name]; set {
				mistakes = append(mistakes, Mistake{id + "." + name, "min must be less than or equal to max"})
			}
		}
	}
	return changed, mistakes
}

// value validates one setting. The fault is empty if the value is valid.
func (s Settings) value(name string, given any) (value any, fault string) {
	standard, ok := s[name]
	if !ok {
		return nil, "is not a parameter of this guardrail" + didyoumean.Near(name, slices.Sorted(maps.Keys(s)))
	}
	value, ok = typedValue(given)
	if !ok || kindOf(value) != kindOf(standard) {
		return nil, "must be " + kindOf(standard)
	}
	if allowed, bound := Choices[name]; bound {
		if outside(value, allowed) {
			return nil, "must be one of " + strings.Join(allowed, ", ")
		}
	}
	if number, ok := value.(int64); ok && name == MaxPercent && number > 100 {
		return nil, "must be at most 100"
	}
	return value, ""
}

// outside reports whether a value is not one of the allowed texts.
func outside(value any, allowed []string) bool {
	texts, ok := value.([]string)
	if !ok {
		texts = []string{fmt.Sprint(value)}
	}
	return slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(allowed, text) })
}

// literal returns the value as CEL.
func literal(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, text := range v {
			quoted[i] = quote(text)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case []int64:
		numbers := make([]string, len(v))
		for i, number := range v {
			numbers[i] = strconv.FormatInt(number, 10)
		}
		return "[" + strings.Join(numbers, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// quote returns the text as a CEL string. Go's escapes are valid CEL except \x, which Go writes for invalid UTF-8.
func quote(text string) string { return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD")) }
