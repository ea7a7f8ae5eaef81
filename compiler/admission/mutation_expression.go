package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// mutationWriter generates the CEL that sets defaults in objects of one kind.
//
// The API server applies its own defaults before it calls a policy, except in the template of a CronJob. A field therefore
// counts as set by the user if it is present and differs from the API server's default. If it equals that default, it
// counts only if the user is known to have written it: a manager owns the field by server-side apply, or kubectl apply
// recorded it in its annotation. For other clients the API server records them as the owners of all fields, including its
// own defaults, so a value that equals the default is treated as a default.
type mutationWriter struct {
	// JobSpec holds the defaults. A nil field has no default.
	*batchv1.JobSpec

	// object is the CEL for the Job's spec; pointer is its path in a JSON Patch.
	object, pointer string
	// construct is the CEL type of the Job's spec; around is a format string for the object that contains it.
	construct string
	around    string
	// defaulted reports whether the API server has applied its defaults.
	defaulted bool
	variables []admissionregistrationv1.Variable
}

func newMutationWriter(defaults *batchv1.JobSpec, k kind.Kind) (*mutationWriter, error) {
	w := &mutationWriter{JobSpec: defaults}
	switch k.Kind {
	case "Job":
		w.object, w.pointer, w.construct, w.defaulted = "object.spec", "/spec", "Object.spec", true
		w.around = "Object{spec: %s}"
	case "CronJob":
		w.object, w.pointer = "object.spec.jobTemplate.spec", "/spec/jobTemplate/spec"
		w.construct = "Object.spec.jobTemplate.spec"
		w.around = "Object{spec: Object.spec{jobTemplate: Object.spec.jobTemplate{spec: %s}}}"
	default:
		return nil, fmt.Errorf("defaults are given to Jobs and CronJobs, not to %s", k.Kind)
	}
	w.define("spec", w.object)
	return w, nil
}

// define adds a variable and returns the expression that refers to it.
func (w *mutationWriter) define(name, expression string) string {
	v := admissionregistrationv1.Variable{Name: name, Expression: expression}
	if !slices.Contains(w.variables, v) {
		w.variables = append(w.variables, v)
	}
	return "variables." + name
}

const (
	has   = "has(variables.spec.%s)"
	lacks = "!" + has
)

func (w *mutationWriter) never() string {
	return w.define("never", `variables.spec.template.spec.?restartPolicy.orValue("") == "Never"`)
}

func (w *mutationWriter) indexed() string {
	return w.define("indexed", `variables.spec.?completionMode.orValue("NonIndexed") == "Indexed"`)
}

func (w *mutationWriter) completions() string {
	return w.define("completions", "variables.spec.?completions.orValue(0)")
}

func (w *mutationWriter) containers() string {
	return w.define("containers",
		"variables.spec.template.spec.containers.map(c, c.name)\n+ variables.spec.template.spec.?initContainers.orValue([]).map(c, c.name)")
}

// unwritten returns a condition that is true for Jobs whose user is not known to have written the field.
func (w *mutationWriter) unwritten(field string) string {
	return "!" + w.define("wrote"+strings.ToUpper(field[:1])+field[1:], fmt.Sprintf(
		`object.metadata.?managedFields.orValue([]).exists(m, m.operation == "Apply"
  && dyn(m).?fieldsV1[?"f:spec"][?"f:%s"].hasValue())
|| object.metadata.?annotations[?%q].orValue("").contains('"%[1]s":')`, field, corev1.LastAppliedConfigAnnotation))
}

