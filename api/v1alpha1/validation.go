package v1alpha1

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits in the schemas. Lengths are in characters.
const (
	MaxConditions = 64   // match conditions of a policy
	MaxVariables  = 64   // variables of a policy
	MaxRules      = 64   // rules of a policy
	MaxName       = 63   // length of the name of a rule or variable
	MaxExpression = 4096 // length of an expression
	MaxReason     = 128  // length of a rule's reason
	MaxHint       = 1024 // length of a rule's hint
	MaxBudget     = 1_000_000
	MaxRetryDelay = 24 * time.Hour

	maxFactor        = 5
	maxMemory        = 32
	maxPolicyName    = 253
	maxQualifiedName = 253 + 1 + 63
)

var actions = []batchv1.PodFailurePolicyAction{
	batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
	batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount,
}

// Validate returns the errors that the schema in the CustomResourceDefinition finds in the spec, with or without defaults. It
// does not check expressions. A required field that is empty counts as missing, because Go programs send it empty.
func (p *PodFailurePolicy) Validate() field.ErrorList {
	at := field.NewPath("spec")
	all := namedList(at.Child("matchConditions"), p.Spec.MatchConditions, MaxConditions,
		func(c *MatchCondition) string { return c.Name }, (*MatchCondition).validate)
	all = append(all, namedList(at.Child("variables"), p.Spec.Variables, MaxVariables,
		func(v *Variable) string { return v.Name }, (*Variable).validate)...)
	all = append(all, oneOf(at.Child("failurePolicy"), p.Spec.FailurePolicy, FailurePolicyFail, FailurePolicyIgnore)...)
	switch rules := at.Child("rules"); {
	case p.Spec.Rules == nil:
		return append(all, field.Required(rules, ""))
	case len(p.Spec.Rules) == 0:
		return append(all, field.Invalid(rules, field.OmitValueType{}, messageNoRules))
	default:
		return append(all, namedList(rules, p.Spec.Rules, MaxRules, func(r *Rule) string { return r.Name }, (*Rule).validate)...)
	}
}

// namedList checks a list's length, its elements, and that their names differ.
func namedList[T any](at *field.Path, list []T, most int, name func(*T) string, validate func(*T, *field.Path) field.ErrorList) field.ErrorList {
	var all field.ErrorList
	if len(list) > most {
		all = append(all, field.TooMany(at, len(list), most))
	}
	seen := map[string]bool{}
	for i := range list {
		all = append(all, validate(&list[i], at.Index(i))...)
		n := name(&list[i])
		if n != "" && seen[n] {
			all = append(all, field.Duplicate(at.Index(i), n))
		}
		seen[n] = true
	}
	return all
}

func (c *MatchCondition) validate(at *field.Path) field.ErrorList {
	return append(
		requiredText(at.Child("name"), c.Name, maxQualifiedName, validation.IsQualifiedName),
		requiredText(at.Child("expression"), c.Expression, MaxExpression)...)
}

func (v *Variable) validate(at *field.Path) field.ErrorList {
	return append(
		requiredText(at.Child("name"), v.Name, MaxName, isIdentifier),
		requiredText(at.Child("expression"), v.Expression, MaxExpression)...)
}

func (r *Rule) validate(at *field.Path) field.ErrorList {
	all := requiredText(at.Child("name"), r.Name, MaxName, validation.IsDNS1123Label)
	all = append(all, oneOf(at.Child("phase"), r.Phase, append([]corev1.PodPhase{corev1.PodFailed}, LivingPhases...)...)...)
	all = append(all, requiredText(at.Child("when"), r.When, MaxExpression)...)
	all = append(all, requiredOneOf(at.Child("action"), r.Action, actions...)...)
	all = append(all, text(at.Child("reason"), r.Reason, MaxReason, isCamelCase)...)
	all = append(all, r.validateCondition(at.Child("condition"))...)
	all = append(all, text(at.Child("class"), r.Class, MaxName, validation.IsDNS1123Label)...)
	all = append(all, text(at.Child("hint"), r.Hint, MaxHint)...)
	all = append(all, text(at.Child("messageExpression"), r.MessageExpression, MaxExpression)...)
	if r.Budget != nil {
		all = append(all, r.Budget.validate(at.Child("budget"), r.Action)...)
	}
	all = append(all, r.validateRetryDelay(at.Child("retryDelay"))...)
	return append(all, r.validateRetry(at.Child("retry"))...)
}

func (r *Rule) validateCondition(at *field.Path) field.ErrorList {
	all := text(at, r.Condition, maxQualifiedName, validation.IsQualifiedName)
	if len(all) > 0 || r.Condition == "" {
		return all
	}
	switch domain, _, found := strings.Cut(r.Condition, "/"); {
	case !found:
		all = append(all, field.Invalid(at, r.Condition, messageDomain))
	case kubernetesDomain.MatchString(domain):
		all = append(all, field.Invalid(at, r.Condition, messageKubernetes))
	}
	if !Lives(r.Phase) {
		all = append(all, field.Invalid(at, r.Condition, messageNotLiving))
	}
	return all
}

