package apiserver

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// kindSet is all that is known of an API server's kinds.
type kindSet []kind.Kind

var _ resolver.SchemaResolver = kindSet(nil)

// ResolveSchema is the schema of a kind.
func (s kindSet) ResolveSchema(gvk schema.GroupVersionKind) (*spec.Schema, error) {
	if i := slices.IndexFunc(s, func(k kind.Kind) bool { return k.GroupVersionKind == gvk }); i >= 0 {
		return s[i].Schema, nil
	}
	return nil, fmt.Errorf("%s: %w", gvk, resolver.ErrSchemaNotFound)
}

// mapper tells which kind belongs to a resource.
func (s kindSet) mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range s {
		scope := meta.RESTScopeRoot
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		resource := k.GroupVersion().WithResource(k.Resource)
		mapper.AddSpecific(k.GroupVersionKind, resource, k.GroupVersion().WithResource(strings.ToLower(k.Kind)), scope)
	}
	return mapper
}

// of are the kinds that a policy matches, and that of its parameters, nil without any.
// Kinds that are not in the set are problems, and so are wildcards, of which the API
// server's type checker cannot tell what they stand for either.
func (s kindSet) of(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (matched []kind.Kind, params *kind.Kind, problems []Problem) {
	if c := policy.Spec.MatchConstraints; c != nil {
		for i, rule := range c.ResourceRules {
			found, unknown := s.matched(fmt.Sprintf("spec.matchConstraints.resourceRules[%d]", i), rule.Rule)
			problems = append(problems, unknown...)
			for _, k := range found {
				if !slices.ContainsFunc(matched, func(m kind.Kind) bool { return m.GroupVersionKind == k.GroupVersionKind }) {
					matched = append(matched, k)
				}
			}
		}
	}
	if p := policy.Spec.ParamKind; p != nil {
		gvk := schema.FromAPIVersionAndKind(p.APIVersion, p.Kind)
		i := slices.IndexFunc(s, func(k kind.Kind) bool { return k.GroupVersionKind == gvk })
		if i < 0 {
			hint := meant(gvk.Kind, s.names(func(k kind.Kind) string { return k.Kind }))
			return matched, nil, append(problems, Problem{FieldRef: "spec.paramKind", Message: errUnknownKind(gvk).Error(), Hint: hint})
		}
		params = &s[i]
	}
	return matched, params, problems
}

// matched are the kinds that a rule matches.
func (s kindSet) matched(fieldRef string, rule admissionregistrationv1.Rule) (matched []kind.Kind, problems []Problem) {
	for _, part := range []struct {
		name   string
		values []string
	}{{"apiGroups", rule.APIGroups}, {"apiVersions", rule.APIVersions}, {"resources", rule.Resources}} {
		for i, value := range part.values {
			if strings.Contains(value, "*") {
				problems = append(problems, Problem{FieldRef: fmt.Sprintf("%s.%s[%d]", fieldRef, part.name, i), Message: errWildcard().Error()})
			}
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	for i, resource := range rule.Resources {
		resource, _, _ := strings.Cut(resource, "/") // a subresource shows the object too, or is not checked
		if found := s.served(rule, resource); len(found) > 0 {
			matched = append(matched, found...)
			continue
		}
		problems = append(problems, Problem{
			FieldRef: fmt.Sprintf("%s.resources[%d]", fieldRef, i),
			Message:  errUnknownResource(rule.APIGroups, rule.APIVersions, resource).Error(),
			Hint:     s.resourceHint(resource),
		})
	}
	return matched, problems
}

// served are the kinds of a resource in any of a rule's groups and versions.
func (s kindSet) served(rule admissionregistrationv1.Rule, resource string) []kind.Kind {
	var found []kind.Kind
	for _, k := range s {
		if k.Resource == resource && slices.Contains(rule.APIGroups, k.Group) && slices.Contains(rule.APIVersions, k.Version) {
			found = append(found, k)
		}
	}
	return found
}

// resourceHint says where a resource is, or which one may have been meant.
func (s kindSet) resourceHint(resource string) string {
	for _, k := range s {
		if k.Resource == resource {
			return fmt.Sprintf("it is in %s", k.GroupVersion())
		}
	}
	return meant(resource, s.names(func(k kind.Kind) string { return k.Resource }))
}

func (s kindSet) names(name func(kind.Kind) string) []string {
	var names []string
	for _, k := range s {
		names = append(names, name(k))
	}
	return names
}