// fieldDefaults returns an entry for each single-value field, with the condition for setting it. The entries are in
// evaluation order: a condition refers only to earlier entries.
func (w *mutationWriter) fieldDefaults() []string {
	var all []string
	add := func(field, when string, value any) {
		all = append(all, fmt.Sprintf("  ?%s: %s\n    ? optional.of(%v) : optional.none()", field, strings.ReplaceAll(when, "\n", "\n  "), value))
	}
	if v := w.PodReplacementPolicy; v != nil {
		add(fieldPodReplacementPolicy, w.replacementMissing(*v), strconv.Quote(string(*v)))
	}
	if v := w.ManagedBy; v != nil {
		add(fieldManagedBy, fmt.Sprintf(lacks, fieldManagedBy), strconv.Quote(*v))
	}
	if v := w.BackoffLimitPerIndex; v != nil {
		add(fieldBackoffLimitPerIndex, w.define("givesLimitPerIndex", w.limitPerIndexMissing()), *v)
	}
	if v := w.BackoffLimit; v != nil {
		add(fieldBackoffLimit, w.limitMissing(), *v)
	} else if w.BackoffLimitPerIndex != nil && w.defaulted {
		// The API server sets the same value in a Job that is created with a limit per index.
		add(fieldBackoffLimit, "variables.givesLimitPerIndex && "+w.limitMissing(), jobdefaults.BackoffLimitPerIndex)
	}
	if v := w.MaxFailedIndexes; v != nil {
		add(fieldMaxFailedIndexes, w.maxFailedMissing(*v), *v)
	}
	if v := w.ActiveDeadlineSeconds; v != nil {
		add(fieldActiveDeadlineSeconds, fmt.Sprintf(lacks, fieldActiveDeadlineSeconds), *v)
	}
	if v := w.TTLSecondsAfterFinished; v != nil {
		add(fieldTTLSecondsAfterFinished, fmt.Sprintf(lacks, fieldTTLSecondsAfterFinished), *v)
	}
	return all
}

// replacementMissing returns the condition for setting the replacement policy. It excludes Jobs with a failure policy
// unless the default is the value that they require.
func (w *mutationWriter) replacementMissing(give batchv1.PodReplacementPolicy) string {
	missing := fmt.Sprintf(lacks, fieldPodReplacementPolicy)
	noPolicy := fmt.Sprintf(lacks, fieldPodFailurePolicy)
	switch {
	case give != batchv1.Failed:
		return missing + " && " + noPolicy
	case !w.defaulted:
		return missing
	}
	return fmt.Sprintf("%s && variables.spec.?podReplacementPolicy.orValue(%q) == %[2]q\n  && %s", noPolicy,
		batchv1.TerminatingOrFailed, w.unwritten(fieldPodReplacementPolicy))
}

// limitMissing returns the condition for setting the back-off limit. Jobs with a limit per index need none: the API server
// sets their back-off limit to the maximum (KEP-3850, Job API).
func (w *mutationWriter) limitMissing() string {
	none := fmt.Sprintf(lacks, fieldBackoffLimitPerIndex)
	if !w.defaulted {
		return none + " && " + fmt.Sprintf(lacks, fieldBackoffLimit)
	}
	return fmt.Sprintf("%s && variables.spec.?backoffLimit.orValue(%d) == %[2]d\n  && %s", none, jobdefaults.BackoffLimit, w.unwritten(fieldBackoffLimit))
}

// limitPerIndexMissing returns the condition for setting the limit per index. It excludes Jobs for which the API server
// would reject the limit, and Jobs that restart containers in place, which the API documents as unsuitable but accepts.
func (w *mutationWriter) limitPerIndexMissing() string {
	fits := fmt.Sprintf("%s <= %d", w.completions(), manyIndexes)
	if m := w.MaxFailedIndexes; m != nil && *m <= fewFailedIndexes {
		fits = fmt.Sprintf("(%s || variables.spec.?parallelism.orValue(1) <= %d)", fits, fewPods)
	}
	return fmt.Sprintf("%s && %s && "+lacks+"\n  && %s", w.indexed(), w.never(), fieldBackoffLimitPerIndex, fits)
}

