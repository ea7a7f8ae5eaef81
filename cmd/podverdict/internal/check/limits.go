package check

import (
	"encoding/json"
	"errors"
	"strconv"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
)

// suggestions maps the ids of guardrails to repairs that set limits. The limits may end a working Job, so a person decides.
var suggestions = map[string]repair{
	"ttl-out-of-bounds":              bound("ttlSecondsAfterFinished"),
	"deadline-out-of-bounds":         bound("activeDeadlineSeconds"),
	"backoff-limit-too-high":         bound("backoffLimit"),
	"scarce-replacement-not-failed":  replaceFailed,
	"indexed-replacement-not-failed": replaceFailed,
}

var (
	errNoBound  = errors.New("the rule has no bound")
	errDeadline = errors.New("a deadline that has passed is not made the shortest one")
)

// bound returns a repair that sets a number in the Job's spec to the nearest value that the guardrail allows, or to the maximum if the
// field is absent.
func bound(name string) repair {
	return func(s source, f findings.Finding) (change, error) {
		value, ok := s.settings.parameter(f.Check, "max")
		if !ok {
			return change{}, errNoBound
		}
		node, err := s.job.Origin.Node("spec." + name)
		if err != nil {
			return change{}, err
		}
		if node != nil {
			given, err := strconv.ParseInt(node.Value, 10, 64)
			if lowest, ok := s.settings.parameter(f.Check, "min"); ok && err == nil && given < lowest {
				if name == "activeDeadlineSeconds" {
					return change{}, errDeadline
				}
				value = lowest
			}
		}
		return s.setField(name, strconv.FormatInt(value, 10), 0)
	}
}

func replaceFailed(s source, _ findings.Finding) (change, error) {
	return s.setField("podReplacementPolicy", string(batchv1.Failed), yaml.DoubleQuotedStyle)
}

// setField sets a field of the Job's spec: it replaces the value, or adds a member before the other fields. In JSON, the value has the
// given style.
func (s source) setField(name, value string, inJSON yaml.Style) (change, error) {
	spec, err := s.job.Origin.Node("spec")
	if err != nil {
		return change{}, err
	}
	if spec == nil || spec.Kind != yaml.MappingNode || len(spec.Content) == 0 {
		return change{}, errLayout
	}
	quoted := inQuotes(value, inJSON)
	if spec.Content[0].Style == yaml.DoubleQuotedStyle {
		value = quoted
	}
	node, err := s.job.Origin.Node("spec." + name)
	if err != nil {
		return change{}, err
	}
	var text string
	if node == nil {
		text, err = s.newMember(spec, name, value)
	} else {
		begin := s.offset(node)
		text = s.text[:begin] + value + s.text[s.end(begin):]
	}
	return change{text, func(spec *batchv1.JobSpec) {
		_ = json.Unmarshal([]byte(`{"`+name+`":`+quoted+`}`), spec) // repairs whose text differs from this spec are refused
	}}, err
}
