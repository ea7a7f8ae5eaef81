package apiserver

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/podverdict/podverdict/compiler/admission/kind"
)

// Review is an admission request. It has no sender and no authorizer: expressions that use the authorizer fail.
type Review struct {
	Kind      kind.Kind
	Operation admission.Operation
	// Object is the created object, or the new state in an update. OldObject is the old state in an update, or the
	// deleted object. The policy sees Jobs and CronJobs as serialized by their Go types, even if they are
	// unstructured, and other objects unchanged. Whole numbers in unstructured objects must be int64, as
	// unstructured.UnstructuredJSONScheme decodes them, because CEL distinguishes them from float64.
	Object, OldObject runtime.Object
	// Namespace is the object's namespace. It is needed only if the policy reads it.
	Namespace *corev1.Namespace
}

// Attributes converts the request for the API server's packages.
func (r Review) Attributes() (*admission.VersionedAttributes, error) {
	object, err := seen(r.Kind.GroupVersionKind, r.Object)
	if err != nil {
		return nil, fmt.Errorf("review: object: %w", err)
	}
	oldObject, err := seen(r.Kind.GroupVersionKind, r.OldObject)
	if err != nil {
		return nil, fmt.Errorf("review: old object: %w", err)
	}
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
			resource, "", r.Operation, nil, false, nil),
		VersionedKind:      r.Kind.GroupVersionKind,
		VersionedObject:    admission.NewLazyObject(object),
		VersionedOldObject: admission.NewLazyObject(oldObject),
	}, nil
}

// seen returns an object as the API server represents it: built-in kinds as their Go types, which have no nulls and
// serialize empty structs.
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
		typed, err := builtins.New(gvk)
		if err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content.UnstructuredContent(), typed); err != nil {
			return nil, err
		}
		object = typed
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object, nil
}

// builtins are the built-in kinds that are converted to their Go types.
var builtins = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(batchv1.SchemeGroupVersion, &batchv1.Job{}, &batchv1.CronJob{})
	return scheme
}()
