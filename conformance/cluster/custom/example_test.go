//go:build cluster

package custom

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// examples is the folder of all examples.
const examples = "../../../examples/custom"

// readExample reads the Job of an example, and its pods by their names without the Job's: oom of train-oom.
func readExample(t *testing.T, name string) (*batchv1.Job, map[string]*corev1.Pod) {
	t.Helper()
	job, pods := &batchv1.Job{}, map[string]*corev1.Pod{}
	if err := yaml.UnmarshalStrict(readFile(t, name, "job.yaml"), job); err != nil {
		t.Fatal(err)
	}
	for _, text := range documents(t, readFile(t, name, "pods.yaml")) {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict(text, pod); err != nil {
			t.Fatal(err)
		}
		short, ours := strings.CutPrefix(pod.Name, job.Name+"-")
		if !ours || pods[short] != nil {
			t.Fatalf("%s: pod %s is of another Job, or there twice", name, pod.Name)
		}
		pods[short] = pod
	}
	return job, pods
}

func readFile(t *testing.T, example, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, example, file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// documents returns the documents of a YAML stream.
func documents(t *testing.T, stream []byte) [][]byte {
	t.Helper()
	var all [][]byte
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream))); ; {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
}