func (w *mutationWriter) maxFailedMissing(most int32) string {
	limited := fmt.Sprintf(has, fieldBackoffLimitPerIndex)
	if w.BackoffLimitPerIndex != nil {
		limited = "(" + limited + " || variables.givesLimitPerIndex)"
	}
	when := fmt.Sprintf("%s && "+lacks+" && %s\n  && %s >= %d", w.indexed(), fieldMaxFailedIndexes, limited, w.completions(), most)
	if most > fewFailedIndexes {
		when += fmt.Sprintf(" && %s <= %d", w.completions(), manyIndexes)
	}
	return when
}

// applyConfiguration returns the expression that sets all single-value fields, or "" if there are none. An apply
// configuration is typed, merges with existing values, and does not require the parent to exist.
func (w *mutationWriter) applyConfiguration() string {
	fieldDefaults := w.fieldDefaults()
	if len(fieldDefaults) == 0 {
		return ""
	}
	return fmt.Sprintf(w.around, w.construct+"{\n"+strings.Join(fieldDefaults, ",\n")+"\n}")
}

// jsonPatch returns the expression that sets the failure policy and the replacement policy it requires, or "" if there is
// none. An apply configuration cannot set it: the list of rules is atomic, and the API server does not allow mutating
// atomic lists that way.
func (w *mutationWriter) jsonPatch() string {
	if w.PodFailurePolicy == nil {
		return ""
	}
	when := []string{fmt.Sprintf(lacks, fieldPodFailurePolicy), w.never()}
	if w.defaulted {
		when = append(when, fmt.Sprintf("(variables.spec.?podReplacementPolicy.orValue(%q) == %[1]q\n    || "+
			"variables.spec.podReplacementPolicy == %q && %s)", batchv1.Failed, batchv1.TerminatingOrFailed, w.unwritten(fieldPodReplacementPolicy)))
	} else {
		when = append(when, fmt.Sprintf("variables.spec.?podReplacementPolicy.orValue(%q) == %[1]q", batchv1.Failed))
	}
	rules, some := w.rules()
	if some != "" {
		when = append(when, some)
	}
	return fmt.Sprintf(`%s
? [
  JSONPatch{op: "add", path: "%s/podFailurePolicy", value: %s.podFailurePolicy{rules: [
%s
  ]}},
  JSONPatch{op: "add", path: "%[2]s/podReplacementPolicy", value: %[5]q}
]
: []`, strings.Join(when, "\n  && "), w.pointer, w.construct, rules, batchv1.Failed)
}

// rules returns the CEL of the rules, each with its condition on the Job. The result some is a condition that holds if at
// least one rule remains. It is empty if one always remains.
func (w *mutationWriter) rules() (rules, some string) {
	lines := make([]string, len(w.PodFailurePolicy.Rules))
	var conditions []string
	always := false
	for i := range lines {
		rule := &w.PodFailurePolicy.Rules[i]
		value, when := w.rule(rule), w.ruleApplies(rule)
		if when == "" {
			always = true
			lines[i] = "    " + value
			continue
		}
		if !slices.Contains(conditions, when) {
			conditions = append(conditions, when)
		}
		lines[i] = fmt.Sprintf("    ?%s ? optional.of(%s) : optional.none()", when, value)
	}
	if !always {
		some = "(" + strings.Join(conditions, " || ") + ")"
	}
	return strings.Join(lines, ",\n"), some
}

// ruleApplies returns the condition under which a Job may have the rule. It is empty if every Job may have it.
func (w *mutationWriter) ruleApplies(r *batchv1.PodFailurePolicyRule) string {
	var when []string
	if r.Action == batchv1.PodFailurePolicyActionFailIndex {
		when = append(when, fmt.Sprintf(has, fieldBackoffLimitPerIndex))
	}
	if r.OnExitCodes != nil && r.OnExitCodes.ContainerName != nil {
		when = append(when, fmt.Sprintf("%q in %s", *r.OnExitCodes.ContainerName, w.containers()))
	}
	return strings.Join(when, " && ")
}

