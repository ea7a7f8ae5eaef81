package conformance

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/podverdict/podverdict/runtime"
)

// answeredVerdict is the verdict of a foreign engine, which may have what no vector
// wants. Reading it as runtime.Verdict would forgive what the contract does not.
type answeredVerdict struct {
	statedVerdict

	RuleName *string `json:"ruleName,omitempty"`
	Error    *string `json:"error,omitempty"`
}

// readAnswer reads a verdict that breaks the contract in nothing: names are
// compared with their case, unknown and repeated ones are errors, and so are fields that
// are missing or do not apply.
func readAnswer(data []byte) (runtime.Verdict, error) {
	var a answeredVerdict
	strict, err := sigsjson.UnmarshalStrict(data, &a)
	if err := errors.Join(append(strict, err)...); err != nil {
		return runtime.Verdict{}, err
	}
	if err := noNulls(data); err != nil {
		return runtime.Verdict{}, err
	}
	a.dropEmpty()
	if err := a.check(); err != nil {
		return runtime.Verdict{}, err
	}
	return verdictOf(a)
}

// noNulls refuses null, which is not absent.
func noNulls(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if string(fields[name]) == "null" {
			return errNull(name)
		}
	}
	return nil
}

// dropEmpty makes absent what is empty and does not apply: the contract shows such
// texts. A condition and a container without a name are empty and do apply.
func (a *answeredVerdict) dropEmpty() {
	for _, text := range []**string{&a.Action, &a.RuleName, &a.Message, &a.Error} {
		if *text != nil && **text == "" {
			*text = nil
		}
	}
	byCode := a.ExitCode != nil
	if empty := a.Container != nil && *a.Container == ""; empty && !byCode {
		a.Container = nil
	}
	matched := a.Matched != nil && *a.Matched
	switch empty := a.Condition == nil || *a.Condition == ""; {
	case empty && matched && !byCode:
		a.Condition = new("")
	case empty:
		a.Condition = nil
	}
}

// check adds to the rules on every verdict those on the fields of this one.
func (a *answeredVerdict) check() error {
	switch {
	case a.Action != nil && !knows(batchv1.PodFailurePolicyAction(*a.Action), true):
		return errUnknownAction(*a.Action)
	case a.ExitCode != nil && *a.ExitCode == 0:
		return errExitCodeZero
	case a.RuleName != nil && (a.Matched == nil || !*a.Matched):
		return errNotApplicable("ruleName", "no rule matched")
	}
	return a.statedVerdict.check()
}
