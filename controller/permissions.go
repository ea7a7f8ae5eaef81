package controller

import (
	"cmp"
	"context"
	"path"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// Permission is one that the controller needs.
type Permission struct {
	// Verb is what is done to Resource, which is of Group, or to a Subresource of it.
	Verb, Group, Resource, Subresource string
	// Namespace is the only one in which it is needed; empty means all.
	Namespace string
	// Name is the only object that it is needed for; empty means all.
	Name string
	// Why is what the controller does with it.
	Why string
}

// Permissions are what the controller needs to work in a namespace, or in all when it is empty, and to hold a lease unless
// that has no name. What custom policies need is of the whole cluster; without it, none is in force.
func Permissions(namespace string, lease types.NamespacedName) []Permission {
	all := []Permission{
		{"get", "batch", "jobs", "", namespace, "", "to ask for the Job of a pod when the caches have none"},
		{"list", "batch", "jobs", "", namespace, "", "to see Jobs"},
		{"watch", "batch", "jobs", "", namespace, "", "to see Jobs"},
		{"update", "batch", "jobs", "status", namespace, "", "to count the pods of managed Jobs, and to end these"},
		{"update", "batch", "jobs", "finalizers", namespace, "", "to create pods where the admission plugin OwnerReferencesPermissionEnforcement is on"},
		{"get", "", "pods", "", namespace, "", "to ask for a pod whose creation has no known outcome"},
		{"list", "", "pods", "", namespace, "", "to see the pods of Jobs"},
		{"watch", "", "pods", "", namespace, "", "to see the pods of Jobs"},
		{"create", "", "pods", "", namespace, "", "to run managed Jobs"},
		{"patch", "", "pods", "", namespace, "", "to remove the finalizer of the pods of managed Jobs"},
		{"delete", "", "pods", "", namespace, "", "to end the pods of managed Jobs that fail, succeed early, are suspended or scaled down"},
		{"patch", "", "pods", "status", namespace, "", "to say of pods that do not start why they are deleted"},
		{"list", "podverdict.io", "podfailurepolicies", "", "", "", "to see custom policies"},
		{"watch", "podverdict.io", "podfailurepolicies", "", "", "", "to see custom policies"},
		{"update", "podverdict.io", "podfailurepolicies", "status", "", "", "to say what is wrong with custom policies"},
		{"list", "podverdict.io", "podfailurepolicybindings", "", "", "", "to see for which Jobs custom policies are in force"},
		{"watch", "podverdict.io", "podfailurepolicybindings", "", "", "", "to see for which Jobs custom policies are in force"},
		{"update", "podverdict.io", "podfailurepolicybindings", "status", "", "", "to say whether the policy of a binding is there"},
		{"list", "", "namespaces", "", "", "", "to see the labels that bindings select by"},
		{"watch", "", "namespaces", "", "", "", "to see the labels that bindings select by"},
		{"create", "events.k8s.io", "events", "", namespace, "", "to tell verdicts, and what happens to managed Jobs"},
		{"patch", "events.k8s.io", "events", "", namespace, "", "to count events that happen again"},
	}
	if lease.Name == "" {
		return all
	}
	return append(all,
		Permission{"create", "coordination.k8s.io", "leases", "", lease.Namespace, "", "to elect a leader"},
		Permission{"get", "coordination.k8s.io", "leases", "", lease.Namespace, lease.Name, "to elect a leader"},
		Permission{"update", "coordination.k8s.io", "leases", "", lease.Namespace, lease.Name, "to elect a leader"},
	)
}

// Preflight says in the log what the controller cannot do at this API server: a line for each permission that is missing,
// and one when the API server knows no spec.managedBy. An error means that it could not be found out.
func Preflight(ctx context.Context, client kubernetes.Interface, needed []Permission) error {
	logger := klog.FromContext(ctx)
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return errPreflight(err)
	}
	server, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return errPreflight(err)
	}
	if !server.AtLeast(firstManagedBy) {
		logger.Error(nil, "The API server drops spec.managedBy from Jobs, so Kubernetes runs them all: only observing makes sense",
			"version", info.GitVersion, "needed", "v"+firstManagedBy.String())
	}
	for _, p := range needed {
		granted, err := p.granted(ctx, client)
		if err != nil {
			return errPreflight(err)
		}
		if !granted {
			logger.Error(nil, "A permission is missing", "verb", p.Verb, "resource", p.resource(),
				"namespace", cmp.Or(p.Namespace, "all namespaces"), "needed", p.Why)
		}
	}
	return nil
}

// firstManagedBy is the first version whose Jobs have the field without being asked (KEP-4368, beta).
var firstManagedBy = version.MajorMinor(1, 32)

func (p Permission) granted(ctx context.Context, client kubernetes.Interface) (bool, error) {
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: p.Verb, Group: p.Group, Resource: p.Resource, Subresource: p.Subresource, Namespace: p.Namespace, Name: p.Name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// resource is in the form that kubectl auth can-i takes: jobs.batch/status.
func (p Permission) resource() string {
	text := p.Resource
	if p.Group != "" {
		text += "." + p.Group
	}
	return path.Join(text, p.Subresource, p.Name)
}
