package apiserver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Check returns what an API server of a Kubernetes minor version refuses about a new
// ValidatingAdmissionPolicy, or warns of, as far as a user of podverdict can have
// written it: its name, its match conditions, and all expressions, which must be right
// for the type of the objects that it matches, also where the API server does not look.
// The policy matches the one kind only, and params is the kind of its parameters, or nil.
// What is wrong with the policy is a *CheckError.
func Check(policy *admissionregistrationv1.ValidatingAdmissionPolicy, object kind.Kind, params *kind.Kind, kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	typed, err := typeProblems(policy, object, params)
	if err != nil {
		return err
	}
	compiled, err := compileProblems(policy, v)
	if err != nil {
		return err
	}
	problems := append(objectProblems(policy), typed...)
	problems = append(problems, slices.DeleteFunc(compiled, isBlank)...)
	return newCheckError(sorted(distinct(problems)))
}

// isBlank says that an expression is missing, which is a problem of the object itself.
func isBlank(p Problem) bool { return strings.TrimSpace(p.Expression) == "" }

// maxMatchConditions is the API server's limit (pkg/apis/admissionregistration/validation).
const maxMatchConditions = 64

// objectProblems returns what the API server refuses about the parts of a policy that
// users name. The package of the API server that says so cannot be linked. All other
// parts are written by podverdict, and tests put them to a real API server.
func objectProblems(policy *admissionregistrationv1.ValidatingAdmissionPolicy) []Problem {
	all := apivalidation.ValidateObjectMeta(&policy.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	at, conditions := field.NewPath("spec", "matchConditions"), policy.Spec.MatchConditions
	if len(conditions) > maxMatchConditions {
		all = append(all, field.TooMany(at, len(conditions), maxMatchConditions))
	}
	seen := map[string]bool{}
	for i, c := range conditions {
		for _, message := range validation.IsQualifiedName(c.Name) {
			all = append(all, field.Invalid(at.Index(i).Child("name"), c.Name, message))
		}
		if seen[c.Name] {
			all = append(all, field.Duplicate(at.Index(i).Child("name"), c.Name))
		}
		seen[c.Name] = true
		if strings.TrimSpace(c.Expression) == "" {
			all = append(all, field.Required(at.Index(i).Child("expression"), ""))
		}
	}
	var problems []Problem
	for _, e := range all {
		problems = append(problems, Problem{FieldRef: e.Field, Message: e.ErrorBody()})
	}
	return problems
}

// distinct leaves out what the compiler says of places of which the type checker, which
// knows more, has said something before.
func distinct(problems []Problem) []Problem {
	var all []Problem
	for _, p := range problems {
		if !slices.ContainsFunc(all, func(q Problem) bool {
			return q.FieldRef == p.FieldRef && q.Line == p.Line && q.Column == p.Column && (p.Line > 0 || q.Message == p.Message)
		}) {
			all = append(all, p)
		}
	}
	return all
}

// order is that of the parts of a policy: what others build on comes first.
var order = []string{
	"metadata", "spec.matchConditions", "spec.variables", "spec.validations", "spec.auditAnnotations",
}

func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(p, q Problem) int {
		partP, indexP := place(p.FieldRef)
		partQ, indexQ := place(q.FieldRef)
		return cmp.Or(cmp.Compare(partP, partQ), cmp.Compare(indexP, indexQ), cmp.Compare(p.FieldRef, q.FieldRef),
			cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column), cmp.Compare(p.Message, q.Message))
	})
	return problems
}

// place is the part of a policy that a field belongs to, and its first index.
func place(fieldRef string) (part, index int) {
	part = slices.IndexFunc(order, func(prefix string) bool { return strings.HasPrefix(fieldRef, prefix) })
	if _, rest, ok := strings.Cut(fieldRef, "["); ok {
		digits, _, _ := strings.Cut(rest, "]")
		index, _ = strconv.Atoi(digits) // a key of a map has no order
	}
	return part, index
}
