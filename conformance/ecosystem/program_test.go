package ecosystem

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// programs is the folder of the programs of other projects, built once.
const programs = "../../.cache/ecosystem"

// A program is a controller of another project. Its objects are named after it.
type program struct {
	name    string
	module  string
	command string
	// config is its configuration: a template of settings.
	config string
	// rotates tells that it makes its certificate itself, in a Secret.
	rotates bool
}

// settings are what a program's configuration depends on.
type settings struct {
	Health, Certificates string
	Port                 int
	More                 string
}

var jobset = program{
	name: "jobset", module: "sigs.k8s.io/jobset", command: "sigs.k8s.io/jobset",
	config: `
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
health: {healthProbeBindAddress: {{.Health}}}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: {{.Port}}, certDir: {{.Certificates}}}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
featureGates: {RestartJob: true}
{{.More}}
`,
}

var kueue = program{
	name: "kueue", module: "sigs.k8s.io/kueue", command: "sigs.k8s.io/kueue/cmd/kueue", rotates: true,
	config: `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: {{.Health}}}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: {{.Port}}, certDir: {{.Certificates}}}
leaderElection: {leaderElect: false}
clientConnection: {qps: 1000, burst: 2000}
internalCertManagement: {enable: true, webhookServiceName: kueue-webhook-service, webhookSecretName: kueue-webhook-server-cert}
integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}
featureGates: {VisibilityOnDemand: false}
{{.More}}
`,
}

func (p program) namespace() string { return p.name + "-system" }

// host returns the name by which the API server knows the webhooks.
func (p program) host() string { return p.name + "-webhook-service." + p.namespace() + ".svc" }

// build builds the program, unless it is there and current, and returns its path.
func (p program) build(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(programs)
	if err != nil {
		t.Fatal(err)
	}
	run(t, nil, "go", "build", "-C", "controllers", "-ldflags=-s -w", "-o", folder+"/", p.command)
	return filepath.Join(folder, p.name)
}

// run returns what a command prints.
func run(t testing.TB, stdin []byte, name string, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), name, arguments...)
	var stderr bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(stdin), &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	return out
}

// kubectl runs kubectl as an administrator, and returns what it prints.
func (w *ecosystem) kubectl(t testing.TB, stdin []byte, arguments ...string) []byte {
	t.Helper()
	arguments = append(arguments, "--kubeconfig", w.Cluster.Kubeconfig(t, "admin", "system:masters"))
	return run(t, stdin, w.Cluster.Kubectl(t), arguments...)
}

// install installs the program as its own kustomization does, and runs it beside the cluster until the test ends. The
// Deployment is left out, and the Service of its webhooks leads to this machine.
func (w *ecosystem) install(t *testing.T, p program, more string) {
	t.Helper()
	binary := p.build(t)
	folder := t.TempDir()
	s := settings{Health: address(t, freePort(t)), Certificates: folder, Port: freePort(t), More: more}
	var authority []byte
	if !p.rotates {
		certificate, key, err := cert.GenerateSelfSignedCertKey(p.host(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		writeCertificate(t, folder, certificate, key)
		authority = certificate
	}
	module := strings.TrimSpace(string(run(t, nil, "go", "list", "-C", "controllers", "-m", "-f", "{{.Dir}}", p.module)))
	objects, err := decode(w.kubectl(t, nil, "kustomize", filepath.Join(module, "config", "default")))
	if err != nil {
		t.Fatal(err)
	}
	var manifests bytes.Buffer
	for _, object := range p.here(objects, s.Port, authority) {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&manifests, "---\n%s", text)
	}
	w.kubectl(t, manifests.Bytes(), "apply", "--server-side", "--force-conflicts", "-f", "-")
	t.Cleanup(func() { // nobody answers them any more
		for _, kind := range []string{"mutating", "validating"} {
			w.kubectl(t, nil, "delete", kind+"webhookconfiguration", p.name+"-"+kind+"-webhook-configuration")
		}
	})
	if err := w.awaitKinds(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	w.start(t, p, binary, s)
}

// here changes what the kustomization has to what can run beside the cluster.
func (p program) here(objects []*unstructured.Unstructured, port int, authority []byte) (all []*unstructured.Unstructured) {
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment", "APIService", "PriorityClass":
			continue
		case "Service":
			if !strings.HasSuffix(object.GetName(), "webhook-service") {
				continue
			}
			object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
			for _, webhook := range webhooks {
				redirect(webhook.(map[string]any), port, authority)
			}
			object.Object["webhooks"] = webhooks
		case "CustomResourceDefinition":
			if webhook, ok, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook"); ok {
				redirect(webhook, port, authority)
				_ = unstructured.SetNestedMap(object.Object, webhook, "spec", "conversion", "webhook") // it was there
			}
		}
		all = append(all, object)
	}
	return all
}

// redirect has a webhook served at a port, with a certificate of the authority if there is one already.
func redirect(webhook map[string]any, port int, authority []byte) {
	_ = unstructured.SetNestedField(webhook, int64(port), "clientConfig", "service", "port") // every webhook has a service
	if authority != nil {
		_ = unstructured.SetNestedField(webhook, base64.StdEncoding.EncodeToString(authority), "clientConfig", "caBundle")
	}
}

// start runs the program as its service account, and waits until it works and its webhooks answer.
func (w *ecosystem) start(t *testing.T, p program, binary string, s settings) {
	t.Helper()
	folder := t.TempDir()
	config := filepath.Join(folder, "config.yaml")
	var text bytes.Buffer
	if err := template.Must(template.New("").Parse(p.config)).Execute(&text, s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	logged, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := testcluster.AccountKubeconfig(t, w.Cluster, p.namespace(), p.name+"-controller-manager")
	command := exec.Command(binary, "--config="+config, "--kubeconfig="+kubeconfig)
	command.Stdout, command.Stderr = logged, logged
	testcluster.DieWithTest(command)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		if text, err := os.ReadFile(logged.Name()); err == nil && t.Failed() {
			t.Logf("the log of %s ends with:\n%s", p.name, text[max(0, len(text)-20_000):])
		}
	})
	if p.rotates {
		w.mountCertificate(t, p, s.Certificates)
	}
	w.awaitProgram(t, p, s)
}

// mountCertificate does what a kubelet does: the Secret with the certificate becomes files.
func (w *ecosystem) mountCertificate(t *testing.T, p program, folder string) {
	t.Helper()
	err := await(t.Context(), p.name+" has made its certificate", func(ctx context.Context) error {
		secret, err := w.Client.CoreV1().Secrets(p.namespace()).Get(ctx, p.name+"-webhook-server-cert", metav1.GetOptions{})
		if err != nil {
			return err
		}
		certificate, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
		if len(certificate) == 0 || len(key) == 0 {
			return errors.New("the Secret is empty")
		}
		writeCertificate(t, folder, certificate, key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func writeCertificate(t *testing.T, folder string, certificate, key []byte) {
	t.Helper()
	for name, content := range map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitProgram waits until the program is ready, and the API server reaches its webhooks.
func (w *ecosystem) awaitProgram(t *testing.T, p program, s settings) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "main"}}
	err := await(t.Context(), p.name+" works", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Health+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %w", response.Status, err)
		}
		_, err = w.Client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// freePort returns a port of this machine that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func address(t *testing.T, port int) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
}
