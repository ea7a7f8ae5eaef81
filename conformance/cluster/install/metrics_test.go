//go:build cluster

package install

import (
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The API server says who may get /metrics, unless a flag says that all may.
func (i *installation) guardsMetrics(t *testing.T) {
	p := i.start(t, i.kubeconfig(t, newProxy(t, i.cluster.Config)))
	reader, stranger := i.token(t, "reader", i.mayRead), i.token(t, "stranger", nil)
	for name, test := range map[string]struct {
		token  string
		status int
	}{
		"no token":         {"", http.StatusUnauthorized},
		"no token of ours": {"nonsense", http.StatusUnauthorized},
		"without the role": {stranger, http.StatusForbidden},
		"with the role":    {reader, http.StatusOK},
	} {
		status, text, err := p.gather(t, test.token)
		if status != test.status || err != nil || strings.Contains(text, "go_goroutines") != (status == http.StatusOK) {
			t.Errorf("%s: %d %s %v", name, status, text, err)
		}
	}
	if status, _, err := get(p.metrics, "/metrics"); status != http.StatusBadRequest || err != nil {
		t.Errorf("HTTP in place of HTTPS: %d %v", status, err)
	}
	p.stop(t)

	open := i.start(t, i.kubeconfig(t, newProxy(t, i.cluster.Config)), "--metrics-authentication=false")
	if status, text, err := get(open.metrics, "/metrics"); status != http.StatusOK || err != nil || !strings.Contains(text, "go_goroutines") {
		t.Errorf("without authentication: %d %s %v", status, text, err)
	}
	open.stop(t)
}

// token returns a token of a service account, which give may have granted something before.
func (i *installation) token(t *testing.T, account string, give func(*testing.T, rbacv1.Subject)) string {
	t.Helper()
	const home = metav1.NamespaceDefault
	accounts := i.client.CoreV1().ServiceAccounts(home)
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

// mayRead binds the installation's role for who gathers metrics.
func (i *installation) mayRead(t *testing.T, who rbacv1.Subject) {
	t.Helper()
	_, err := i.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gathers-metrics"}, Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "podverdict-metrics-reader"},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
