package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/podverdict/podverdict/runtime"
)

// ParseVerdict parses the JSON form of a verdict strictly by the contract: names are case-sensitive, and unknown or repeated
// fields are errors, as are fields that are missing, null or do not apply. Strings that do not apply may be empty.
func ParseVerdict(data []byte) (runtime.Verdict, error) {
	var stated statedVerdict
	strict, err := sigsjson.UnmarshalStrict(data, &stated)
	if err := errors.Join(append(strict, err)...); err != nil {
		return runtime.Verdict{}, err
	}
	if err := refuseNull(data); err != nil {
		return runtime.Verdict{}, err
	}
	stated.dropEmpty()
	if err := stated.check(); err != nil {
		return runtime.Verdict{}, err
	}
	var v runtime.Verdict
	if data, err = json.Marshal(stated); err == nil {
		err = json.Unmarshal(data, &v)
	}
	return v, err
}

// statedVerdict is a verdict as received: pointers distinguish absent from zero. Decoding into runtime.Verdict would accept
// violations of the contract.
type statedVerdict struct {
	Terminal  *bool   `json:"terminal,omitempty"`
	Matched   *bool   `json:"matched,omitempty"`
	Action    *string `json:"action,omitempty"`
	Counted   *bool   `json:"counted,omitempty"`
	Rule      *int    `json:"rule,omitempty"`
	RuleName  *string `json:"ruleName,omitempty"`
	Container *string `json:"container,omitempty"`
	ExitCode  *int32  `json:"exitCode,omitempty"`
	Condition *string `json:"condition,omitempty"`
	Message   *string `json:"message,omitempty"`
	Error     *string `json:"error,omitempty"`
}

// refuseNull returns an error for null values, which the contract does not allow for absent fields.
func refuseNull(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if string(fields[name]) == "null" {
			return fmt.Errorf("field %q is null, not absent", name)
		}
	}
	return nil
}

// dropEmpty sets empty strings that do not apply to absent, because the contract allows such strings. Empty names of
// conditions and containers do apply.
func (s *statedVerdict) dropEmpty() {
	for _, text := range []**string{&s.Action, &s.RuleName, &s.Message, &s.Error} {
		if *text != nil && **text == "" {
			*text = nil
		}
	}
	byCode := s.ExitCode != nil
	if empty := s.Container != nil && *s.Container == ""; empty && !byCode {
		s.Container = nil
	}
	matched := s.Matched != nil && *s.Matched
	switch empty := s.Condition == nil || *s.Condition == ""; {
	case empty && matched && !byCode:
		s.Condition = new("")
	case empty:
		s.Condition = nil
	}
}

// check checks that exactly those fields are present that follow from terminal, matched and the kind of match.
func (s *statedVerdict) check() error {
	switch {
	case s.Action != nil && !knows(batchv1.PodFailurePolicyAction(*s.Action), true):
		return fmt.Errorf("unknown action %q", *s.Action)
	case s.ExitCode != nil && *s.ExitCode == 0:
		return errors.New("exitCode is 0, which no rule matches")
	case s.Terminal == nil:
		return errRequired("terminal")
	case s.Matched == nil:
		return errRequired("matched")
	case s.Counted == nil:
		return errRequired("counted")
	case *s.Matched && !*s.Terminal:
		return errNotApplicable("matched", "the pod is not terminal")
	}
	byCode := *s.Matched && s.Condition == nil
	const notTerminal, noMatch, noCode = "the pod is not terminal", "no rule matched", "no exit code matched"
	for _, field := range []struct {
		name                     string
		there, optional, applies bool
		otherwise                string
	}{
		{"action", s.Action != nil, false, *s.Terminal, notTerminal},
		{"ruleName", s.RuleName != nil, true, *s.Matched, noMatch},
		{"rule", s.Rule != nil, false, *s.Matched, noMatch},
		{"message", s.Message != nil, false, *s.Matched, noMatch},
		{"condition", s.Condition != nil, true, *s.Matched, noMatch},
		{"container", s.Container != nil, false, byCode, noCode},
		{"exitCode", s.ExitCode != nil, false, byCode, noCode},
	} {
		switch {
		case field.applies && !field.there && !field.optional:
			return errRequired(field.name)
		case field.there && !field.applies:
			return errNotApplicable(field.name, field.otherwise)
		}
	}
	return nil
}

func errRequired(field string) error { return fmt.Errorf("field %q is required", field) }

func errNotApplicable(field, because string) error {
	return fmt.Errorf("field %q does not apply: %s", field, because)
}
