//go:build cluster

package admission

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// webhook is an API server and the programs, asked by one goroutine at a time.
type webhook struct {
	*testcluster.World

	client *testcluster.Dynamic
	bin    string // a folder with podverdict and opa
}

func newWebhook(t *testing.T) *webhook {
	t.Helper()
	world := start(t)
	w := &webhook{world, testcluster.NewDynamic(t, world.Cluster), testcluster.Build(t, "podverdict")}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", w.bin, "github.com/open-policy-agent/opa")
	build.Dir = moduleRoot + "/conformance/interop"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	return w
}

// resource returns where objects of this one's kind are.
func (w *webhook) resource(namespace string, object map[string]any) dynamic.ResourceInterface {
	plural := strings.ToLower(object["kind"].(string)) + "s"
	return w.client.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: plural}).Namespace(namespace)
}

// create stores an object under a name.
func (w *webhook) create(ctx context.Context, namespace, name string, object map[string]any, dryRun ...string) (*unstructured.Unstructured, error) {
	named := (&unstructured.Unstructured{Object: object}).DeepCopy()
	named.SetName(name)
	w.client.Warned = nil
	return w.resource(namespace, object).Create(ctx, named, metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
}

// run runs a program and returns what it prints.
func run(t *testing.T, program string, arguments ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	return out
}

// apply gives manifests to kubectl.
func (w *webhook) apply(t *testing.T, manifests []byte) {
	t.Helper()
	w.Kubectl(t, manifests, "apply", "--validate=strict", "-f", "-")
}

// applyPolicies puts what podverdict generates in force in a namespace.
func (w *webhook) applyPolicies(t *testing.T, namespace string) {
	t.Helper()
	w.apply(t, run(t, filepath.Join(w.bin, "podverdict"), "generate", "vap", "--name", "webhook",
		"--namespace-selector", "kubernetes.io/metadata.name="+namespace))
}
