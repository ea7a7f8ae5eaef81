package vectors

import (
	"encoding/json"
	"io/fs"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/conformance/internal/document"
)

// baseFile is the pod that every vector on a verdict modifies.
const baseFile = "base.yaml"

// base is an object that vectors modify.
type base struct {
	// tree is the object as JSON values. It is never changed: patches copy the nodes that they modify.
	tree any
	// decode decodes the object strictly: unknown fields are errors.
	decode func(data []byte) error
}

// readBase reads the base pod.
func readBase(files fs.FS) (base, error) {
	return loadBase(files, baseFile, func() any { return new(corev1.Pod) })
}

// loadBase reads an object of the type that empty returns.
func loadBase(files fs.FS, file string, empty func() any) (base, error) {
	data, err := fs.ReadFile(files, file)
	if err != nil {
		return base{}, &ParseError{File: file, Err: err}
	}
	b := base{decode: func(data []byte) error { return document.DecodeJSON(data, empty()) }}
	s := document.Section{File: file, Data: data}
	if err := s.Decode(&b.tree); err != nil {
		return base{}, err
	}
	return b, s.Decode(empty())
}

// pod returns the base pod with the changes of the section pod.patch.
func (b base) pod(d *document.Document) (*corev1.Pod, error) {
	s, _ := d.Section(patchSection)
	tree, err := b.patched(d, s, b.tree)
	if err != nil {
		return nil, err
	}
	pod := new(corev1.Pod)
	data, err := json.Marshal(tree)
	if err == nil {
		err = document.DecodeJSON(data, pod)
	}
	return pod, err
}

// patched applies the changes of a section, one per line. It decodes the object after every line, so that an error is
// reported with the correct line.
func (b base) patched(d *document.Document, s document.Section, tree any) (any, error) {
	for i, line := range strings.Split(string(s.Data), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		changed, err := b.change(tree, line)
		if err != nil {
			return nil, d.ErrorAt(s.Line+1+i, err)
		}
		tree = changed
	}
	return tree, nil
}

func (b base) change(tree any, line string) (any, error) {
	c, err := parseChange(line)
	if err != nil {
		return nil, err
	}
	if tree, err = set(tree, c.path, c.value); err != nil {
		return nil, err
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return tree, b.decode(data)
}
