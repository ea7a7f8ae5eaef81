package policies

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// TestTrim checks that unused fields of policies and Namespaces are not kept in memory.
func TestTrim(t *testing.T) {
	managed := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	policy, err := trimPolicy(&v1alpha1.PodFailurePolicy{ObjectMeta: metav1.ObjectMeta{Name: "oom", ManagedFields: managed}})
	if err != nil {
		t.Fatal(err)
	}
	if got := policy.(*v1alpha1.PodFailurePolicy); got.Name != "oom" || got.ManagedFields != nil {
		t.Errorf("kept %+v of a policy", got.ObjectMeta)
	}
	labels := map[string]string{"team": "training"}
	namespace, err := trimNamespace(&corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", Labels: labels, Annotations: labels, ManagedFields: managed},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", Labels: labels}}
	if diff := cmp.Diff(want, namespace); diff != "" {
		t.Errorf("a Namespace (-want +got):\n%s", diff)
	}
}
