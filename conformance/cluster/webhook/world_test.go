//go:build cluster

package webhook

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

const moduleRoot = "../../.."

// world is an API server and the programs, asked by one goroutine at a time.
type world struct {
	cluster *controlplane.Cluster
	client  dynamic.Interface
	bin     string   // a folder with podverdict and opa
	warned  []string // by the last response
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.ControllerManager)
	w := &world{cluster: cluster, bin: t.TempDir()}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = w
	var err error
	if w.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	for folder, path := range map[string]string{
		moduleRoot:                          "./cmd/podverdict",
		moduleRoot + "/conformance/interop": "github.com/open-policy-agent/opa",
	} {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", w.bin, path)
		build.Dir = folder
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", path, err, out)
		}
	}
	return w
}

// HandleWarningHeader keeps what a response warns of.
func (w *world) HandleWarningHeader(_ int, _, text string) { w.warned = append(w.warned, text) }

// resource returns where objects of this one's kind are.
func (w *world) resource(namespace string, object map[string]any) dynamic.ResourceInterface {
	plural := strings.ToLower(object["kind"].(string)) + "s"
	return w.client.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: plural}).Namespace(namespace)
}

// create stores an object under a name.
func (w *world) create(ctx context.Context, namespace, name string, object map[string]any, dryRun ...string) (*unstructured.Unstructured, error) {
	named := (&unstructured.Unstructured{Object: object}).DeepCopy()
	named.SetName(name)
	w.warned = nil
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
func (w *world) apply(t *testing.T, manifests []byte) {
	t.Helper()
	testcluster.Kubectl(t, w.cluster, manifests, "apply", "--validate=strict", "-f", "-")
}

// applyPolicies puts what podverdict generates in force in a namespace.
func (w *world) applyPolicies(t *testing.T, namespace string) {
	t.Helper()
	w.apply(t, run(t, filepath.Join(w.bin, "podverdict"), "generate", "vap", "--name", "webhook",
		"--namespace-selector", "kubernetes.io/metadata.name="+namespace))
}
