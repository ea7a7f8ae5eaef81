package controller_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiversion "k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/controller"
)

// all holds the needs of the installation.
var all = controller.Needs{Reviews: true, Lease: types.NamespacedName{Namespace: "podverdict-system", Name: "podverdict-controller"}}

// TestPermissionsAreThoseOfTheInstallation checks that the installation grants exactly the permissions that the controller needs, for all
// options.
func TestPermissionsAreThoseOfTheInstallation(t *testing.T) {
	for _, test := range []struct {
		options config.Options
		needs   func(*controller.Needs)
	}{
		{config.Options{}, func(*controller.Needs) {}},
		{config.Options{ObserveOnly: true}, func(n *controller.Needs) { n.ObserveOnly = true }},
		{config.Options{JobsNamespace: "team-a", Nodes: true}, func(n *controller.Needs) { n.Namespace, n.Nodes = "team-a", true }},
		{config.Options{JobsNamespace: "team-a"}, func(n *controller.Needs) { n.Namespace = "team-a" }},
		{config.Options{JobsNamespace: "team-a", ObserveOnly: true}, func(n *controller.Needs) { n.Namespace, n.ObserveOnly = "team-a", true }},
	} {
		needs := all
		test.needs(&needs)
		var needed []string
		for _, p := range controller.Permissions(needs) {
			resource := p.Resource
			if p.Subresource != "" {
				resource += "/" + p.Subresource
			}
			needed = append(needed, strings.Join([]string{p.Namespace, p.Group, resource, p.Name, p.Verb}, " "))
			if p.Why == "" {
				t.Errorf("nothing says what for there is %+v", p)
			}
		}
		granted := grantedBy(t, test.options)
		slices.Sort(granted)
		slices.Sort(needed)
		if diff := cmp.Diff(needed, granted); diff != "" {
			t.Errorf("%+v: the installation differs from what is needed (-needed +granted):\n%s", test.options, diff)
		}
	}
}

// grantedBy returns the individual permissions granted by an installation's bindings.
func grantedBy(t *testing.T, options config.Options) (granted []string) {
	t.Helper()
	objects, err := config.Objects(options)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, object := range objects {
		if kind := object.GetKind(); kind == "Role" || kind == "ClusterRole" {
			var role rbacv1.Role
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
				t.Fatal(err)
			}
			rules[kind+" "+role.Name] = role.Rules
		}
	}
	for _, object := range objects {
		if kind := object.GetKind(); kind == "RoleBinding" || kind == "ClusterRoleBinding" {
			var binding rbacv1.RoleBinding
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &binding); err != nil {
				t.Fatal(err)
			}
			for _, rule := range rules[binding.RoleRef.Kind+" "+binding.RoleRef.Name] {
				granted = append(granted, single(binding.Namespace, rule)...)
			}
		}
	}
	return granted
}

// single splits a rule into individual permissions.
func single(namespace string, rule rbacv1.PolicyRule) []string {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				for _, verb := range rule.Verbs {
					all = append(all, strings.Join([]string{namespace, group, resource, name, verb}, " "))
				}
			}
		}
	}
	return all
}

func TestPermissionsWithoutElection(t *testing.T) {
	for _, p := range controller.Permissions(controller.Needs{Namespace: "batch", Reviews: true}) {
		namespace := "batch"
		if p.Group == "podverdict.io" || p.Resource == "namespaces" || strings.HasSuffix(p.Resource, "reviews") {
			namespace = "" // these kinds are cluster-scoped
		}
		if p.Namespace != namespace || p.Resource == "leases" {
			t.Errorf("it needs %+v", p)
		}
	}
}

func TestPreflightAtOldServers(t *testing.T) {
	for version, warned := range map[string]bool{
		"v1.31.9": true, "v1.31.0-eks-1234": true, "v1.32.0": false, "v1.32.0+k3s1": false, "v1.36.3": false, "v2.0.0": false,
	} {
		client := allowing()
		client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &apiversion.Info{GitVersion: version}
		lines := strings.Join(preflight(t, client, controller.Permissions(all)), "\n")
		if got := strings.Contains(lines, `drops spec.managedBy`) && strings.Contains(lines, version); got != warned || !warned && lines != "" {
			t.Errorf("%s: warned %v, want %v: %s", version, got, warned, lines)
		}
	}
}

// TestPreflightAsksForEachPermission checks that each permission is checked exactly: permission to write a Job does not include its status.
func TestPreflightAsksForEachPermission(t *testing.T) {
	client := allowing()
	client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &apiversion.Info{GitVersion: "v1.36.3"}
	preflight(t, client, controller.Permissions(all))
	var asked, needed []authorizationv1.ResourceAttributes
	for _, action := range client.Actions() {
		if create, ok := action.(clienttesting.CreateAction); ok {
			asked = append(asked, *create.GetObject().(*authorizationv1.SelfSubjectAccessReview).Spec.ResourceAttributes)
		}
	}
	for _, p := range controller.Permissions(all) {
		needed = append(needed, authorizationv1.ResourceAttributes{
			Verb: p.Verb, Group: p.Group, Resource: p.Resource, Subresource: p.Subresource, Namespace: p.Namespace, Name: p.Name,
		})
	}
	if diff := cmp.Diff(needed, asked); diff != "" {
		t.Errorf("the reviews differ (-needed +asked):\n%s", diff)
	}
}

func TestPreflightFails(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no such thing")
	})
	client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &apiversion.Info{GitVersion: "v1.36.3"}
	err := controller.Preflight(t.Context(), client, controller.Permissions(all))
	if err == nil || err.Error() != "check permissions: no such thing" {
		t.Errorf("error %v", err)
	}
	client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &apiversion.Info{GitVersion: "newest"}
	if err := controller.Preflight(t.Context(), client, nil); err == nil || !strings.Contains(err.Error(), "newest") {
		t.Errorf("error %v", err)
	}
}

// allowing returns a client for an API server that allows everything.
func allowing() *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
	})
	return client
}

// preflight returns the lines logged by Preflight.
func preflight(t *testing.T, client kubernetes.Interface, needed []controller.Permission) []string {
	t.Helper()
	var log bytes.Buffer
	ctx := klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	if err := controller.Preflight(ctx, client, needed); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(log.String(), "\n"), func(line string) bool { return line == "" })
}
