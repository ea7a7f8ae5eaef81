//go:build cluster

package install

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// token returns a token of a service account. give may grant it permissions first.
func (i *installation) token(t *testing.T, account string, give func(*testing.T, rbacv1.Subject)) string {
	t.Helper()
	const home = metav1.NamespaceDefault
	accounts := i.Client.CoreV1().ServiceAccounts(home)
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if give != nil {
		give(t, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: account})
	}
	request, err := accounts.CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// mayRead binds the installation's role for reading metrics.
func (i *installation) mayRead(t *testing.T, who rbacv1.Subject) {
	t.Helper()
	_, err := i.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gathers-metrics"}, Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "podverdict-metrics-reader"},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
