package interop

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

const (
	good = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"good"},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`
	bad  = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"bad"},"spec":{"backoffLimit":-3,"template":{"spec":{"restartPolicy":"Never"}}}}`
	// fault is what kubectl would say of bad.
	fault = "spec.backoffLimit: Invalid value: -3: must be greater than or equal to 0"
)

// programs are built, each from its module.
var programs = []struct{ name, folder, path string }{
	{"podverdict", "../..", "./cmd/podverdict"},
	{"opa", ".", "github.com/open-policy-agent/opa"},
	{"conftest", ".", "github.com/open-policy-agent/conftest"},
	{"vectors", "../..", "conformance/interop/testdata/vectors.go"},
}

// workshop is a folder with the programs, and with the two Jobs.
type workshop struct{ folder string }

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	w := workshop{t.TempDir()}
	for _, p := range programs {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(w.folder, p.name), p.path)
		build.Dir = p.folder
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.name, err, out)
		}
	}
	w.write(t, "good.json", []byte(good))
	w.write(t, "bad.json", []byte(bad))
	return w
}

func (w workshop) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.folder, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a program and returns its standard output; it wants the exit code.
func (w workshop) run(t *testing.T, code int, name string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), filepath.Join(w.folder, name), args...)
	command.Dir, command.Stdout, command.Stderr = w.folder, &stdout, &stderr
	command.Env = append(os.Environ(), "NO_COLOR=1", "DOCKER_CONFIG="+w.folder)
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := command.ProcessState.ExitCode(); got != code {
		t.Fatalf("%s %s: exit code %d, want %d\n%s%s", name, strings.Join(args, " "), got, code, &stdout, &stderr)
	}
	return stdout.String()
}

// unpack unpacks an archive into a folder.
func (w workshop) unpack(t *testing.T, archive, folder string) {
	t.Helper()
	folder = filepath.Join(w.folder, folder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "tar", "-xzf", filepath.Join(w.folder, archive), "-C", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// keys writes the two halves of a key.
func (w workshop) keys(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	private := x509.MarshalPKCS1PrivateKey(key)
	w.write(t, "private.pem", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: private}))
	w.write(t, "public.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

func TestInterop(t *testing.T) {
	w := newWorkshop(t)
	t.Run("bundles", w.bundles)
	t.Run("gatekeeper", w.gatekeeper)
}

func (w workshop) bundles(t *testing.T) {
	w.keys(t)
	w.run(t, 0, "podverdict", "generate", "bundle", "-o", "bundle.tar.gz")
	t.Run("opa eval", w.opaEval)
	t.Run("opa signs and verifies", w.opaSigns)
	t.Run("conftest push and pull", w.conftest)
	t.Run("opa on the sources", w.opaSources)
}

func (w workshop) opaEval(t *testing.T) {
	for file, want := range map[string][]string{"good.json": {}, "bad.json": {fault}} {
		out := w.run(t, 0, "opa", "eval", "-b", "bundle.tar.gz", "-i", file, "-f", "values", "[d.msg | some d in data.main.deny]")
		var got [][]string
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 1 || strings.Join(got[0], "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}

func (w workshop) opaSigns(t *testing.T) {
	w.run(t, 0, "opa", "build", "-b", "bundle.tar.gz", "--signing-key", "private.pem", "-o", "signed.tar.gz")
	w.run(t, 0, "opa", "build", "-b", "signed.tar.gz", "--verification-key", "public.pem", "-o", "verified.tar.gz")
	w.run(t, 1, "opa", "build", "-b", "bundle.tar.gz", "--verification-key", "public.pem", "-o", "unsigned.tar.gz")
}

// conftest reads the unpacked archive, which it has pushed to a registry and pulled again.
func (w workshop) conftest(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)))) //nolint:forbidigo // the registry wants one
	t.Cleanup(server.Close)
	to := server.Listener.Addr().String() + "/policies:v1"
	w.unpack(t, "bundle.tar.gz", "unpacked")
	w.run(t, 0, "conftest", "push", to, "--policy", "unpacked")
	w.run(t, 0, "conftest", "pull", "oci://"+to)
	w.run(t, 0, "conftest", "test", "good.json")
	w.write(t, "list.json", []byte(`{"apiVersion": "v1", "kind": "List", "items": [`+good+","+bad+"]}"))
	for _, c := range []struct {
		want      string
		arguments []string
	}{
		{"FAIL - bad.json - main - " + fault, []string{"bad.json"}},
		{"FAIL - list.json - main - Job bad: " + fault, []string{"list.json"}},
		{"FAIL - Combined - main - bad.json: Job bad: " + fault, []string{"--combine", "good.json", "bad.json"}},
	} {
		if out := w.run(t, 1, "conftest", append([]string{"test", "--no-color"}, c.arguments...)...); !strings.Contains(out, c.want) {
			t.Errorf("want %s:\n%s", c.want, out)
		}
	}
	// Conftest reads no archives, and says so.
	w.run(t, 1, "conftest", "test", "-p", "bundle.tar.gz", "good.json")
}

// opaSources is what somebody does who reads the bundle without Go.
func (w workshop) opaSources(t *testing.T) {
	sources, err := filepath.Abs("../../policies")
	if err != nil {
		t.Fatal(err)
	}
	w.run(t, 0, "opa", "check", "--strict", "-s", filepath.Join(sources, "schemas"), sources)
	w.run(t, 0, "opa", "fmt", "--fail", "--list", sources)
	out := w.run(t, 0, "opa", "test", sources, "--fail-on-empty", "--coverage", "--threshold", "100", "--timeout", "1m")
	if !strings.Contains(out, `"coverage": 100`) {
		t.Errorf("no coverage of 100 %%: %s", out[max(0, len(out)-200):])
	}
}
