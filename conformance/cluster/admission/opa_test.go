//go:build cluster

package admission

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"
)

// documented has the contents of webhook.yaml in docs/admission.md.
type documented struct {
	text       []byte
	files      corev1.ConfigMap
	deployment appsv1.Deployment
	webhook    admissionregistrationv1.ValidatingWebhookConfiguration
}

var yamlBlock = regexp.MustCompile("(?s)\n## The bundle as a webhook\n.*?\n```yaml\n(.*?)```\n")

func readDocumentation(t *testing.T) documented {
	t.Helper()
	page, err := os.ReadFile(moduleRoot + "/docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	block := yamlBlock.FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/admission.md has no webhook.yaml")
	}
	d := documented{text: block[1]}
	for manifest := range bytes.SplitSeq(d.text, []byte("---\n")) {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(manifest, &kind); err != nil {
			t.Fatal(err)
		}
		into := map[string]any{"ConfigMap": &d.files, "Deployment": &d.deployment, "ValidatingWebhookConfiguration": &d.webhook}[kind.Kind]
		if into == nil {
			continue
		}
		if err := yaml.Unmarshal(bytes.ReplaceAll(manifest, []byte("CA_BUNDLE"), nil), into); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// opaServer is OPA with the arguments of the Deployment, on loopback.
type opaServer struct {
	address     string
	certificate []byte
	process     *exec.Cmd
}

// serve starts OPA with the bundle and the files that the documentation mounts.
func (w *webhook) serve(t *testing.T, d documented) opaServer {
	t.Helper()
	root := t.TempDir()
	s := opaServer{address: freeAddress(t), certificate: writeCertificate(t, filepath.Join(root, "tls"))}
	podverdict := filepath.Join(w.bin, "podverdict")
	mkdir(t, filepath.Join(root, "bundles", "podverdict"))
	mkdir(t, filepath.Join(root, "bundles", "authz"))
	run(t, podverdict, "generate", "bundle", "-o", filepath.Join(root, "bundles", "podverdict", "bundle.tar.gz"))
	container := d.deployment.Spec.Template.Spec.Containers[0]
	for _, m := range container.VolumeMounts {
		if m.SubPath != "" {
			write(t, filepath.Join(root, m.MountPath), []byte(d.files.Data[m.SubPath]))
		}
	}
	inRoot := strings.NewReplacer("0.0.0.0:8443", s.address, "/tls/", root+"/tls/", "/bundles/", root+"/bundles/")
	var arguments []string
	for _, a := range container.Args {
		arguments = append(arguments, inRoot.Replace(a))
	}
	var logged bytes.Buffer
	s.process = exec.CommandContext(t.Context(), filepath.Join(w.bin, "opa"), arguments...)
	s.process.Stdout, s.process.Stderr = &logged, &logged
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("opa: %.2000s", logged.String())
		}
	})
	return s
}

// stop ends OPA. It may be called twice.
func (s opaServer) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// configuration returns the documented configuration, with the server's address, for one namespace.
func (s opaServer) configuration(t *testing.T, d documented, namespace string) []byte {
	t.Helper()
	hook := &d.webhook.Webhooks[0]
	url := "https://" + s.address + "/"
	hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.certificate}
	hook.NamespaceSelector.MatchExpressions = append(hook.NamespaceSelector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{namespace},
	})
	text, err := json.Marshal(d.webhook)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// manifests returns the documented manifests that need no kubelet, unchanged.
func (d documented) manifests(certificate []byte) []byte {
	return bytes.ReplaceAll(d.text, []byte("CA_BUNDLE"), []byte(base64.StdEncoding.EncodeToString(certificate)))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// writeCertificate writes a key and its certificate for loopback, and returns the certificate.
func writeCertificate(t *testing.T, folder string) []byte {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, folder)
	write(t, filepath.Join(folder, "tls.crt"), certificate)
	write(t, filepath.Join(folder, "tls.key"), key)
	return certificate
}

func mkdir(t *testing.T, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
