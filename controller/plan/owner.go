package plan

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Owner identifies the Job that controls a pod, as named by the pod. It is comparable.
//
// All fields must match. Anybody who may write pods in one namespace can put the UID of any Job into an owner reference.
// Matching by only the UID would let a pod of one tenant decide the Job of another (compare PodControllerIndexKey in
// pkg/controller/controller_utils.go).
type Owner struct {
	types.NamespacedName

	UID types.UID
}

// OwnerOf returns the Job in the pod's controller reference. It returns false if the reference is missing or names
// another kind.
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

// OwnerFor returns the Owner for the pods of a Job.
func OwnerFor(job *batchv1.Job) Owner {
	return Owner{types.NamespacedName{Namespace: job.Namespace, Name: job.Name}, job.UID}
}

// Controls reports whether the pod's controller reference names the Job, with namespace, kind, name and UID.
func Controls(job *batchv1.Job, p *corev1.Pod) bool {
	owner, ok := OwnerOf(p)
	return ok && owner == OwnerFor(job)
}

// String returns the owner as an index key.
func (o Owner) String() string { return o.NamespacedName.String() + "/" + string(o.UID) }