func (b *Budget) validate(at *field.Path, action batchv1.PodFailurePolicyAction) (all field.ErrorList) {
	switch limit := at.Child("limit"); {
	case b.Limit == 0:
		all = append(all, field.Required(limit, ""))
	case b.Limit < 0 || b.Limit > MaxBudget:
		all = append(all, field.Invalid(limit, b.Limit, validation.InclusiveRangeError(1, MaxBudget)))
	}
	all = append(all, oneOf(at.Child("per"), b.Per, PerJob, PerIndex)...)
	all = append(all, requiredOneOf(at.Child("then"), b.Then, actions...)...)
	if b.Then == action && slices.Contains(actions, action) {
		all = append(all, field.Invalid(at.Child("then"), b.Then, messageSameAction))
	}
	return all
}

func (r *Rule) validateRetryDelay(at *field.Path) field.ErrorList {
	if r.RetryDelay == nil {
		return nil
	}
	var all field.ErrorList
	switch delay := r.RetryDelay.Duration; {
	case delay < 0 || delay > MaxRetryDelay:
		all = append(all, field.Invalid(at, delay.String(), messageDelayRange))
	case delay%time.Second != 0:
		all = append(all, field.Invalid(at, delay.String(), messageDelayUnit))
	}
	if r.isLast() {
		all = append(all, field.Invalid(at, r.RetryDelay.Duration.String(), messageNoRetry(r.Action)))
	}
	return all
}

// isLast reports whether there is no retry after the rule's action.
func (r *Rule) isLast() bool {
	return r.Action == batchv1.PodFailurePolicyActionFailJob || r.Action == batchv1.PodFailurePolicyActionFailIndex
}

func (r *Rule) validateRetry(at *field.Path) (all field.ErrorList) {
	if r.Retry == nil {
		return nil
	}
	if r.Retry.Memory == nil && r.Retry.AvoidNode == "" {
		all = append(all, field.Invalid(at, field.OmitValueType{}, messageNothingToRetry))
	}
	if m := r.Retry.Memory; m != nil {
		all = append(all, m.validate(at.Child("memory"))...)
	}
	all = append(all, oneOf(at.Child("avoidNode"), r.Retry.AvoidNode, AvoidPreferred, AvoidRequired)...)
	if r.isLast() {
		all = append(all, field.Invalid(at, field.OmitValueType{}, messageNoRetry(r.Action)))
	}
	return all
}

func (m *RetryMemory) validate(at *field.Path) field.ErrorList {
	all := requiredText(at.Child("factor"), m.Factor, maxFactor, func(string) []string {
		if m.Hundredths() > 100 {
			return nil
		}
		return []string{messageFactor}
	})
	return append(all, requiredText(at.Child("max"), m.Max, maxMemory, func(string) []string {
		if m.MaxBytes() > 0 {
			return nil
		}
		return []string{messageMemory}
	})...)
}

// factor and memory are the formats of a RetryMemory's fields.
var (
	factor = regexp.MustCompile(`^(?:([1-9])(?:\.([0-9]{1,2}))?|(10)(?:\.00?)?)$`)
	memory = regexp.MustCompile(`^[1-9][0-9]{0,15}(\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$`)
)

// Hundredths returns the factor times 100, an exact number from 101 to 1000, or 0 if the factor has another format.
func (m *RetryMemory) Hundredths() int64 {
	parts := factor.FindStringSubmatch(m.Factor)
	if parts == nil {
		return 0
	}
	hundredths, _ := strconv.ParseInt(parts[1]+parts[3]+(parts[2] + "00")[:2], 10, 64) // these are digits
	return hundredths
}

// MaxBytes returns max in bytes, rounded up, or 0 if it has another format.
func (m *RetryMemory) MaxBytes() int64 {
	if !memory.MatchString(m.Max) {
		return 0
	}
	most, _ := resource.ParseQuantity(m.Max) // the format is one of a quantity's
	if most.CmpInt64(math.MaxInt64) > 0 {
		return math.MaxInt64
	}
	return most.Value()
}

// form returns the errors in the format of a string.
type form func(string) []string

func requiredText(at *field.Path, s string, most int, forms ...form) field.ErrorList {
	if s == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return text(at, s, most, forms...)
}

// text checks the length and form of a string unless it is empty.
func text(at *field.Path, s string, most int, forms ...form) (all field.ErrorList) {
	switch {
	case s == "":
		return nil
	case utf8.RuneCountInString(s) > most:
		return field.ErrorList{field.TooLongCharacters(at, s, most)}
	}
	for _, is := range forms {
		for _, message := range is(s) {
			all = append(all, field.Invalid(at, s, message))
		}
	}
	return all
}

func requiredOneOf[T ~string](at *field.Path, value T, values ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return oneOf(at, value, values...)
}

func oneOf[T ~string](at *field.Path, value T, values ...T) field.ErrorList {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, values)}
}

// reserved are CEL's reserved words, which ValidatingAdmissionPolicy also refuses as names of variables.
var reserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return var void while")

var (
	identifier       = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	kubernetesDomain = regexp.MustCompile(`^(.*\.)?(kubernetes|k8s)\.io$`)
	camelCase        = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

func isIdentifier(name string) []string {
	switch {
	case !identifier.MatchString(name):
		return []string{messageIdentifier}
	case slices.Contains(reserved, name):
		return []string{messageReserved}
	}
	return nil
}

func isCamelCase(reason string) []string {
	if !camelCase.MatchString(reason) {
		return []string{messageCamelCase}
	}
	return nil
}
