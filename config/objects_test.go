package config_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/config"
)

func TestEveryFileIsAnObject(t *testing.T) {
	var names []string
	for _, pattern := range []string{"*.yaml", "crd/*.yaml", "components/nodes/cluster-*.yaml"} {
		found, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%q: %v", found, err)
		}
		names = append(names, found...)
	}
	objects := all(t, everything)
	if want := len(names) - 1; len(objects) != want || want == 0 {
		t.Errorf("there are %d objects, and %d files beside kustomization.yaml", len(objects), want)
	}
}

// everything is the installation with all parts.
var everything = config.Options{Nodes: true}

// The test finds unknown kinds and fields, which kubectl would report only when it applies the objects.
func TestObjectsAreOfTheirKinds(t *testing.T) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, rbacv1.AddToScheme, networkingv1.AddToScheme, schedulingv1.AddToScheme, policyv1.AddToScheme, appsv1.AddToScheme,
		admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
	for _, object := range all(t, everything) {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := decoder.Decode(text, nil, nil); err != nil {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

func TestOptionsReachEveryObject(t *testing.T) {
	for _, object := range all(t, config.Options{Namespace: "elsewhere", Image: "registry.example.com/image:tag", Nodes: true}) {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "podverdict-system") || strings.Contains(string(text), ".invalid") {
			t.Errorf("%s %s keeps what the options replace:\n%s", object.GetKind(), object.GetName(), text)
		}
		wanted := "elsewhere"
		switch object.GetKind() {
		case "ClusterRole", "PriorityClass", "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
			wanted = "podverdict" // these kinds are cluster-scoped
		}
		if !strings.Contains(string(text), wanted) {
			t.Errorf("%s %s does not say %s:\n%s", object.GetKind(), object.GetName(), wanted, text)
		}
	}
}

// Custom resource definitions come before the objects that use them, so that custom policies can be applied with the
// installation.
func TestKindsComeFirst(t *testing.T) {
	for i, object := range all(t, config.Options{}) {
		if first := object.GetKind() == "CustomResourceDefinition"; first != (i < 2) {
			t.Errorf("object %d is %s %s", i, object.GetKind(), object.GetName())
		}
	}
}

// A selector that selects nothing is legal and has no effect, so the test compares selectors with the Pods' labels.
func TestSelectorsSelectThePods(t *testing.T) {
	deployment := one[appsv1.Deployment](t, "Deployment")
	budget := one[policyv1.PodDisruptionBudget](t, "PodDisruptionBudget")
	policy := one[networkingv1.NetworkPolicy](t, "NetworkPolicy")
	selectors := []*metav1.LabelSelector{deployment.Spec.Selector, budget.Spec.Selector, &policy.Spec.PodSelector}
	for _, spread := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
		selectors = append(selectors, spread.LabelSelector)
	}
	if len(selectors) < 4 {
		t.Fatalf("there are %d selectors", len(selectors))
	}
	for _, s := range selectors {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			t.Fatal(err)
		}
		if selector.Empty() || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
			t.Errorf("selector %q does not select pods with labels %v", selector, deployment.Spec.Template.Labels)
		}
	}
}

func TestBindingsBindTheRolesToTheAccount(t *testing.T) {
	account := one[corev1.ServiceAccount](t, "ServiceAccount")
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}}
	var bound []string
	for _, kind := range []string{"ClusterRole", "Role"} {
		for _, binding := range some[rbacv1.ClusterRoleBinding](t, everything, kind+"Binding") { // RoleBindings have the same fields
			if diff := cmp.Diff(want, binding.Subjects); diff != "" {
				t.Errorf("%s: %s", binding.Name, diff)
			}
			bound = append(bound, binding.RoleRef.Kind+" "+binding.RoleRef.Name)
		}
	}
	roles := []string{"ClusterRole podverdict-controller", "ClusterRole podverdict-controller-observe", "ClusterRole podverdict-controller-manage", "ClusterRole podverdict-controller-nodes", "Role podverdict-controller"}
	if diff := cmp.Diff(roles, bound); diff != "" {
		t.Error(diff)
	}
	if got := one[appsv1.Deployment](t, "Deployment").Spec.Template.Spec.ServiceAccountName; got != account.Name {
		t.Errorf("the pods have the service account %s, want %s", got, account.Name)
	}
}

