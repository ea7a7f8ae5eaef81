package admission

import (
	"fmt"
	"regexp"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Target is a kind of objects and the location of the Jobs in them.
type Target struct {
	Kind kind.Kind
	At   kind.Embedded
}

// NewTarget locates the Jobs at a path in a kind: spec of a Job itself, spec.jobTemplate.spec of a CronJob, or any other
// field in which an object embeds them. It returns the errors of kind.ParsePath and kind.Kind.Resolve.
func NewTarget(k kind.Kind, path string) (Target, error) {
	p, err := kind.ParsePath(path)
	if err != nil {
		return Target{}, err
	}
	at, err := k.Resolve(p)
	return Target{Kind: k, At: at}, err
}

// many reports whether an object has a list of Jobs. The list may be empty.
func (t Target) many() bool { return t.At.List || t.At.Optional }

// isJob reports whether the object is the Job itself, which the API server validates.
func (t Target) isJob() bool { return t.Kind.Group == "batch" && t.Kind.Kind == "Job" }

func (t Target) matchResources(of ...admissionregistrationv1.OperationType) *admissionregistrationv1.MatchResources {
	return matchResources(t.Kind.Group, t.Kind.Version, t.Kind.Resource, of...)
}

func matchResources(group, version, resource string, of ...admissionregistrationv1.OperationType) *admissionregistrationv1.MatchResources {
	var rule admissionregistrationv1.NamedRuleWithOperations
	rule.APIGroups, rule.APIVersions, rule.Resources, rule.Operations = []string{group}, []string{version}, []string{resource}, of
	return &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{rule}}
}

// variables returns the variables with the specs of the Jobs, with the new object's before the old one's, and with the
// additional data that rules need for each Job: its path if there can be several Jobs, and whether it is removed
// automatically.
func (t Target) variables(used map[string]bool) []admissionregistrationv1.Variable {
	all := []admissionregistrationv1.Variable{withOld("specs", t.specs())}
	if t.many() {
		all = append(all, withOld("roots", t.At.Roots()), admissionregistrationv1.Variable{Name: "count", Expression: "size(" + operand(t.At.Specs()) + ")"})
	}
	if t.isJob() && used["owned"] {
		all = append(all, withOld("owned",
			"[object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false))]"))
	}
	return all
}

// withOld returns a variable that holds a list of the new object, followed by the same list of the old object in an
// update.
func withOld(name, list string) admissionregistrationv1.Variable {
	old := newObject.ReplaceAllString(list, "${1}oldObject")
	return admissionregistrationv1.Variable{Name: name, Expression: fmt.Sprintf("%s + (oldObject == null ? [] : %s)", operand(list), old)}
}

// newObject matches the name object, but not in a field name or a string.
var newObject = regexp.MustCompile(`(^|[^.?"\w])object\b`)

// specs returns the CEL of the list of Job specs in an object.
func (t Target) specs() string {
	if t.many() {
		return t.At.Specs()
	}
	return "[" + t.At.Specs() + "]"
}

// count returns the CEL of the number of the new object's specs in variables.specs.
func (t Target) count() string {
	if t.many() {
		return "variables.count"
	}
	return "1"
}

// meaning returns the CEL for a name that is defined for every catalogue.
func (t Target) meaning(ident string) string {
	switch {
	case ident == "metadata":
		return "object.metadata"
	case ident == "owned" && t.isJob():
		return "variables.owned[n]"
	case ident == "owned":
		return "true"
	case ident == "old":
		return "oldObject.spec"
	case ident == "root" && t.many():
		return "variables.roots[n]"
	case ident == "root":
		return t.At.Roots()
	default:
		return ident
	}
}
