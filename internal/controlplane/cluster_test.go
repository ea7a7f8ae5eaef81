//go:build cluster

package controlplane_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestStartsOnce(t *testing.T) {
	clusters := make([]*controlplane.Cluster, 4)
	var all sync.WaitGroup
	for i := range clusters {
		all.Go(func() { clusters[i] = controlplane.Start(t, controlplane.ControllerManager) })
	}
	all.Wait()
	for _, c := range clusters {
		if c == nil || c != clusters[0] {
			t.Fatalf("not all are the same: %v", clusters)
		}
	}
}

func TestKubectlIsTheUser(t *testing.T) {
	c := controlplane.Start(t)
	var versions struct {
		ServerVersion, ClientVersion struct{ GitVersion, Major, Minor string }
	}
	out := kubectl(t, c, c.Kubeconfig(t, "anyone"), "version", "-o", "json")
	if err := json.Unmarshal([]byte(out), &versions); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if c.Version == "" || versions.ServerVersion.GitVersion != c.Version || versions.ClientVersion != versions.ServerVersion {
		t.Errorf("kubectl version: %+v, want %q", versions, c.Version)
	}
	for _, user := range []struct {
		name   string
		groups []string
		want   string
	}{
		{name: "jane", want: `User "jane" cannot list resource "jobs" in API group "batch" in the namespace "default"`},
		{name: "john", groups: []string{"batch", "system:masters"}, want: "No resources found in default namespace."},
	} {
		if got := kubectl(t, c, c.Kubeconfig(t, user.name, user.groups...), "get", "jobs"); !strings.Contains(got, user.want) {
			t.Errorf("%s: kubectl get jobs: %s, want %s", user.name, got, user.want)
		}
	}
}

func kubectl(t *testing.T, c *controlplane.Cluster, kubeconfig string, args ...string) string {
	t.Helper()
	out, _ := exec.Command(c.Kubectl(t), append(args, "--kubeconfig="+kubeconfig)...).CombinedOutput()
	return string(out)
}

func TestAdmissionPoliciesAreServed(t *testing.T) {
	client := clientOf(t, controlplane.Start(t))
	served, err := client.Discovery().ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range served.APIResources {
		names = append(names, r.Name)
	}
	for _, want := range []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"} {
		if !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("%s are not served, only %v", want, names)
		}
	}
}

// A policy's audit annotation of a dry run is read back, which also shows that policies
// are enforced.
func TestAuditLog(t *testing.T) {
	c := controlplane.Start(t)
	client, namespace := clientOf(t, c), c.Namespace(t)
	auditConfigMaps(t, client, namespace)
	eventually(t, func() bool {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dry"}}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Fatal(err)
		}
		for _, event := range c.AuditLog(t, namespace) {
			if event.ObjectRef.Namespace != namespace || event.Verb == "get" || event.Stage != auditv1.StageResponseComplete {
				t.Fatalf("%s %s of %+v is in the log", event.Stage, event.Verb, event.ObjectRef)
			}
			if event.Annotations[namespace+"/name"] == "dry" {
				return true
			}
		}
		return false
	})
	if all, ours := len(c.AuditLog(t, "")), len(c.AuditLog(t, namespace)); all <= ours {
		t.Errorf("%d events in all namespaces, %d in this one", all, ours)
	}
}

func auditConfigMaps(t *testing.T, client *kubernetes.Clientset, namespace string) {
	t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: metav1.SetAsLabelSelector(map[string]string{corev1.LabelMetadataName: namespace}),
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			AuditAnnotations: []admissionv1.AuditAnnotation{{Key: "name", ValueExpression: "string(object.metadata.name)"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Audit},
		},
	}
	policies, bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		bindings.Delete(context.Background(), namespace, metav1.DeleteOptions{})
		policies.Delete(context.Background(), namespace, metav1.DeleteOptions{})
	})
}

func TestControllersAndSchedulerWork(t *testing.T) {
	c := controlplane.Start(t, controlplane.ControllerManager, controlplane.Scheduler)
	client := clientOf(t, c)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.CoreV1().Nodes().Delete(context.Background(), "node", metav1.DeleteOptions{}) })
	var namespace string
	t.Run("in a namespace", func(t *testing.T) {
		namespace = c.Namespace(t)
		if other := c.Namespace(t); other == namespace {
			t.Errorf("two namespaces are %s", other)
		}
		createJob(t, client, namespace)
		eventually(t, func() bool {
			pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=job"})
			return err == nil && len(pods.Items) == 1 && pods.Items[0].Spec.NodeName == "node"
		})
	})
	eventually(t, func() bool {
		// As the kubelet does when it has stopped a pod, for which the namespace waits.
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		if err := client.CoreV1().Pods(namespace).DeleteCollection(t.Context(), now, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func createJob(t *testing.T, client *kubernetes.Clientset, namespace string) {
	t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "image"}},
		Tolerations:   []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, // nobody says that the node is ready
	}
	if _, err := client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func clientOf(t *testing.T, c *controlplane.Cluster) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within a minute")
		}
	}
}
