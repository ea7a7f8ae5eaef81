package manifest

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
)

// Policy is a PodFailurePolicy with its origin.
type Policy struct {
	Object *v1alpha1.PodFailurePolicy
	Origin Origin
}

// Binding is a PodFailurePolicyBinding with its origin.
type Binding struct {
	Object *v1alpha1.PodFailurePolicyBinding
	Origin Origin
}

// Namespace is a Namespace, read for its labels, with its origin.
type Namespace struct {
	Object *corev1.Namespace
	Origin Origin
}

// LivePolicy returns a Policy read from a cluster.
func LivePolicy(policy *v1alpha1.PodFailurePolicy) Policy {
	return Policy{policy, Origin{Document: &Document{File: "podfailurepolicy/" + policy.Name}}}
}

// LiveBinding returns a Binding read from a cluster.
func LiveBinding(binding *v1alpha1.PodFailurePolicyBinding) Binding {
	return Binding{binding, Origin{Document: &Document{File: "podfailurepolicybinding/" + binding.Name}}}
}

var customVersion = v1alpha1.GroupVersion.String()

func (c *content) policy(o Origin, value []byte, h header) {
	var policy v1alpha1.PodFailurePolicy
	if c.custom(o, value, h, &policy) {
		c.Policies = append(c.Policies, Policy{Object: &policy, Origin: o})
	}
}

func (c *content) binding(o Origin, value []byte, h header) {
	var binding v1alpha1.PodFailurePolicyBinding
	if c.custom(o, value, h, &binding) {
		c.Bindings = append(c.Bindings, Binding{Object: &binding, Origin: o})
	}
}

// custom reads a policy or a binding as v1alpha1.Decode does. It requires metadata.name; generateName is not enough.
func (c *content) custom(o Origin, value []byte, h header, target v1alpha1.Object) bool {
	if h.Metadata.Name == "" {
		c.fail(o, "metadata.name", messageRequired)
		return false
	}
	unfit := v1alpha1.ValidateJSON(value)
	c.errs = append(c.errs, o.Errors(unfit)...)
	told := len(c.errs)
	if !c.strict(o, value, target) || len(unfit) > 0 {
		again := func(err error) bool { // the decoder reports some of them again in other words
			e, ok := errors.AsType[*Error](err)
			return ok && slices.ContainsFunc(unfit, func(u *field.Error) bool { return o.Error(u.Field, "").Field == e.Field })
		}
		c.errs = append(c.errs[:told], slices.DeleteFunc(c.errs[told:], again)...)
		return false
	}
	target.SetDefaults()
	return true
}

func (c *content) namespace(o Origin, value []byte, h header) {
	var namespace corev1.Namespace
	if c.named(o, h) && c.strict(o, value, &namespace) {
		c.Namespaces = append(c.Namespaces, Namespace{Object: &namespace, Origin: o})
	}
}

// Errors returns errors about an object with their positions in the file, sorted by line.
func (o Origin) Errors(list field.ErrorList) []error {
	errs := make([]*Error, len(list))
	for i, e := range list {
		errs[i] = o.Error(e.Field, e.ErrorBody())
	}
	return inFileOrder(errs)
}

// Finding returns a finding about an expression as an error with its position in the file. For a policy read from a cluster, the
// excerpt shows the expression.
func (o Origin) Finding(f compiler.Finding) *Error {
	at := o.PositionIn(f.Field, f.Line, f.Column)
	e := &Error{origin: o, Field: o.Field(f.Field), Message: f.Message + " (" + f.Check + ")", Hint: f.Hint, at: &at}
	if o.Live() {
		e.excerpt = f.Excerpt()
	}
	return e
}

// ValidatePolicies rejects policies and bindings that the API server would reject.
func (s *Set) ValidatePolicies() error {
	var errs []error
	for _, p := range s.Policies {
		errs = append(errs, p.Origin.Errors(p.Object.Validate())...)
	}
	for _, b := range s.Bindings {
		errs = append(errs, b.Origin.Errors(b.Object.Validate())...)
	}
	return errors.Join(errs...)
}

// CheckPolicies rejects duplicate policies and bindings, and duplicate namespaces if their labels matter. All of these are
// cluster-scoped.
func (s *Set) CheckPolicies() error {
	var errs []error
	s.doubles(func(kind, name string, o, first Origin) {
		errs = append(errs, o.Error("metadata.name", messageTwice(kind, name, first.Position("metadata.name"))))
	})
	return errors.Join(errs...)
}

// doubles calls found for each duplicate object, with the origin of the first.
func (s *Set) doubles(found func(kind, name string, o, first Origin)) {
	first := map[string]Origin{}
	check := func(kind, name string, o Origin) {
		if other, taken := first[kind+"/"+name]; taken {
			found(kind, name, o, other)
			return
		}
		first[kind+"/"+name] = o
	}
	for _, p := range s.Policies {
		check(v1alpha1.KindPodFailurePolicy, p.Object.Name, p.Origin)
	}
	for _, b := range s.Bindings {
		check(v1alpha1.KindPodFailurePolicyBinding, b.Object.Name, b.Origin)
	}
	if LabelSelecting(s.Bindings) == "" {
		return
	}
	for _, n := range s.Namespaces {
		check("Namespace", n.Object.Name, n.Origin)
	}
}
