//go:build cluster

package install

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// TestInstallation applies the installation once. It is only removed with the control plane.
func TestInstallation(t *testing.T) {
	i := newInstallation(t)
	t.Run("is the kustomize base", i.isTheBase)
	if !t.Run("is applied without a warning", i.isApplied) {
		return
	}
	t.Run("its pods are let in", i.podsAreLetIn)
	t.Run("others are not", i.privilegedPodsAreNot)
	t.Run("nobody may do nothing", i.runWithoutPermissions)
	t.Run("its permissions are the ones used", i.runWithPermissions)
	t.Run("a lost lease ends it", i.endsWithItsLease)
	t.Run("it is lost, and its Pods are rescued", i.isLost)
	t.Run("it is uninstalled", i.isUninstalled)
	t.Run("it only observes", i.onlyObserves)
	t.Run("it works in one namespace", i.worksInOneNamespace)
	t.Run("it may read nodes later", i.mayReadNodesLater)
}

const (
	namespace  = testcluster.Namespace
	name       = testcluster.Name
	moduleRoot = "../../.."
	image      = "registry.example.com/podverdict-controller:v1"
)

// installation is a controller installed by the program.
type installation struct{ *testcluster.Installation }

func newInstallation(t *testing.T) *installation {
	t.Helper()
	world := testcluster.Start(t, controlplane.ControllerManager)
	return &installation{&testcluster.Installation{World: world, Programs: testcluster.Build(t, "podverdict", name)}}
}

// generate returns the output of podverdict generate install.
func (i *installation) generate(t *testing.T, arguments ...string) []byte {
	t.Helper()
	return output(t, filepath.Join(i.Programs, "podverdict"), slices.Concat([]string{"generate", "install", "--image", image}, arguments)...)
}

func output(t *testing.T, program string, arguments ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v\n%s", command, err, stderr.String())
	}
	return out
}

// isTheBase tests that overlays have the same effect as the flags.
func (i *installation) isTheBase(t *testing.T) {
	for name, test := range map[string]struct {
		overlay   []string
		arguments []string
	}{
		"as it is":       {[]string{"resources: [BASE]"}, nil},
		"in a namespace": {[]string{"resources: [BASE]", "namespace: batch-system"}, []string{"--namespace", "batch-system"}},
		"observing only": {[]string{"resources: [BASE]", "components: [BASE/components/observe-only]"}, []string{"--observe-only"}},
		"reading nodes": {
			[]string{"resources: [BASE]", "components: [BASE/components/nodes]", "namespace: batch-system"},
			[]string{"--nodes", "--namespace", "batch-system"},
		},
		"reading nodes in a namespace": {
			[]string{"resources: [BASE, namespace.yaml]", "components: [BASE/components/namespaced, BASE/components/nodes]"},
			[]string{"--nodes", "--jobs-namespace", "team-a"},
		},
		"for a namespace": {[]string{"resources: [BASE, namespace.yaml]", "components: [BASE/components/namespaced]"}, []string{"--jobs-namespace", "team-a"}},
		"observing a namespace": {
			[]string{"resources: [BASE, namespace.yaml]", "components: [BASE/components/observe-only, BASE/components/namespaced]"},
			[]string{"--jobs-namespace", "team-a", "--observe-only"},
		},
	} {
		theirs, ours := documents(t, i.kustomize(t, test.overlay)), documents(t, i.generate(t, test.arguments...))
		if diff := cmp.Diff(theirs, ours, sortedArguments); diff != "" || len(ours) == 0 {
			t.Errorf("%s: generate prints %d objects, which differ (-kustomize +generate):\n%s", name, len(ours), diff)
		}
	}
}

// sortedArguments ignores the order in which components add arguments.
var sortedArguments = cmp.FilterPath(func(p cmp.Path) bool {
	key, ok := p.Last().(cmp.MapIndex)
	return ok && key.Key().String() == "args"
}, cmp.Transformer("sorted", func(list any) []string {
	arguments := []string{}
	for _, argument := range list.([]any) {
		arguments = append(arguments, argument.(string))
	}
	return slices.Sorted(slices.Values(arguments))
}))

