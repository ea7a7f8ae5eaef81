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
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Run(m)) } //nolint:forbidigo // main of the tests

// What is applied stays as long as the control plane does, so it is applied once.
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
	t.Run("another replica takes over", i.failOver)
	t.Run("a lost lease ends it", i.endsWithItsLease)
}

const (
	namespace  = "podverdict-system"
	name       = "podverdict-controller"
	moduleRoot = "../../.."
)

// installation is one in a cluster.
type installation struct {
	cluster *controlplane.Cluster
	client  *kubernetes.Clientset
	bin     string // a folder with our programs
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	cluster := controlplane.Start(t, controlplane.ControllerManager)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/podverdict", "./cmd/podverdict-controller")
	build.Dir = moduleRoot
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return &installation{cluster, client, bin}
}

// generate is what podverdict generate install prints.
func (i *installation) generate(t *testing.T, arguments ...string) []byte {
	t.Helper()
	return output(t, filepath.Join(i.bin, "podverdict"), slices.Concat([]string{"generate", "install"}, arguments)...)
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

// An overlay changes namespace and image as the flags do.
func (i *installation) isTheBase(t *testing.T) {
	base, err := filepath.Abs(filepath.Join(moduleRoot, "config"))
	if err != nil {
		t.Fatal(err)
	}
	overlay := t.TempDir()
	relative, err := filepath.Rel(overlay, base) // kustomize wants no absolute paths
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join([]string{
		"resources: [" + relative + "]", "namespace: batch-system",
		"images: [{name: ghcr.io/podverdict/podverdict-controller, newName: registry.example.com/ours, newTag: v1}]", "",
	}, "\n")
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl := i.cluster.Kubectl(t)
	for folder, arguments := range map[string][]string{
		base:    nil,
		overlay: {"--namespace", "batch-system", "--image", "registry.example.com/ours:v1"},
	} {
		ours, theirs := documents(t, i.generate(t, arguments...)), documents(t, output(t, kubectl, "kustomize", folder))
		if diff := cmp.Diff(theirs, ours); diff != "" || len(ours) == 0 {
			t.Errorf("%q prints %d objects, which differ (-kustomize +generate):\n%s", arguments, len(ours), diff)
		}
	}
}

// documents are those of a YAML stream by kind and name.
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
		if all[key] != nil {
			t.Fatalf("%s is there twice", key)
		}
		all[key] = object
	}
	return all
}

func (i *installation) isApplied(t *testing.T) {
	apply := exec.CommandContext(t.Context(), i.cluster.Kubectl(t),
		"--kubeconfig", i.cluster.Kubeconfig(t, "admin", "system:masters"), "apply", "-f", "-")
	apply.Stdin = bytes.NewReader(i.generate(t))
	out, err := apply.CombinedOutput()
	if err != nil || strings.Contains(string(out), "Warning") || strings.Count(string(out), "\n") != 10 {
		t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}

// The controller manager makes the pods of the Deployment, which the namespace admits only if they obey its level.
func (i *installation) podsAreLetIn(t *testing.T) {
	var deployment *appsv1.Deployment
	eventually(t, "there are two replicas", func(ctx context.Context) (done bool, err error) {
		deployment, err = i.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && deployment.Status.Replicas == 2, err
	})
	eventually(t, "the disruption budget is of both", func(ctx context.Context) (bool, error) {
		budget, err := i.client.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && budget.Status.ExpectedPods == 2, err
	})
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
	_, err := i.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("error %v", err)
	}
}

// eventually waits for a condition. An error that goes away does not matter.
func eventually(t *testing.T, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (done bool, _ error) {
		done, last = is(ctx)
		return done, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v, %v", what, err, last)
	}
}
