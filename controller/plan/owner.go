package plan

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Owner identifies the Job that controls a pod, as far as the pod says. It is comparable.
//
// All parts count. Whoever may write pods of one namespace can put the UID of any Job into an owner reference, and a UID
// alone would then let a pod of one tenant decide the Job of another (compare PodControllerIndexKey in
// pkg/controller/controller_utils.go).
type Owner struct {
	types.NamespacedName

	UID types.UID
}

// OwnerOf returns the Job that the pod's controller reference names. It is false for a pod without one, and for a pod that
// another kind of object controls.
func OwnerOf(p *corev1.Pod) (Owner, bool) {
	reference := metav1.GetControllerOfNoCopy(p)
	if reference == nil || reference.Kind != "Job" || reference.APIVersion != batchv1.SchemeGroupVersion.String() {
		return Owner{}, false
	}
	return Owner{types.NamespacedName{Namespace: p.Namespace, Name: reference.Name}, reference.UID}, true
}

// Managed reports whether this controller runs the Job. The field cannot be changed (KEP-4368).
func Managed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.ManagedBy, "") == v1alpha1.JobController
}

// OwnerFor returns the Owner that the pods of a Job have.
func OwnerFor(job *batchv1.Job) Owner {
	return Owner{types.NamespacedName{Namespace: job.Namespace, Name: job.Name}, job.UID}
}

// Controls reports whether the Job controls the pod: namespace, kind, name and UID are those of the pod's controller reference.
func Controls(job *batchv1.Job, p *corev1.Pod) bool {
	owner, ok := OwnerOf(p)
	return ok && owner == OwnerFor(job)
}

// String returns the owner as the key of an index.
func (o Owner) String() string { return o.NamespacedName.String() + "/" + string(o.UID) }