// jobsNamespace is the resource that an overlay adds for the component namespaced.
const jobsNamespace = `
apiVersion: v1
kind: ConfigMap
metadata: {name: podverdict-controller, annotations: {config.kubernetes.io/local-config: "true"}}
data: {namespace: team-a}
`

// kustomize prints an overlay. It replaces BASE with the base, and uses our image.
func (i *installation) kustomize(t *testing.T, lines []string) []byte {
	t.Helper()
	base, err := filepath.Abs(filepath.Join(moduleRoot, "config"))
	if err != nil {
		t.Fatal(err)
	}
	overlay := t.TempDir()
	relative, err := filepath.Rel(overlay, base) // kustomize rejects absolute paths
	if err != nil {
		t.Fatal(err)
	}
	registry, tag, _ := strings.Cut(image, ":")
	images := "images: [{name: set-the-image.invalid/podverdict-controller, newName: " + registry + ", newTag: " + tag + "}]"
	text := strings.ReplaceAll(strings.Join(append(lines, images, ""), "\n"), "BASE", relative)
	for name, content := range map[string]string{"kustomization.yaml": text, "namespace.yaml": jobsNamespace} {
		if err := os.WriteFile(filepath.Join(overlay, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return output(t, i.Cluster.Kubectl(t), "kustomize", overlay)
}

// documents returns the documents of a YAML stream by kind and name.
func documents(t *testing.T, stream []byte) map[string]any {
	t.Helper()
	all := map[string]any{}
	for text := range strings.SplitSeq(string(stream), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		metadata := object["metadata"].(map[string]any)
		key := object["kind"].(string) + " " + metadata["name"].(string)
		if strings.HasPrefix(key, "ValidatingAdmissionPolicy") {
			delete(metadata, "namespace") // kustomize treats the kind as namespaced, and the API server drops it
		}
		if all[key] != nil {
			t.Fatalf("%s is there twice", key)
		}
		all[key] = object
	}
	return all
}

func (i *installation) isApplied(t *testing.T) {
	if out := i.apply(t); strings.Contains(out, "Warning") || strings.Count(out, "\n") != 19 {
		t.Fatalf("kubectl apply:\n%s", out)
	}
}

// apply applies the output of podverdict generate install, and returns kubectl's output.
func (i *installation) apply(t *testing.T, arguments ...string) string {
	t.Helper()
	apply := exec.CommandContext(t.Context(), i.Cluster.Kubectl(t),
		"--kubeconfig", i.Cluster.Kubeconfig(t, "admin", "system:masters"), "apply", "-f", "-")
	apply.Stdin = bytes.NewReader(i.generate(t, arguments...))
	out, err := apply.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
	return string(out)
}

// podsAreLetIn tests that the controller manager creates the Deployment's pods. The namespace admits them only if they
// comply with its security level.
func (i *installation) podsAreLetIn(t *testing.T) {
	var deployment *appsv1.Deployment
	testcluster.Eventually(t, "there are two replicas", func(ctx context.Context) (done bool, err error) {
		deployment, err = i.Client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && deployment.Status.Replicas == 2, err
	})
	testcluster.Eventually(t, "the disruption budget is of both", func(ctx context.Context) (bool, error) {
		budget, err := i.Client.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && budget.Status.ExpectedPods == 2, err
	})
	pods, err := i.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) == 0 || ptr.Deref(pods.Items[0].Spec.Priority, 0) != 1000000 {
		t.Errorf("the pods have no priority: %v %v", pods, err)
	}
	for _, c := range deployment.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure {
			t.Errorf("%s: %s", c.Reason, c.Message)
		}
	}
}

func (i *installation) privilegedPodsAreNot(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "privileged"}, Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Image: "main", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}},
	}}}
	_, err := i.Client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("error %v", err)
	}
}