// The options that restrict the controller remove the permissions that they are meant to withhold.
func TestOptionsGrantLess(t *testing.T) {
	namespaced, watching := config.Options{JobsNamespace: "team-a"}, config.Options{ObserveOnly: true}
	if len(some[rbacv1.RoleBinding](t, namespaced, "RoleBinding")) != 3 {
		t.Error("there are not two RoleBindings beside that of the lease")
	}
	for _, binding := range some[rbacv1.ClusterRoleBinding](t, namespaced, "ClusterRoleBinding") {
		for _, role := range some[rbacv1.ClusterRole](t, namespaced, "ClusterRole") {
			if role.Name == binding.RoleRef.Name && aboutJobs(role.Rules, "*") {
				t.Errorf("%s grants Jobs or Pods everywhere", binding.Name)
			}
		}
	}
	for _, role := range some[rbacv1.ClusterRole](t, config.Options{}, "ClusterRole") {
		if slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "nodes") }) {
			t.Errorf("%s grants nodes, which nobody asked for", role.Name)
		}
	}
	for _, role := range some[rbacv1.ClusterRole](t, watching, "ClusterRole") {
		if aboutJobs(role.Rules, "update", "patch", "delete", "create") {
			t.Errorf("%s grants writes", role.Name)
		}
	}
}

// aboutJobs reports whether rules grant one of the verbs on Jobs or Pods.
func aboutJobs(rules []rbacv1.PolicyRule, verbs ...string) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		of := slices.ContainsFunc(rule.Resources, func(r string) bool { return strings.HasPrefix(r, "jobs") || strings.HasPrefix(r, "pods") })
		return of && slices.ContainsFunc(verbs, func(verb string) bool { return verb == "*" || slices.Contains(rule.Verbs, verb) })
	})
}

// If the image in the base existed, an installation without an overlay would run an unrelated image.
func TestBaseHasNoImage(t *testing.T) {
	image := one[appsv1.Deployment](t, "Deployment").Spec.Template.Spec.Containers[0].Image
	if registry, _, _ := strings.Cut(image, "/"); !strings.HasSuffix(registry, ".invalid") {
		t.Errorf("the image is %s", image)
	}
}

func TestPriorityIsTheInstallations(t *testing.T) {
	class := one[schedulingv1.PriorityClass](t, "PriorityClass")
	if got := one[appsv1.Deployment](t, "Deployment").Spec.Template.Spec.PriorityClassName; got != class.Name || class.GlobalDefault {
		t.Errorf("the pods have the class %s, and there is %+v", got, class)
	}
}

// The NetworkPolicy admits traffic to exactly the container's ports.
func TestNetworkPolicyLetsInWhatThePortsAreFor(t *testing.T) {
	var let, listens []string
	for _, rule := range one[networkingv1.NetworkPolicy](t, "NetworkPolicy").Spec.Ingress {
		for _, port := range rule.Ports {
			let = append(let, port.Port.StrVal)
		}
	}
	for _, port := range one[appsv1.Deployment](t, "Deployment").Spec.Template.Spec.Containers[0].Ports {
		listens = append(listens, port.Name)
	}
	if diff := cmp.Diff(listens, let); diff != "" {
		t.Error(diff)
	}
}

// Probes and ports agree with the addresses in the flags.
func TestPortsAreThoseOfTheFlags(t *testing.T) {
	container := one[appsv1.Deployment](t, "Deployment").Spec.Template.Spec.Containers[0]
	if len(container.Ports) != 2 {
		t.Fatalf("there are %d ports", len(container.Ports))
	}
	for _, port := range container.Ports {
		if flag := fmt.Sprintf("--%s-bind-address=:%d", port.Name, port.ContainerPort); !slices.Contains(container.Args, flag) {
			t.Errorf("%s is not among the flags %q", flag, container.Args)
		}
	}
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		if got := probe.HTTPGet.Port.StrVal; got != "health" {
			t.Errorf("a probe asks port %q", got)
		}
	}
}

func all(t *testing.T, o config.Options) []config.Object {
	t.Helper()
	objects, err := config.Objects(o)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// some returns the objects of a kind.
func some[T any](t *testing.T, options config.Options, kind string) (objects []T) {
	t.Helper()
	for _, o := range all(t, options) {
		if o.GetKind() != kind {
			continue
		}
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		var object T
		if err := yaml.UnmarshalStrict(text, &object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// one returns the only object of a kind.
func one[T any](t *testing.T, kind string) T {
	t.Helper()
	objects := some[T](t, config.Options{}, kind)
	if len(objects) != 1 {
		t.Fatalf("there are %d of kind %s", len(objects), kind)
	}
	return objects[0]
}
