package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	corelisters "k8s.io/client-go/listers/core/v1"
	kubejson "sigs.k8s.io/json"
)

// input is a request in the form that the API server's packages take.
type input struct {
	attributes *admission.VersionedAttributes
	params     runtime.Object
	// matches says that the policy's match constraints admit the request, and resource
	// is by which resource they do.
	matches  bool
	resource schema.GroupVersionResource
}

func (e *Evaluator) input(r Review) (input, error) {
	object, err := seen(r.Kind.GroupVersionKind, r.Object)
	if err != nil {
		return input{}, errReview("object", err)
	}
	oldObject, err := seen(r.Kind.GroupVersionKind, r.OldObject)
	if err != nil {
		return input{}, errReview("old object", err)
	}
	in := input{}
	if r.Params != nil {
		if in.params, err = seen(r.Params.GetObjectKind().GroupVersionKind(), r.Params); err != nil {
			return input{}, errReview("parameters", err)
		}
	}
	if in.attributes, err = attributes(r, object, oldObject); err != nil {
		return input{}, err
	}
	matcher := generic.NewPolicyMatcher(matching.NewMatcher(reviewNamespace{namespace: r.Namespace}, nil))
	in.matches, in.resource, _, err = matcher.DefinitionMatches(in.attributes, e.objects, e.definition)
	return in, err
}

func attributes(r Review, object, oldObject runtime.Object) (*admission.VersionedAttributes, error) {
	subject := object
	if subject == nil {
		subject = oldObject
	}
	if subject == nil {
		return nil, errors.New("review: neither an object nor an old object")
	}
	metadata, err := meta.Accessor(subject)
	if err != nil {
		return nil, errReview("object", err)
	}
	resource := r.Kind.GroupVersion().WithResource(r.Kind.Resource)
	return &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(object, oldObject, r.Kind.GroupVersionKind, metadata.GetNamespace(), metadata.GetName(),
			resource, "", r.Operation, nil, r.DryRun, r.User),
		VersionedKind:      r.Kind.GroupVersionKind,
		VersionedObject:    object,
		VersionedOldObject: oldObject,
	}, nil
}

// seen is an object as the API server holds it: built-in kinds in their Go types, which
// know no nulls, and write the structs that are empty.
func seen(gvk schema.GroupVersionKind, object runtime.Object) (runtime.Object, error) {
	content, ok := object.(runtime.Unstructured)
	if !ok {
		return named(gvk, object), nil
	}
	typed := newBuiltin(gvk)
	if typed == nil {
		return object, nil
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content.UnstructuredContent(), typed) != nil {
		// The JSON decoder is slower but takes float64 for int, and says which field is wrong.
		typed = newBuiltin(gvk)
		text, err := json.Marshal(content.UnstructuredContent())
		if err != nil {
			return nil, err
		}
		if err := kubejson.UnmarshalCaseSensitivePreserveInts(text, typed); err != nil {
			return nil, err
		}
	}
	return named(gvk, typed), nil
}

// newBuiltin is an empty object of a built-in kind, nil for others.
func newBuiltin(gvk schema.GroupVersionKind) runtime.Object {
	switch gvk {
	case batchv1.SchemeGroupVersion.WithKind("Job"):
		return &batchv1.Job{}
	case batchv1.SchemeGroupVersion.WithKind("CronJob"):
		return &batchv1.CronJob{}
	case corev1.SchemeGroupVersion.WithKind("ConfigMap"):
		return &corev1.ConfigMap{}
	}
	return nil
}

// named is a built-in object with its apiVersion and kind.
func named(gvk schema.GroupVersionKind, object runtime.Object) runtime.Object {
	if object == nil || !object.GetObjectKind().GroupVersionKind().Empty() {
		return object
	}
	var copied runtime.Object
	switch o := object.(type) {
	case *batchv1.Job:
		c := *o
		copied = &c
	case *batchv1.CronJob:
		c := *o
		copied = &c
	case *corev1.ConfigMap:
		c := *o
		copied = &c
	default:
		return object
	}
	copied.GetObjectKind().SetGroupVersionKind(gvk)
	return copied
}

// reviewNamespace lists the one namespace that a review comes with.
type reviewNamespace struct {
	namespace *corev1.Namespace
}

var _ corelisters.NamespaceLister = reviewNamespace{}

// List is the namespace, if the selector selects it.
func (n reviewNamespace) List(selector apilabels.Selector) ([]*corev1.Namespace, error) {
	if n.namespace == nil || !selector.Matches(apilabels.Set(n.namespace.Labels)) {
		return nil, nil
	}
	return []*corev1.Namespace{n.namespace}, nil
}

// Get is the namespace if that is its name.
func (n reviewNamespace) Get(name string) (*corev1.Namespace, error) {
	if n.namespace == nil || n.namespace.Name != name {
		return nil, fmt.Errorf("review: the policy selects namespaces by label, but namespace %q is not given", name)
	}
	return n.namespace, nil
}
