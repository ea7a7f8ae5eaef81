//go:build cluster

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// TestClusterExamples runs the example lines that read or change a cluster, in a cluster with the objects that they name.
func TestClusterExamples(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t) // must be called before changing the working directory
	bin := exampleFolder(t)
	exampleCluster(t, plane, bin)
	lines := 0
	for _, line := range exampleLines(t) {
		if readsCluster.MatchString(line) {
			runExample(t, bin, line)
			lines++
		}
	}
	if lines < 10 {
		t.Errorf("only %d lines need a cluster", lines)
	}
}

// exampleCluster creates the quickstart's Job and Pods in the namespace of the kubeconfig and in another namespace.
func exampleCluster(t *testing.T, plane *controlplane.Cluster, bin string) {
	t.Helper()
	client := newClient(t, plane)
	if err := os.Symlink(plane.Kubectl(t), filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	batch := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "batch"}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), batch, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	own := plane.Namespace(t)
	for _, namespace := range []string{own, "batch"} {
		set, err := manifest.Read(t.Context(), manifest.Options{Filenames: []string{"all.yaml"}})
		if err != nil {
			t.Fatal(err)
		}
		p := player{client: client, namespace: namespace}
		if err := p.createAll(set); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { removePolicies(t, client) })
	t.Setenv("KUBECONFIG", inNamespace(t, plane.Kubeconfig(t, "admin", "system:masters"), own))
	home := t.TempDir() // for kubectl's discovery cache
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// removePolicies removes the policies installed by examples, so that they do not affect other tests.
func removePolicies(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	policies := client.AdmissionregistrationV1()
	for _, remove := range []func(context.Context, metav1.DeleteOptions, metav1.ListOptions) error{
		policies.ValidatingAdmissionPolicies().DeleteCollection,
		policies.ValidatingAdmissionPolicyBindings().DeleteCollection,
		policies.MutatingAdmissionPolicies().DeleteCollection,
		policies.MutatingAdmissionPolicyBindings().DeleteCollection,
	} {
		if err := remove(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	}
	for _, resource := range []string{v1alpha1.ResourcePodFailurePolicies, v1alpha1.ResourcePodFailurePolicyBindings} {
		if err := undefine(client, resource+"."+v1alpha1.GroupVersion.Group); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}
