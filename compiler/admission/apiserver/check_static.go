package apiserver

import (
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Limits of the API server (pkg/apis/admissionregistration/validation).
const (
	maxMatchConditions  = 64
	maxAuditAnnotations = 20
	// maxValueExpression is the length of the expression of an audit annotation, in bytes.
	maxValueExpression = 5 << 10
)

// staticProblems are those that the API server has with a policy, its expressions aside.
// The part of the API server that says so cannot be linked, so that these are rules of
// our own; they leave out what no generated policy can hold: combinations of wildcards.
func staticProblems(policy *admissionregistrationv1.ValidatingAdmissionPolicy) []Problem {
	spec, at := policy.Spec, field.NewPath("spec")
	all := apivalidation.ValidateObjectMeta(&policy.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	all = append(all, oneOf(at.Child("failurePolicy"), spec.FailurePolicy, admissionregistrationv1.Fail, admissionregistrationv1.Ignore)...)
	all = append(all, validateParamKind(at.Child("paramKind"), spec.ParamKind)...)
	all = append(all, validateMatchConstraints(at.Child("matchConstraints"), spec.MatchConstraints)...)
	all = append(all, validateConditions(at.Child("matchConditions"), spec.MatchConditions)...)
	all = append(all, validateVariables(at.Child("variables"), spec.Variables)...)
	if len(spec.Validations) == 0 && len(spec.AuditAnnotations) == 0 {
		all = append(all, field.Required(at.Child("validations"), "there must be a validation or an audit annotation"))
	}
	for i, v := range spec.Validations {
		all = append(all, validateValidation(at.Child("validations").Index(i), v)...)
	}
	all = append(all, validateAuditAnnotations(at.Child("auditAnnotations"), policy.Name, spec.AuditAnnotations)...)
	return fieldProblems(all)
}

// fieldProblems gives errors of the API machinery the form of problems.
func fieldProblems(errs field.ErrorList) []Problem {
	var problems []Problem
	for _, e := range errs {
		problems = append(problems, Problem{FieldRef: e.Field, Message: e.ErrorBody()})
	}
	return problems
}

func oneOf[T ~string](at *field.Path, value *T, supported ...T) field.ErrorList {
	if value == nil || slices.Contains(supported, *value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, *value, supported)}
}

func validateParamKind(at *field.Path, p *admissionregistrationv1.ParamKind) (all field.ErrorList) {
	if p == nil {
		return nil
	}
	if p.APIVersion == "" {
		all = append(all, field.Required(at.Child("apiVersion"), ""))
	} else {
		all = append(all, validateGroupVersion(at.Child("apiVersion"), p.APIVersion)...)
	}
	if p.Kind == "" {
		return append(all, field.Required(at.Child("kind"), ""))
	}
	for _, fault := range validation.IsDNS1035Label(strings.ToLower(p.Kind)) {
		all = append(all, field.Invalid(at.Child("kind"), p.Kind, "may have mixed case, but should otherwise match: "+fault))
	}
	return all
}

func validateGroupVersion(at *field.Path, text string) (all field.ErrorList) {
	gv, err := schema.ParseGroupVersion(text)
	if err != nil {
		return field.ErrorList{field.Invalid(at, text, err.Error())}
	}
	if gv.Group != "" {
		for _, fault := range validation.IsDNS1123Subdomain(gv.Group) {
			all = append(all, field.Invalid(at, gv.Group, fault))
		}
	}
	for _, fault := range validation.IsDNS1035Label(gv.Version) {
		all = append(all, field.Invalid(at, gv.Version, fault))
	}
	return all
}

// validateMatchConstraints expects the defaults to be set.
func validateMatchConstraints(at *field.Path, m *admissionregistrationv1.MatchResources) (all field.ErrorList) {
	if m == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	all = append(all, oneOf(at.Child("matchPolicy"), m.MatchPolicy, admissionregistrationv1.Exact, admissionregistrationv1.Equivalent)...)
	strict := metav1validation.LabelSelectorValidationOptions{}
	all = append(all, metav1validation.ValidateLabelSelector(m.NamespaceSelector, strict, at.Child("namespaceSelector"))...)
	all = append(all, metav1validation.ValidateLabelSelector(m.ObjectSelector, strict, at.Child("objectSelector"))...)
	if len(m.ResourceRules) == 0 {
		all = append(all, field.Required(at.Child("resourceRules"), ""))
	}
	for i, r := range m.ResourceRules {
		all = append(all, validateNamedRule(at.Child("resourceRules").Index(i), r)...)
	}
	for i, r := range m.ExcludeResourceRules {
		all = append(all, validateNamedRule(at.Child("excludeResourceRules").Index(i), r)...)
	}
	return all
}

func validateConditions(at *field.Path, conditions []admissionregistrationv1.MatchCondition) (all field.ErrorList) {
	if len(conditions) > maxMatchConditions {
		all = append(all, field.TooMany(at, len(conditions), maxMatchConditions))
	}
	seen := map[string]bool{}
	for i, c := range conditions {
		if c.Name == "" {
			all = append(all, field.Required(at.Index(i).Child("name"), ""))
		} else {
			all = append(all, qualified(at.Index(i).Child("name"), c.Name)...)
		}
		if seen[c.Name] {
			all = append(all, field.Duplicate(at.Index(i).Child("name"), c.Name))
		}
		seen[c.Name] = true
		all = append(all, required(at.Index(i).Child("expression"), c.Expression)...)
	}
	return all
}

var identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

func validateVariables(at *field.Path, variables []admissionregistrationv1.Variable) (all field.ErrorList) {
	for i, v := range variables {
		// Escaping turns a keyword into another name, and __ too, which is no keyword.
		escaped, _ := apiservercel.Escape(v.Name)
		if keyword := escaped == "__"+v.Name+"__"; keyword || !identifier.MatchString(v.Name) {
			all = append(all, field.Invalid(at.Index(i).Child("name"), v.Name, "must be a valid CEL identifier"))
		}
		all = append(all, required(at.Index(i).Child("expression"), v.Expression)...)
	}
	return all
}

func required(at *field.Path, text string) field.ErrorList {
	if strings.TrimSpace(text) != "" {
		return nil
	}
	return field.ErrorList{field.Required(at, "")}
}

func qualified(at *field.Path, name string) (all field.ErrorList) {
	for _, message := range validation.IsQualifiedName(name) {
		all = append(all, field.Invalid(at, name, message))
	}
	return all
}

func validateValidation(at *field.Path, v admissionregistrationv1.Validation) (all field.ErrorList) {
	all = append(all, required(at.Child("expression"), v.Expression)...)
	if v.MessageExpression != "" {
		all = append(all, required(at.Child("messageExpression"), v.MessageExpression)...)
	}
	if v.Message != "" {
		all = append(all, required(at.Child("message"), v.Message)...)
	}
	if strings.ContainsAny(strings.TrimSpace(v.Message), "\n\r") {
		all = append(all, field.Invalid(at.Child("message"), v.Message, "must not contain line breaks"))
	}
	return append(all, oneOf(at.Child("reason"), v.Reason, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge)...)
}

func validateAuditAnnotations(at *field.Path, policy string, annotations []admissionregistrationv1.AuditAnnotation) (all field.ErrorList) {
	if len(annotations) > maxAuditAnnotations {
		all = append(all, field.TooMany(at, len(annotations), maxAuditAnnotations))
	}
	seen := map[string]bool{}
	for i, a := range annotations {
		all = append(all, qualified(at.Index(i).Child("key"), policy+"/"+a.Key)...)
		if seen[a.Key] {
			all = append(all, field.Duplicate(at.Index(i).Child("key"), a.Key))
		}
		seen[a.Key] = true
		all = append(all, required(at.Index(i).Child("valueExpression"), a.ValueExpression)...)
		if len(strings.TrimSpace(a.ValueExpression)) > maxValueExpression {
			all = append(all, field.TooLong(at.Index(i).Child("valueExpression"), "", maxValueExpression))
		}
	}
	return all
}
