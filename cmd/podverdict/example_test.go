package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/internal/controlplane"
)

// Every line of every Example runs as it is written, in a folder that has the files that it names, beside a cluster
// that has the objects. Those that need a registry are held to the flags that there are. Those that watch or
// serve are interrupted when they have written something, and must then end well.
func TestExamples(t *testing.T) {
	skipWithRace(t)
	plane := controlplane.Start(t) // found from this folder
	bin := exampleFolder(t)
	exampleCluster(t, plane, bin)
	lines, endless := 0, 0
	for _, verb := range runnable(newRoot("podverdict", nil)) {
		if verb.Example == "" {
			t.Errorf("%s has no example", verb.CommandPath())
			continue
		}
		for line := range strings.SplitSeq(verb.Example, "\n") {
			if strings.Contains(line, "oci://") {
				line += " --help"
			}
			if strings.Contains(line, "podverdict uninstall") {
				line += " --wait 2s" // nobody here removes what a namespace has in it
			}
			line = strings.ReplaceAll(line, "127.0.0.1:8080", "127.0.0.1:0") // which is free
			command := exec.CommandContext(t.Context(), "sh", "-c", "exec "+strings.TrimSpace(line))
			if strings.Contains(line, "|") {
				command = exec.CommandContext(t.Context(), "sh", "-c", line)
			}
			command.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var out []byte
			var err error
			if strings.Contains(line, "--watch") || strings.Contains(line, "podverdict playground") {
				out, err = interrupted(command)
				endless++
			} else {
				out, err = command.CombinedOutput()
			}
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitFindings) {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			lines++
		}
	}
	if lines < 20 || endless == 0 {
		t.Errorf("there are %d lines, of which %d do not end by themselves", lines, endless)
	}
}

// interrupted runs a command until it has written something, and then interrupts it.
func interrupted(command *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	if _, err := stdout.Read(make([]byte, 1)); err == nil {
		err = command.Process.Signal(os.Interrupt)
		if err != nil {
			return nil, err
		}
	}
	rest, _ := io.ReadAll(stdout)
	err = command.Wait() // stderr is complete only then
	return append(rest, stderr.Bytes()...), err
}

// exampleCluster has the quickstart's Job and Pods in the namespace of the kubeconfig, and a Job in another.
func exampleCluster(t *testing.T, plane *controlplane.Cluster, bin string) {
	t.Helper()
	client := newClient(t, plane)
	if err := os.Symlink(plane.Kubectl(t), filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	batch := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "batch"}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), batch, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	own := plane.Namespace(t)
	for _, namespace := range []string{own, "batch"} {
		set, err := manifest.Read(t.Context(), manifest.Options{Filenames: []string{"all.yaml"}})
		if err != nil {
			t.Fatal(err)
		}
		p := player{client: client, namespace: namespace}
		if err := p.createAll(set); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { removePolicies(t, client) })
	t.Setenv("KUBECONFIG", inNamespace(t, plane.Kubeconfig(t, "admin", "system:masters"), own))
	home := t.TempDir() // where kubectl keeps what it has discovered
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// removePolicies ends what examples have put in force, before it judges the objects of other tests.
func removePolicies(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	policies := client.AdmissionregistrationV1()
	for _, remove := range []func(context.Context, metav1.DeleteOptions, metav1.ListOptions) error{
		policies.ValidatingAdmissionPolicies().DeleteCollection,
		policies.ValidatingAdmissionPolicyBindings().DeleteCollection,
		policies.MutatingAdmissionPolicies().DeleteCollection,
		policies.MutatingAdmissionPolicyBindings().DeleteCollection,
	} {
		if err := remove(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	}
	for _, resource := range []string{v1alpha1.ResourcePodFailurePolicies, v1alpha1.ResourcePodFailurePolicyBindings} {
		if err := undefine(client, resource+"."+v1alpha1.GroupVersion.Group); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}

// runnable lists the verbs that do something, without cobra's own.
func runnable(root *cobra.Command) []*cobra.Command {
	var verbs []*cobra.Command
	for _, verb := range root.Commands() {
		if verb.HasSubCommands() {
			verbs = append(verbs, runnable(verb)...)
		} else if verb.Name() != "help" && (root.Name() != "completion" || verb.Name() == "kubectl") {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// exampleFolder goes to a folder with the files of the examples, which are those of
// testdata/example and of the quickstart under other names, and returns a folder with programs.
func exampleFolder(t *testing.T) (bin string) {
	t.Helper()
	job, pods, one := quickstart(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := os.DirFS("testdata/example")
	folder := t.TempDir()
	if err := os.CopyFS(folder, files); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	bin = t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "podverdict")); err != nil {
		t.Fatal(err)
	}
	all := job + "---\n" + pods
	for name, text := range map[string]string{
		"job.yaml": job, "new.yaml": job, "old.yaml": job, "new-job.yaml": job, "manifests/a/job.yaml": job, "pods.yaml": one, "pods/all.yaml": pods,
		"all.yaml": all, "requests.jsonl": `{"id":"1","op":"verdict","pod":{}}` + "\n", "key.pem": privateKey(t),
		"my-engine":   "#!/bin/sh\nexec podverdict engine\n",
		"dist/README": "", "tests/README": "", "playground/dist/index.html": "page", "playground/dist/engine.wasm": "engine",
		"script.yaml": "pods:\n- {index: 2, attempt: 1-2, run: 10s-2m, exitCode: 42}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	zipPage(t, "podverdict-playground_0.1.0.zip")
	zipPage(t, besideProgram())
	repository := exec.CommandContext(t.Context(), "sh", "-ec", "git init -q -b main; git add .; git -c user.name=a -c user.email=a@b commit -q -m a")
	if out, err := repository.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// quickstart returns the example's Job, its Pods, and one of these, under the names that
// examples have.
func quickstart(t *testing.T) (job, pods, one string) {
	t.Helper()
	names := strings.NewReplacer("simulation-exit-42", "demo-7xk2p", "simulation", "demo")
	files, err := filepath.Glob("../../examples/quickstart/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := names.Replace(string(bytes.TrimSpace(data))) + "\n"
		switch filepath.Base(file) {
		case "job.yaml":
			job = text
			continue
		case "pod-exit-42.yaml":
			one = text
		}
		pods += "---\n" + text
	}
	return job, pods, one
}

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
