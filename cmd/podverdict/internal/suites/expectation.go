package suites

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Difference is a field that does not have the expected value.
type Difference struct {
	// Field is the name of the field in the expectation.
	Field string `json:"field"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

var actions = []batchv1.PodFailurePolicyAction{
	batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
	batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount,
}

// check reports mistakes that can be found in the expectation itself.
func (e *expectation) check(field string, fail func(field, message string)) {
	if reflect.ValueOf(*e).IsZero() {
		fail(field, "expects nothing: a case without an expectation cannot fail")
	}
	if e.Action != nil && *e.Action != none && !slices.Contains(actions, *e.Action) {
		fail(field+".action", fmt.Sprintf("%q is not one of FailJob, FailIndex, Ignore, Count, none", string(*e.Action)))
	}
}

// decision is the verdict of a case.
type decision struct {
	verdict runtime.Verdict
	// ended reports whether a living Pod is ended. If a rule matches but the Pod is not ended, spared gives the reason.
	ended  bool
	spared string
	next   *nextAttempt
	// err is the error from evaluating rules or match conditions.
	err error
}

const none = "none"

// differences returns the fields that differ from the expectation, in the order of the reference documentation.
func (e *expectation) differences(o decision) []Difference {
	var all []Difference
	v := o.verdict
	differ := func(field, want, got string) { all = append(all, Difference{field, want, got}) }
	compare(differ, "matched", e.Matched, v.Matched)
	compare(differ, "action", e.Action, cmp.Or(v.Action, none))
	compare(differ, "policy", e.Policy, v.Policy)
	if e.Rule != nil && !isRule(*e.Rule, v) {
		differ("rule", quoted(e.Rule.String()), quoted(ruleName(v)))
	}
	compare(differ, "reason", e.Reason, v.Reason)
	compare(differ, "class", e.Class, v.Class)
	compare(differ, "counted", e.Counted, v.Counted)
	compare(differ, "usedUp", e.UsedUp, v.IsUsedUp())
	if e.RetryDelay != nil && (v.RetryDelay == nil || *v.RetryDelay != e.RetryDelay.Duration) {
		got := none
		if v.RetryDelay != nil {
			got = brief(*v.RetryDelay)
		}
		differ("retryDelay", brief(e.RetryDelay.Duration), got)
	}
	if e.Retry != nil {
		e.Retry.differences(differ, o)
	}
	compare(differ, "container", e.Container, v.Container)
	compare(differ, "exitCode", e.ExitCode, v.ExitCode)
	compare(differ, "condition", e.Condition, v.Condition)
	e.compareTexts(differ, o)
	compare(differ, "ended", e.Ended, o.ended)
	return all
}

func (e *expectation) compareTexts(differ func(field, want, got string), o decision) {
	if e.Message != nil || e.MessageContains != nil {
		message := o.verdict.Message()
		compare(differ, "message", e.Message, message)
		if e.MessageContains != nil && !strings.Contains(message, *e.MessageContains) {
			differ("messageContains", quoted(*e.MessageContains), quoted(message))
		}
	}
	compareError(differ, "messageError", e.MessageError, o.verdict.MessageErr)
	compareError(differ, "error", e.Error, o.err)
}

// compareError adds a difference if an error is not the expected one, is unexpected, or is missing.
func compareError(differ func(field, want, got string), field string, want *string, err error) {
	switch {
	case want == nil && err != nil:
		differ(field, none, quoted(err.Error()))
	case want != nil && err == nil:
		differ(field, quoted(*want), none)
	case want != nil && !strings.Contains(err.Error(), *want):
		differ(field, quoted(*want), quoted(err.Error()))
	}
}

func compare[T comparable](differ func(field, want, got string), field string, want *T, got T) {
	if want != nil && *want != got {
		differ(field, shown(*want), shown(got))
	}
}

// shown formats a value as YAML.
func shown(value any) string {
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		if v.Len() == 0 {
			return none
		}
		return quoted(v.String())
	}
	return fmt.Sprint(value)
}

// quoted returns text, in quotes unless it is a plain word.
func quoted(text string) string {
	plain := text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./", r)
	})
	if plain {
		return text
	}
	return strconv.Quote(text)
}

func isRule(want intstr.IntOrString, v runtime.Verdict) bool {
	if want.Type == intstr.Int {
		return v.Matched && v.Policy == "" && v.Rule == want.IntValue()
	}
	return v.RuleName == want.StrVal
}

// ruleName returns the deciding rule in the form used by expectations.
func ruleName(v runtime.Verdict) string {
	switch {
	case !v.Matched:
		return none
	case v.Policy == "":
		return strconv.Itoa(v.Rule)
	}
	return v.RuleName
}

// joined joins the errors of match conditions with the error of a rule, without repeating it.
func joined(problems []*binding.ConditionError, err error) error {
	var errs []error
	for _, p := range problems {
		if errs = append(errs, p); err != nil && errors.Is(err, p.Err) {
			err = nil
		}
	}
	return errors.Join(append(errs, err)...)
}

// brief formats a duration without trailing zero units.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