// rule returns the CEL of a rule, on separate lines.
func (w *mutationWriter) rule(r *batchv1.PodFailurePolicyRule) string {
	name := w.construct + ".podFailurePolicy.rules"
	var match string
	if on := r.OnExitCodes; on != nil {
		match = "onExitCodes: " + name + ".onExitCodes{"
		if on.ContainerName != nil {
			match += "containerName: " + strconv.Quote(*on.ContainerName) + ", "
		}
		values := make([]string, len(on.Values))
		for i, v := range on.Values {
			values[i] = strconv.Itoa(int(v))
		}
		match += fmt.Sprintf("operator: %q, values: [%s]}", on.Operator, strings.Join(values, ", "))
	} else {
		patterns := make([]string, len(r.OnPodConditions))
		for i, p := range r.OnPodConditions {
			patterns[i] = fmt.Sprintf("%s.onPodConditions{type: %q, status: %q}", name, p.Type, cmp.Or(p.Status, corev1.ConditionTrue))
		}
		match = "onPodConditions: [\n        " + strings.Join(patterns, ",\n        ") + "\n      ]"
	}
	return fmt.Sprintf("%s{\n      action: %q,\n      %s\n    }", name, r.Action, match)
}

// condition returns a match condition that skips most Jobs that lack nothing. It may be true for some of them: match
// conditions cannot use variables, and the condition need not repeat all their checks.
func (w *mutationWriter) condition() string {
	var conditions []string
	missing := func(given bool, field, more string) {
		if given {
			conditions = append(conditions, fmt.Sprintf("!has(%s.%s)%s", w.object, field, more))
		}
	}
	indexed := fmt.Sprintf(" && %s.?completionMode.orValue(\"NonIndexed\") == \"Indexed\"", w.object)
	missing(w.PodFailurePolicy != nil, fieldPodFailurePolicy,
		fmt.Sprintf(" && %s.template.spec.?restartPolicy.orValue(\"\") == \"Never\"", w.object))
	missing(w.PodReplacementPolicy != nil, fieldPodReplacementPolicy, w.orEquals(fieldPodReplacementPolicy, strconv.Quote(string(batchv1.TerminatingOrFailed))))
	missing(w.ManagedBy != nil, fieldManagedBy, "")
	missing(w.BackoffLimitPerIndex != nil, fieldBackoffLimitPerIndex, indexed)
	missing(w.BackoffLimit != nil, fieldBackoffLimit, w.orEquals(fieldBackoffLimit, strconv.Itoa(jobdefaults.BackoffLimit)))
	missing(w.MaxFailedIndexes != nil, fieldMaxFailedIndexes, indexed)
	missing(w.ActiveDeadlineSeconds != nil, fieldActiveDeadlineSeconds, "")
	missing(w.TTLSecondsAfterFinished != nil, fieldTTLSecondsAfterFinished, "")
	return strings.Join(conditions, "\n|| ")
}

// orEquals returns the additional condition that a field has the API server's default.
func (w *mutationWriter) orEquals(field, value string) string {
	if !w.defaulted {
		return ""
	}
	return fmt.Sprintf(" || %s.%s == %s", w.object, field, value)
}

// mutations returns the patches in order. The limits come first, because rules with the action FailIndex need them.
func (w *mutationWriter) mutations() []admissionregistrationv1.Mutation {
	var all []admissionregistrationv1.Mutation
	if expression := w.applyConfiguration(); expression != "" {
		all = append(all, admissionregistrationv1.Mutation{
			PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
			ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
		})
	}
	if expression := w.jsonPatch(); expression != "" {
		all = append(all, admissionregistrationv1.Mutation{
			PatchType: admissionregistrationv1.PatchTypeJSONPatch,
			JSONPatch: &admissionregistrationv1.JSONPatch{Expression: expression},
		})
	}
	return all
}
