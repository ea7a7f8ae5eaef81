package memoryapi

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

func (t *table) find(c Call) (Object, error) {
	o := t.objects[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}]
	if o == nil {
		return nil, apierrors.NewNotFound(t.group(), c.Name)
	}
	return o, nil
}

func (s *Server) create(t *table, o Object) (Object, error) {
	if t.objects[keyOf(o)] != nil {
		return nil, apierrors.NewAlreadyExists(t.group(), o.GetName())
	}
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	o.SetUID(types.UID("uid-" + strconv.FormatInt(s.version+1, 10)))
	o.SetCreationTimestamp(metav1.NewTime(s.now()).Rfc3339Copy())
	switch o := o.(type) {
	case *batchv1.Job:
		o.Generation = 1
		o.Status = batchv1.JobStatus{}
		complete(o)
	case *corev1.Pod:
		o.Status = corev1.PodStatus{Phase: corev1.PodPending}
	case *corev1.Namespace:
		metav1.SetMetaDataLabel(&o.ObjectMeta, corev1.LabelMetadataName, o.Name)
	case *v1alpha1.PodFailurePolicy:
		o.Generation, o.Status = 1, v1alpha1.PodFailurePolicyStatus{}
		o.SetDefaults()
	case *v1alpha1.PodFailurePolicyBinding:
		o.Generation, o.Status = 1, v1alpha1.PodFailurePolicyBindingStatus{}
		o.SetDefaults()
	}
	return s.put(t, o), nil
}

// update replaces an object, or the part of it that the subresource covers.
func (s *Server) update(t *table, o Object, subresource string) (Object, error) {
	old, err := t.find(Call{Namespace: o.GetNamespace(), Name: o.GetName()})
	if err != nil {
		return nil, err
	}
	if o.GetUID() != "" && o.GetUID() != old.GetUID() {
		return nil, apierrors.NewConflict(t.group(), o.GetName(), errPrecondition)
	}
	if version := o.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(t.group(), o.GetName(), errChanged)
	}
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	inherit(o, old)
	if broken := keep(o, old, subresource == "status"); len(broken) > 0 {
		return nil, apierrors.NewInvalid(t.kind.GroupKind(), o.GetName(), broken)
	}
	return s.store(t, o), nil
}

// keep reverts the parts that a write does not cover: a write to the status changes no spec, and another one no status.
// It returns the API server's errors about a Job's status. The specs of policies and bindings get their defaults.
//
//nolint:forcetypeassert // both are of one table, which has one type
func keep(o, old Object, status bool) field.ErrorList {
	switch o := o.(type) {
	case *batchv1.Job:
		was := old.(*batchv1.Job)
		keepPart(status, &o.Spec, &was.Spec, &o.Status, &was.Status)
		if status {
			return statusErrors(was, o)
		}
	case *corev1.Pod:
		was := old.(*corev1.Pod)
		keepPart(status, &o.Spec, &was.Spec, &o.Status, &was.Status)
	case *v1alpha1.PodFailurePolicy:
		was := old.(*v1alpha1.PodFailurePolicy)
		keepPart(status, &o.Spec, &was.Spec, &o.Status, &was.Status)
		o.SetDefaults()
		count(o, &was.Spec, &o.Spec)
	case *v1alpha1.PodFailurePolicyBinding:
		was := old.(*v1alpha1.PodFailurePolicyBinding)
		keepPart(status, &o.Spec, &was.Spec, &o.Status, &was.Status)
		o.SetDefaults()
		count(o, &was.Spec, &o.Spec)
	}
	return nil
}

func keepPart[Spec, Status any](isStatus bool, spec, oldSpec *Spec, status, oldStatus *Status) {
	if isStatus {
		*spec = *oldSpec
		return
	}
	*status = *oldStatus
}

// count increments the generation if the spec has changed.
func count(o Object, before, after any) {
	if !equality.Semantic.DeepEqual(before, after) {
		o.SetGeneration(o.GetGeneration() + 1)
	}
}

// inherit copies the metadata that an update cannot change.
func inherit(o, old metav1.Object) {
	o.SetUID(old.GetUID())
	o.SetCreationTimestamp(old.GetCreationTimestamp())
	o.SetDeletionTimestamp(old.GetDeletionTimestamp())
	o.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	o.SetGeneration(old.GetGeneration())
	o.SetManagedFields(nil)
}

// store puts an object. It removes an object that is being deleted once it has no finalizers and its grace period is
// over.
func (s *Server) store(t *table, o Object) Object {
	grace := o.GetDeletionGracePeriodSeconds()
	stored := s.put(t, o)
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 && (grace == nil || *grace == 0) {
		s.remove(t, stored)
	}
	return stored
}

// erase deletes an object: immediately, or after its grace period or when its finalizers are removed.
func (s *Server) erase(t *table, c Call, options *metav1.DeleteOptions) (Object, error) {
	old, err := t.find(c)
	if err != nil {
		return nil, err
	}
	if p := options.Preconditions; p != nil &&
		(p.UID != nil && *p.UID != old.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion()) {
		return nil, apierrors.NewConflict(t.group(), c.Name, errPrecondition)
	}
	grace := gracePeriod(old, options)
	if grace == 0 && len(old.GetFinalizers()) == 0 {
		s.remove(t, old)
		return old, nil
	}
	o, _ := old.DeepCopyObject().(Object)
	if before := old.GetDeletionGracePeriodSeconds(); before == nil || grace < *before {
		o.SetDeletionGracePeriodSeconds(&grace)
	}
	if old.GetDeletionTimestamp() == nil {
		at := metav1.NewTime(s.now()).Rfc3339Copy()
		at.Time = at.Time.Add(time.Duration(grace) * time.Second)
		o.SetDeletionTimestamp(&at)
	}
	return s.put(t, o), nil
}
