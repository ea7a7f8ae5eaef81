//go:build cluster

package admission

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	client "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

const moduleRoot = "../../.."

var dryRun = []string{metav1.DryRunAll}

// start returns a control plane with controllers, which check types.
func start(t *testing.T) *testcluster.World {
	t.Helper()
	return testcluster.NewWorld(t, controlplane.StartNamed(t, "controllers", controlplane.ControllerManager))
}

// decodeFile reads a YAML file.
func decodeFile[T any](t *testing.T, file string) (content T) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &content); err != nil {
		t.Fatal(err)
	}
	return content
}

// workflowFile has the definition of a kind that embeds Jobs.
const workflowFile = "testdata/workflow-crd.yaml"

// workflowKind returns the definition with its kind.
func workflowKind(t *testing.T) (*apiextensionsv1.CustomResourceDefinition, kind.Kind) {
	t.Helper()
	definition := decodeFile[*apiextensionsv1.CustomResourceDefinition](t, workflowFile)
	kinds, wrong := kind.ServedKinds(definition)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return definition, kinds[0]
}

// registrar creates policies in an API server whose controller manager checks their types.
type registrar struct {
	client.AdmissionregistrationV1Interface
	config *rest.Config
}

func newRegistrar(t *testing.T) registrar {
	t.Helper()
	world := start(t)
	return registrar{world.Client.AdmissionregistrationV1(), world.Cluster.Config}
}

// warned creates a policy temporarily, and returns the warnings of type checking, by field.
func (r registrar) warned(ctx context.Context, policy *admissionregistrationv1.ValidatingAdmissionPolicy) (map[string]string, error) {
	policy = policy.DeepCopy()
	policy.GenerateName, policy.Name = policy.Name+"-", ""
	created, err := r.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	warnings, err := r.typeChecked(ctx, created.Name)
	if err != nil {
		return nil, err
	}
	return warnings, r.ValidatingAdmissionPolicies().Delete(ctx, created.Name, metav1.DeleteOptions{})
}

// typeChecked waits for the type checking of a policy, and returns its warnings, by field.
func (r registrar) typeChecked(ctx context.Context, name string) (map[string]string, error) {
	warnings := map[string]string{}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		policy, err := r.ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
		if err != nil || policy.Status.ObservedGeneration < policy.Generation || policy.Status.TypeChecking == nil {
			return false, err
		}
		for _, w := range policy.Status.TypeChecking.ExpressionWarnings {
			warnings[w.FieldRef] = w.Warning
		}
		return true, nil
	})
	return warnings, err
}

// distinct returns the distinct fields in alphabetical order.
func distinct(fields ...string) []string {
	slices.Sort(fields)
	return slices.Compact(fields)
}
