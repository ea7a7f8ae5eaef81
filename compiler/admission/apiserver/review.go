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
	// matches says that the policy's match constraints admit the request, and resource is
	// the resource by which they do.
	matches  bool
	resource schema.GroupVersionResource
}

func (e *Evaluator) input(r Review) (input, error) {
	object, err := seen(r.Kind.GroupVersionKind, r.Object)
	if err != nil {
		return input{}, fmt.Errorf("review: object: %w", err)
	}
	oldObject, err := seen(r.Kind.GroupVersionKind, r.OldObject)
	if err != nil {
		return input{}, fmt.Errorf("review: old object: %w", err)
	}
	in := input{}
	if r.Params != nil {
		if in.params, err = seen(r.Params.GetObjectKind().GroupVersionKind(), r.Params); err != nil {
			return input{}, fmt.Errorf("review: parameters: %w", err)
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
		return nil, fmt.Errorf("review: object: %w", err)
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

// seen returns an object as the API server holds it: built-in kinds in their Go types, which
// know no nulls, and write the structs that are empty.
func seen(gvk schema.GroupVersionKind, object runtime.Object) (runtime.Object, error) {
	content, unstructured := object.(runtime.Unstructured)
	switch {
	case object == nil || unstructured && !builtins.Recognizes(gvk):
		return object, nil
	case !unstructured && !object.GetObjectKind().GroupVersionKind().Empty():
		return object, nil
	case !unstructured:
		object = object.DeepCopyObject()
	default:
		typed, err := decoded(gvk, content.UnstructuredContent())
		if err != nil {
			return nil, err
		}
		object = typed
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object, nil
}

// builtins are the built-in kinds that are seen as their Go types.
var builtins = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(batchv1.SchemeGroupVersion, &batchv1.Job{}, &batchv1.CronJob{})
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.ConfigMap{})
	return scheme
}()

// decoded returns the content of an object as its Go type.
func decoded(gvk schema.GroupVersionKind, content map[string]any) (runtime.Object, error) {
	typed, err := builtins.New(gvk)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, typed) == nil {
		return typed, err
	}
	// The JSON decoder is slower but takes float64 for int, and says which field is wrong.
	if typed, err = builtins.New(gvk); err != nil {
		return nil, err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return typed, kubejson.UnmarshalCaseSensitivePreserveInts(text, typed)
}

// reviewNamespace lists the one namespace that a review comes with.
type reviewNamespace struct {
	namespace *corev1.Namespace
}

var _ corelisters.NamespaceLister = reviewNamespace{}

// List returns the namespace if the selector selects it.
func (n reviewNamespace) List(selector apilabels.Selector) ([]*corev1.Namespace, error) {
	if n.namespace == nil || !selector.Matches(apilabels.Set(n.namespace.Labels)) {
		return nil, nil
	}
	return []*corev1.Namespace{n.namespace}, nil
}

// Get returns the namespace if it has that name.
func (n reviewNamespace) Get(name string) (*corev1.Namespace, error) {
	if n.namespace == nil || n.namespace.Name != name {
		return nil, fmt.Errorf("review: the policy selects namespaces by label, but namespace %q is not given", name)
	}
	return n.namespace, nil
}
