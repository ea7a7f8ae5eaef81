package apiserver

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateNamedRule(at *field.Path, r admissionregistrationv1.NamedRuleWithOperations) (all field.ErrorList) {
	seen := map[string]bool{}
	for i, name := range r.ResourceNames {
		if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
			all = append(all, field.Invalid(at.Child("resourceNames").Index(i), name, "may not be '.' or '..', or contain '/' or '%'"))
		}
		if seen[name] {
			all = append(all, field.Duplicate(at.Child("resourceNames").Index(i), name))
		}
		seen[name] = true
	}
	return append(all, validateRule(at, r.RuleWithOperations)...)
}

func validateRule(at *field.Path, r admissionregistrationv1.RuleWithOperations) (all field.ErrorList) {
	operations := []admissionregistrationv1.OperationType{
		admissionregistrationv1.OperationAll, admissionregistrationv1.Create, admissionregistrationv1.Update,
		admissionregistrationv1.Delete, admissionregistrationv1.Connect,
	}
	for i, o := range r.Operations {
		all = append(all, oneOf(at.Child("operations").Index(i), &o, operations...)...)
	}
	if slices.Contains(r.Operations, admissionregistrationv1.OperationAll) && len(r.Operations) > 1 {
		all = append(all, field.Invalid(at.Child("operations"), r.Operations, "if '*' is present, must not specify other operations"))
	}
	for name, given := range map[string]int{
		"operations": len(r.Operations), "apiGroups": len(r.APIGroups), "apiVersions": len(r.APIVersions), "resources": len(r.Resources),
	} {
		if given == 0 {
			all = append(all, field.Required(at.Child(name), ""))
		}
	}
	all = append(all, alone(at.Child("apiGroups"), r.APIGroups)...)
	all = append(all, alone(at.Child("apiVersions"), r.APIVersions)...)
	for i, v := range r.APIVersions {
		if v == "" {
			all = append(all, field.Required(at.Child("apiVersions").Index(i), ""))
		}
	}
	all = append(all, validateResources(at.Child("resources"), r.Resources)...)
	return append(all, oneOf(at.Child("scope"), r.Scope, admissionregistrationv1.ClusterScope, admissionregistrationv1.NamespacedScope, admissionregistrationv1.AllScopes)...)
}

// wildcard stands for everything in a rule.
const wildcard = "*"

// alone holds that a wildcard has nothing beside it.
func alone(at *field.Path, values []string) field.ErrorList {
	if len(values) < 2 || !slices.Contains(values, wildcard) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, values, "if '*' is present, must not specify other values")}
}

// validateResources holds that no resource is covered by a wildcard before it: jobs/status by jobs/* or */status, and
// everything by */*.
func validateResources(at *field.Path, resources []string) (all field.ErrorList) {
	covered := map[string]string{} // what x/* and */y cover, by "x/" and "/y"
	plain := false                 // the last without a subresource is no wildcard
	for i, r := range resources {
		resource, sub, hasSub := strings.Cut(r, "/")
		switch {
		case r == "":
			all = append(all, field.Required(at.Index(i), ""))
			continue
		case !hasSub:
			plain = r != wildcard
			continue
		}
		for _, by := range []string{covered[resource+"/"], covered["/"+sub]} {
			if by != "" {
				all = append(all, field.Invalid(at.Index(i), r, fmt.Sprintf("if '%s' is present, must not specify %s", by, r)))
			}
		}
		if sub == wildcard {
			covered[resource+"/"] = r
		}
		if resource == wildcard {
			covered["/"+sub] = r
		}
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		all = append(all, field.Invalid(at, resources, "if '*/*' is present, must not specify other resources"))
	}
	if plain && slices.Contains(resources, wildcard) {
		all = append(all, field.Invalid(at, resources, "if '*' is present, must not specify other resources without subresources"))
	}
	return all
}
