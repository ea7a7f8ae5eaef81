package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every line of every Example runs as it is written, in a folder that has the files
// that it names. Those that need a registry are held to the flags that there are.
func TestExamples(t *testing.T) {
	bin := exampleFolder(t)
	lines := 0
	for _, verb := range runnable(newRoot("podverdict", nil)) {
		if verb.Example == "" {
			t.Errorf("%s has no example", verb.CommandPath())
			continue
		}
		for line := range strings.SplitSeq(verb.Example, "\n") {
			if strings.Contains(line, "oci://") {
				line += " --help"
			}
			command := exec.CommandContext(t.Context(), "sh", "-c", line)
			command.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := command.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitFindings) {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
			lines++
		}
	}
	if lines < 15 {
		t.Errorf("there are %d lines", lines)
	}
}

// runnable lists the verbs that do something, without cobra's own.
func runnable(root *cobra.Command) []*cobra.Command {
	var verbs []*cobra.Command
	for _, verb := range root.Commands() {
		if verb.HasSubCommands() {
			verbs = append(verbs, runnable(verb)...)
		} else if verb.Name() != "help" {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// exampleFolder goes to a folder with the files of the examples, which are those of the
// quickstart under other names, and returns a folder with programs.
func exampleFolder(t *testing.T) (bin string) {
	t.Helper()
	job, pods, one := quickstart(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	bin = t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "podverdict")); err != nil {
		t.Fatal(err)
	}
	all := job + "---\n" + pods
	for name, text := range map[string]string{
		"job.yaml": job, "new.yaml": job, "old.yaml": job, "manifests/a/job.yaml": job, "pods.yaml": one, "pods/all.yaml": pods,
		"all.yaml": all, "guardrails.yaml": "{}\n", "requests.jsonl": `{"id":"1","op":"verdict","pod":{}}` + "\n", "key.pem": privateKey(t),
		"my-engine":                   "#!/bin/sh\nexec podverdict engine\n",
		filepath.Join(bin, "kubectl"): "#!/bin/sh\nif [ \"$2\" = jobs,pods ]; then cat all.yaml; else cat job.yaml; fi\n",
		"dist/README":                 "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// quickstart is the example's Job, its Pods, and one of these, under the names that
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
