//go:build cluster

package custom

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/controlplane"
)

func TestMain(m *testing.M) {
	// The lives wait more than they work: more of them than there are cores. -parallel has the last word.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err) //nolint:forbidigo // there is no test yet to fail
	}
	os.Exit(controlplane.Run(m)) //nolint:forbidigo // main of the tests
}

// newCluster has the CustomResourceDefinitions, the policies of all examples, in force, and our controller. None of
// Kubernetes' own controllers runs there.
func newCluster(t *testing.T) kubernetes.Interface {
	t.Helper()
	cluster := controlplane.Start(t)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := filepath.Glob(filepath.Join(examples, "*", "policy.yaml"))
	if err != nil || len(policies) == 0 {
		t.Fatalf("policies: %v, %v", policies, err)
	}
	kubectl := kubectlOf(t, cluster)
	kubectl("apply", "-f", "../../../config/crd")
	kubectl("wait", "--for=condition=Established", "-f", "../../../config/crd", "--timeout=1m")
	apply := []string{"apply"}
	for _, policy := range policies {
		apply = append(apply, "-f", policy)
	}
	kubectl(apply...)
	kubectl("create", "namespace", later)
	runControllers(t, cluster)
	apply[0] = "wait"
	kubectl(append(apply, "--for=condition=Ready", "--timeout=1m")...)
	return client
}

// kubectlOf runs kubectl as an administrator. It must not warn either.
func kubectlOf(t *testing.T, cluster *controlplane.Cluster) func(arguments ...string) {
	t.Helper()
	program, config := cluster.Kubectl(t), cluster.Kubeconfig(t, "admin", "system:masters")
	return func(arguments ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, append(arguments, "--kubeconfig", config)...)
		out, err := command.CombinedOutput()
		if err != nil || strings.Contains(string(out), "Warning") {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}

// later is the namespace where it is ten minutes later than elsewhere.
const later = "later"

// ahead is a clock that is fast.
type ahead struct{ clock.RealClock }

func (ahead) Now() time.Time { return time.Now().Add(10*time.Minute + time.Second) }

func (c ahead) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// runControllers runs our controller in this process until the test ends: once for the examples' own namespace, and once for
// the one where it is later.
func runControllers(t *testing.T, cluster *controlplane.Cluster) {
	t.Helper()
	config := rest.CopyConfig(cluster.Config)
	config.QPS, config.Burst = 1000, 2000 // as the controller manager has
	runController(t, controller.Options{Config: config, Namespace: metav1.NamespaceDefault})
	runController(t, controller.Options{Config: config, Namespace: later, Clock: ahead{}, PendingPeriod: 200 * time.Millisecond})
}

func runController(t *testing.T, options controller.Options) {
	t.Helper()
	c, err := controller.New(options)
	if err != nil {
		t.Fatal(err)
	}
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))
	ctx, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(t.Context()), logger))
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controller: %v", err)
		}
	})
}
