//go:build cluster

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// TestClusterPolicyScript runs the script of testdata/clusterpolicy on an API server with the CustomResourceDefinitions
// of custom policies. It is a single script, because policies are cluster-scoped.
func TestClusterPolicyScript(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	define(t, client)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/clusterpolicy",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			one := env.T().(testing.TB)
			p := player{client: client, namespace: plane.Namespace(one)}
			env.Values["player"] = p
			env.Setenv("NS", p.namespace)
			env.Setenv("KUBECONFIG", inNamespace(one, plane.Kubeconfig(one, "admin", "system:masters"), p.namespace))
			env.Setenv("READER", inNamespace(one, plane.Kubeconfig(one, "reader"), p.namespace))
			return p.letSeeJobs(one.Context(), "reader", "pods")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"amend":      amend,
			"bind":       bind,
			"code":       exitCode,
			"create":     create,
			"eventually": eventually,
			"label":      label,
		},
	})
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define installs the CustomResourceDefinitions of config/crd, and removes them after the test.
func define(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("definitions: %v, %v", files, err)
	}
	install(t, client, files...)
	await(t, client, policiesPath, v1alpha1.ResourcePodFailurePolicies, v1alpha1.ResourcePodFailurePolicyBindings)
}

// install installs CustomResourceDefinitions, and removes them after the test.
func install(t *testing.T, client kubernetes.Interface, files ...string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			err := post(client, definitions, text)
			if apierrors.IsAlreadyExists(err) && time.Now().Before(deadline) {
				continue // another test's definition is still being deleted
			}
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		t.Cleanup(func() {
			if err := undefine(client, object.Name); err != nil {
				t.Error(err)
			}
		})
	}
}

func undefine(client kubernetes.Interface, name string) error {
	return client.Discovery().RESTClient().Delete().AbsPath(definitions, name).Do(context.Background()).Error()
}

// await waits until resources are served.
func await(t *testing.T, client kubernetes.Interface, path string, resources ...string) {
	t.Helper()
	for _, resource := range resources {
		var err error
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if err = client.Discovery().RESTClient().Get().AbsPath(path, resource).Do(t.Context()).Error(); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const policiesPath = "/apis/podverdict.io/v1alpha1"

func post(client kubernetes.Interface, path string, object []byte) error {
	data, err := yaml.YAMLToJSON(object)
	if err != nil {
		return err
	}
	return client.Discovery().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").
		Body(data).Do(context.Background()).Error()
}

// bind implements the script command "bind FILE...", which creates the policies and bindings in the files.
func bind(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: bind FILE...")
	}
	p, set := ts.Value("player").(player), readScript(ts, args)
	for _, policy := range set.Policies {
		ts.Check(p.createCustom(v1alpha1.ResourcePodFailurePolicies, policy.Object))
	}
	for _, binding := range set.Bindings {
		ts.Check(p.createCustom(v1alpha1.ResourcePodFailurePolicyBindings, binding.Object))
	}
}

func (p player) createCustom(resource string, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return post(p.client, policiesPath+"/"+resource, data)
}

// amend implements the script command "amend FILE...", which sets the spec and status of policies to those in the files.
func amend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: amend FILE...")
	}
	p := ts.Value("player").(player)
	for _, policy := range readScript(ts, args).Policies {
		ts.Check(p.amend(policy.Object))
	}
}

func (p player) amend(policy *v1alpha1.PodFailurePolicy) error {
	data, err := json.Marshal(map[string]any{"spec": policy.Spec, "status": policy.Status})
	if err != nil {
		return err
	}
	path := policiesPath + "/" + v1alpha1.ResourcePodFailurePolicies + "/" + policy.Name
	for _, part := range []string{path, path + "/status"} {
		patch := p.client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath(part).Body(data)
		if err := patch.Do(context.Background()).Error(); err != nil {
			return err
		}
	}
	return nil
}

// label implements the script command "label KEY VALUE", which labels the script's namespace.
func label(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: label KEY VALUE")
	}
	ts.Check(ts.Value("player").(player).label(args[0], args[1]))
}

func (p player) label(key, value string) error {
	namespace, err := p.client.CoreV1().Namespaces().Get(context.Background(), p.namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	namespace.Labels[key] = value
	_, err = p.client.CoreV1().Namespaces().Update(context.Background(), namespace, metav1.UpdateOptions{})
	return err
}
