package conformance

import (
	"encoding/json"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
)

// baseFile is the pod that every vector changes.
const baseFile = "base.yaml"

// base is the base pod as a tree of JSON values. It is never changed: patches
// copy what they touch.
type base struct{ tree any }

func readBase(files fs.FS) (base, error) {
	data, err := fs.ReadFile(files, baseFile)
	if err != nil {
		return base{}, &ParseError{File: baseFile, Err: err}
	}
	var b base
	if err := decodeYAML(data, &b.tree); err != nil {
		return base{}, yamlError(baseFile, 0, data, err)
	}
	if _, err := decodePod(b.tree); err != nil {
		return base{}, yamlError(baseFile, 0, data, err)
	}
	return b, nil
}

// decodePod makes a pod of a tree; a field that pods do not have is an error.
func decodePod(tree any) (*corev1.Pod, error) {
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	pod := new(corev1.Pod)
	if err := decodeYAML(data, pod); err != nil {
		return nil, err
	}
	return pod, nil
}
