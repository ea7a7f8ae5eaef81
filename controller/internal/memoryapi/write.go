package memoryapi

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

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
	switch o := o.(type) {
	case *batchv1.Job:
		return s.updateJob(t, old.(*batchv1.Job), o, subresource) //nolint:forcetypeassert // the table has one type
	case *corev1.Pod:
		return s.updatePod(t, old.(*corev1.Pod), o, subresource) //nolint:forcetypeassert // the table has one type
	case *v1alpha1.PodFailurePolicy:
		return s.updatePolicy(t, old.(*v1alpha1.PodFailurePolicy), o, subresource), nil //nolint:forcetypeassert // the table has one type
	case *v1alpha1.PodFailurePolicyBinding:
		return s.updateBinding(t, old.(*v1alpha1.PodFailurePolicyBinding), o, subresource), nil //nolint:forcetypeassert // the table has one type
	default:
		return s.put(t, o), nil
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

// updateJob writes either the status with the metadata, as the real API server does, or everything but the status.
func (s *Server) updateJob(t *table, old, job *batchv1.Job, subresource string) (Object, error) {
	if subresource != "status" {
		job.Status = old.Status
		return s.store(t, job), nil
	}
	job.Spec = old.Spec
	if broken := statusErrors(old, job); len(broken) > 0 {
		return nil, apierrors.NewInvalid(t.kind.GroupKind(), job.Name, broken)
	}
	return s.store(t, job), nil
}

func (s *Server) updatePod(t *table, old, pod *corev1.Pod, subresource string) (Object, error) {
	if subresource == "status" {
		pod.Spec = old.Spec
	} else {
		pod.Status = old.Status
	}
	return s.store(t, pod), nil
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

// erase deletes an object: at once, or after its grace period or when its finalizers are removed.
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
		at.Time = at.Time.Add(secondsOf(grace))
		o.SetDeletionTimestamp(&at)
	}
	return s.put(t, o), nil
}
