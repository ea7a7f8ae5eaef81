package controller

import (
	"cmp"
	"context"
	"fmt"
	"path"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// Permission is one permission that the controller needs.
type Permission struct {
	// Verb is the verb on Resource in Group, or on its Subresource.
	Verb, Group, Resource, Subresource string
	// Namespace is the only namespace in which the permission is needed. Empty means all.
	Namespace string
	// Name is the only object for which the permission is needed. Empty means all.
	Name string
	// Why is the purpose of the permission.
	Why string
}

// Needs are the settings that determine which permissions a controller needs.
type Needs struct {
	// Namespace is the only namespace that the controller watches. Empty means all.
	Namespace string
	// ObserveOnly is Options.ObserveOnly.
	ObserveOnly bool
	// Nodes is set if rules may read nodes. Without this permission the controller runs as well, and nodes are absent for rules.
	Nodes bool
	// Reviews is set if the controller serves some endpoints to authorized requests only.
	Reviews bool
	// Lease is the lease for leader election. Without a name, there is none.
	Lease types.NamespacedName
}

// Permissions returns the permissions that a controller needs. Permissions for custom policies, namespaces and reviews are cluster-wide.
// Without the permissions for custom policies, the controller runs without them.
func Permissions(n Needs) []Permission {
	all := []Permission{
		{"list", "batch", "jobs", "", n.Namespace, "", "to see Jobs"},
		{"watch", "batch", "jobs", "", n.Namespace, "", "to see Jobs"},
		{"list", "", "pods", "", n.Namespace, "", "to see the pods of Jobs"},
		{"watch", "", "pods", "", n.Namespace, "", "to see the pods of Jobs"},
		{"create", "events.k8s.io", "events", "", n.Namespace, "", "to tell verdicts, and what happens to managed Jobs"},
		{"patch", "events.k8s.io", "events", "", n.Namespace, "", "to count events that happen again"},
		{"list", "podverdict.io", "podfailurepolicies", "", "", "", "to see custom policies"},
		{"watch", "podverdict.io", "podfailurepolicies", "", "", "", "to see custom policies"},
		{"update", "podverdict.io", "podfailurepolicies", "status", "", "", "to say what is wrong with custom policies"},
		{"list", "podverdict.io", "podfailurepolicybindings", "", "", "", "to see for which Jobs custom policies are in force"},
		{"watch", "podverdict.io", "podfailurepolicybindings", "", "", "", "to see for which Jobs custom policies are in force"},
		{"update", "podverdict.io", "podfailurepolicybindings", "status", "", "", "to say whether the policy of a binding is there"},
		{"list", "", "namespaces", "", "", "", "to see the labels that bindings select by"},
		{"watch", "", "namespaces", "", "", "", "to see the labels that bindings select by"},
	}
	if !n.ObserveOnly {
		all = append(all,
			Permission{"get", "batch", "jobs", "", n.Namespace, "", "to ask for the Job of a pod when the caches have none"},
			Permission{"patch", "batch", "jobs", "status", n.Namespace, "", "to count the pods of managed Jobs, and to end these"},
			Permission{"update", "batch", "jobs", "finalizers", n.Namespace, "", "to create pods where the admission plugin OwnerReferencesPermissionEnforcement is on"},
			Permission{"get", "", "pods", "", n.Namespace, "", "to ask for a pod whose creation has no known outcome, or that changes while a rule ends it"},
			Permission{"create", "", "pods", "", n.Namespace, "", "to run managed Jobs"},
			Permission{"patch", "", "pods", "", n.Namespace, "", "to remove the finalizer of the pods of managed Jobs"},
			Permission{"delete", "", "pods", "", n.Namespace, "", "to end the pods of managed Jobs that fail, succeed early, are suspended or scaled down, and living pods that a rule ends"},
			Permission{"patch", "", "pods", "status", n.Namespace, "", "to say of living pods why they are ended, and that those on lost nodes have failed"},
		)
	}
	if n.Nodes {
		all = append(all,
			Permission{"list", "", "nodes", "", "", "", "to let rules see the node of a pod"},
			Permission{"watch", "", "nodes", "", "", "", "to let rules see the node of a pod"},
		)
	}
	if n.Reviews {
		all = append(all,
			Permission{"create", "authentication.k8s.io", "tokenreviews", "", "", "", "to know who asks for metrics"},
			Permission{"create", "authorization.k8s.io", "subjectaccessreviews", "", "", "", "to know who may have metrics"},
		)
	}
	if n.Lease.Name != "" {
		all = append(all,
			Permission{"create", "coordination.k8s.io", "leases", "", n.Lease.Namespace, "", "to elect a leader"},
			Permission{"get", "coordination.k8s.io", "leases", "", n.Lease.Namespace, n.Lease.Name, "to elect a leader"},
			Permission{"update", "coordination.k8s.io", "leases", "", n.Lease.Namespace, n.Lease.Name, "to elect a leader"},
		)
	}
	return all
}

// Preflight logs a line for each missing permission, and one if the API server does not support spec.managedBy. It returns an error if it
// cannot check.
func Preflight(ctx context.Context, client kubernetes.Interface, needed []Permission) error {
	logger := klog.FromContext(ctx)
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("check permissions: %w", err)
	}
	server, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return fmt.Errorf("check permissions: %w", err)
	}
	if !server.AtLeast(firstManagedBy) {
		logger.Error(nil, "The API server drops spec.managedBy from Jobs, so Kubernetes runs them all: only observing makes sense",
			"version", info.GitVersion, "needed", "v"+firstManagedBy.String())
	}
	for _, p := range needed {
		granted, err := p.granted(ctx, client)
		if err != nil {
			return fmt.Errorf("check permissions: %w", err)
		}
		if !granted {
			logger.Error(nil, "A permission is missing", "verb", p.Verb, "resource", p.resource(),
				"namespace", cmp.Or(p.Namespace, "all namespaces"), "needed", p.Why)
		}
	}
	return nil
}

// firstManagedBy is the first version with spec.managedBy enabled by default (KEP-4368, beta).
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

// resource returns the resource in the form of kubectl auth can-i, such as jobs.batch/status.
func (p Permission) resource() string {
	text := p.Resource
	if p.Group != "" {
		text += "." + p.Group
	}
	return path.Join(text, p.Subresource, p.Name)
}
