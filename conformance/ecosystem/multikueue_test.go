package ecosystem

import (
	"errors"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaults is what the policy of the worker cluster sets in Jobs that do not say who runs them.
const defaults = `
apiVersion: batch/v1
kind: Job
metadata: {name: defaults}
spec: {managedBy: podverdict.io/job-controller}
`

// managed is the label of the namespaces of the worker cluster that the policy is for.
const managed = "managed"

// TestMultiKueue runs Jobs of a manager cluster in a worker cluster. There, in one of two namespaces, a policy of podverdict
// generate map has podverdict's controller run them.
func TestMultiKueue(t *testing.T) {
	manager, worker := newEcosystem(t, ""), newEcosystem(t, "worker")
	worker.createNode(t)
	defer worker.startController(t)()
	for _, w := range []*ecosystem{manager, worker} {
		w.install(t, jobset, "")
		w.install(t, kueue, "")
		w.watch(t)
	}
	policy := run(t, []byte(defaults), "go", "run", "-C", "../..", "./cmd/podverdict", "generate", "map", "-f", "-", "--for", "job",
		"--namespace-selector", managed)
	worker.kubectl(t, policy, "apply", "-f", "-")
	kubeconfig, err := os.ReadFile(worker.Cluster.Kubeconfig(t, "manager", "system:masters"))
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "worker"}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
	if _, err := manager.Client.CoreV1().Secrets(kueue.namespace()).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	playFolder(t, "multikueue", func(env *testscript.Env) error {
		return errors.Join(manager.setUp(env), worker.join(env))
	})
}

// join gives the arms of a manager cluster their namespaces in the worker cluster.
func (w *ecosystem) join(env *testscript.Env) error {
	t := env.T().(testing.TB)
	arms, _ := env.Values[armsKey].([]*arm)
	for _, a := range arms {
		inner := *a
		inner.ecosystem = w
		a.worker = &inner
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.namespace}}
		if a.managed {
			namespace.Labels = map[string]string{managed: ""}
			a.managed, inner.policy = false, true // the Jobs of the manager are Kueue's
		}
		if _, err := w.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
