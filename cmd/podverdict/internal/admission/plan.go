package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/internal/input/cluster"
)

// plan describes the effect of applying policies.
type plan struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Policies   []PlannedObject `json:"policies"`
	// Delete holds a kubectl command for each left-over object.
	Delete []string `json:"delete,omitempty"`
	// Findings lists the objects that would be rejected, in the form of check.
	Findings []findings.Item `json:"findings"`
}

// PlannedObject describes the planned change to a policy or binding.
type PlannedObject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Plan is created, changed, unchanged, left over, or "static, not in the API" (KEP-5793).
	Plan string `json:"plan"`
}

// set holds generated policies and bindings.
type set struct {
	objects  []*unstructured.Unstructured
	policies map[string]*admissionregistrationv1.ValidatingAdmissionPolicy
	bindings []*admissionregistrationv1.ValidatingAdmissionPolicyBinding
	deciders []*apiserver.Decider // for bindings that deny
}

// resources maps the kinds written by generate vap and generate map to their resources.
var resources = map[string]string{
	"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
	"MutatingAdmissionPolicy": "mutatingadmissionpolicies", "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
}

// read reads files and compiles the policies that deny.
func read(c *cli.Console, files []string) (*set, error) {
	s := &set{policies: map[string]*admissionregistrationv1.ValidatingAdmissionPolicy{}}
	for _, name := range files {
		file := io.NopCloser(c.Stdin)
		if name != "-" {
			var err error
			if file, err = os.Open(name); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(s.read(file), file.Close()); err != nil {
			return nil, cli.ErrorIn(name, err)
		}
	}
	if len(s.objects) == 0 {
		return nil, cli.ErrorIn(strings.Join(files, ", "), errors.New("no policies"))
	}
	var errs []error
	for _, b := range s.bindings {
		if !slices.Contains(b.Spec.ValidationActions, admissionregistrationv1.Deny) {
			continue
		}
		p := s.policies[b.Spec.PolicyName]
		if p == nil {
			return nil, fmt.Errorf("binding %s: policy %s is not in the input", b.Name, b.Spec.PolicyName)
		}
		d, err := apiserver.NewDecider(p, b)
		s.deciders, errs = append(s.deciders, d), append(errs, err)
	}
	return s, errors.Join(errs...)
}

func (s *set) read(file io.Reader) error {
	for documents, n := utilyaml.NewYAMLOrJSONDecoder(file, 4096), 1; ; n++ {
		text, document := runtime.RawExtension{}, &unstructured.Unstructured{}
		err := documents.Decode(&text)
		if err == nil && len(text.Raw) > 0 {
			err = document.UnmarshalJSON(text.Raw)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil || document.Object == nil: // or an empty document
		case document.IsList():
			err = document.EachListItem(s.add)
		default:
			err = s.add(document)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
}

// add adds a policy or a binding.
func (s *set) add(object runtime.Object) error {
	gvk := object.GetObjectKind().GroupVersionKind()
	one, ok := object.(*unstructured.Unstructured)
	if !ok || gvk.Group != admissionregistrationv1.GroupName || resources[gvk.Kind] == "" {
		return fmt.Errorf("%s %s is neither an admission policy nor a binding", gvk.GroupVersion(), gvk.Kind)
	}
	s.objects = append(s.objects, one)
	convert := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation
	switch gvk.Kind {
	case "ValidatingAdmissionPolicy":
		s.policies[one.GetName()] = &admissionregistrationv1.ValidatingAdmissionPolicy{}
		return convert(one.Object, s.policies[one.GetName()], true)
	case "ValidatingAdmissionPolicyBinding":
		b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		s.bindings = append(s.bindings, b)
		return convert(one.Object, b, true)
	}
	return nil
}

// compare plans the effect of applying the objects, and finds objects left over from earlier versions of their sets.
func (s *set) compare(ctx context.Context, c *cluster.Cluster, p *plan) error {
	live, left := map[schema.GroupVersionKind]map[string]*unstructured.Unstructured{}, []PlannedObject{}
	for _, object := range s.objects {
		gvk := object.GroupVersionKind()
		if live[gvk] == nil {
			live[gvk] = map[string]*unstructured.Unstructured{}
			resource := gvk.GroupVersion().WithResource(resources[gvk.Kind])
			more, err := cluster.Objects(ctx, c, resource, "", "", func(one *unstructured.Unstructured) (more []PlannedObject) {
				if live[gvk][one.GetName()] = one; s.leaves(one) {
					more = append(more, PlannedObject{Kind: gvk.Kind, Name: one.GetName(), Plan: "left over"})
				}
				return more
			})
			if err != nil {
				return err
			}
			left = append(left, more...)
		}
		p.Policies = append(p.Policies, planFor(object, live[gvk][object.GetName()]))
	}
	p.Policies = append(p.Policies, left...)
	for _, one := range left {
		p.Delete = append(p.Delete, c.InContext("kubectl delete "+strings.ToLower(one.Kind)+" "+one.Name))
	}
	return nil
}

// planFor returns the plan for an object whose current state in the cluster is now, or nil if it does not exist.
func planFor(object, now *unstructured.Unstructured) PlannedObject {
	p := PlannedObject{Kind: object.GetKind(), Name: object.GetName(), Plan: "unchanged"}
	switch {
	case now == nil && strings.HasSuffix(p.Name, admission.StaticSuffix):
		p.Plan = "static, not in the API"
	case now == nil:
		p.Plan = "created"
	case changes(now, object):
		p.Plan = "changed"
	}
	return p
}

// leaves reports whether an object in the cluster belongs to the same set as these objects but is not one of them. Static objects replace
// nothing in the API. Earlier versions set no instance label, and their names end in the actions.
func (s *set) leaves(one *unstructured.Unstructured) bool {
	ofSet, labels := false, one.GetLabels()
	for _, object := range s.objects {
		if one.GetName() == object.GetName() {
			return false
		}
		given := object.GetLabels()
		instance := given[admission.LabelInstance]
		if given[admission.LabelPartOf] != admission.PartOf || instance == "" || strings.HasSuffix(object.GetName(), admission.StaticSuffix) {
			continue
		}
		same := labels[admission.LabelInstance] == instance && labels[admission.LabelComponent] == given[admission.LabelComponent]
		untilKind := regexp.MustCompile("^" + regexp.QuoteMeta(instance) + "-(requirements-.+-(cron)?job|[^-]+-[^-]+)-").FindString(object.GetName())
		earlier := labels[admission.LabelInstance] == "" && untilKind != "" && strings.HasPrefix(one.GetName(), untilKind)
		ofSet = ofSet || same || earlier
	}
	return ofSet && labels[admission.LabelPartOf] == admission.PartOf
}

// changes reports whether applying an object would change its spec or labels in the cluster.
func changes(now, then *unstructured.Unstructured) bool {
	labels := now.GetLabels()
	for name, value := range then.GetLabels() {
		if labels[name] != value {
			return true
		}
	}
	return !reflect.DeepEqual(withoutDefaults(now.Object["spec"]), withoutDefaults(then.Object["spec"]))
}

// serverDefaults are the values that the API server sets for absent fields of policies.
var serverDefaults = map[string]any{
	"failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": map[string]any{}, "objectSelector": map[string]any{},
	"reinvocationPolicy": "Never", "scope": "*",
}

// withoutDefaults removes members that have default values. It modifies value in place.
func withoutDefaults(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if reflect.DeepEqual(member, serverDefaults[name]) {
				delete(value, name)
			}
			withoutDefaults(member)
		}
	case []any:
		for _, member := range value {
			withoutDefaults(member)
		}
	}
	return value
}
