package apiserver

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Check returns the problems and warnings that an API server of a Kubernetes minor version reports
// for a new ValidatingAdmissionPolicy, limited to the parts that a user of podverdict can write:
// the name, the match conditions, and all expressions. Expressions must be valid for the type of
// the matched objects, even where the API server does not check types. The policy must match one
// kind only and have no parameters. If the policy has problems, the error is a *CheckError.
func Check(policy *admissionregistrationv1.ValidatingAdmissionPolicy, object kind.Kind, kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	found, err := expressionProblems(policy, object, v)
	if err != nil {
		return err
	}
	return newCheckError(append(objectProblems(policy), found...))
}

// maxMatchConditions is the API server's limit (pkg/apis/admissionregistration/validation).
const maxMatchConditions = 64

// objectProblems validates the parts of a policy that users name. The API server's own validation
// package cannot be linked. Podverdict generates all other parts, and tests apply them to a real
// API server.
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
