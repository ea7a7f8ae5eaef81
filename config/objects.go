package config

import (
	"bytes"
	"cmp"
	"embed"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// files are the base.
//
//go:embed *.yaml crd/*.yaml
var files embed.FS

// Options are what installations differ in. The zero value is the base as it is.
type Options struct {
	// Namespace is where the controller lives. It works for all namespaces.
	Namespace string
	// Image is that of the container, with a tag or a digest.
	Image string
}

// Object is one of the installation.
type Object struct {
	// Comment is what the file says above it, as lines without the comment signs.
	Comment string
	*unstructured.Unstructured
}

// Objects are the installation in the order in which it is to be applied: each time the same. They are the caller's.
func Objects(o Options) ([]Object, error) {
	var base struct {
		Namespace string   `json:"namespace"`
		Resources []string `json:"resources"`
	}
	if _, err := read("kustomization.yaml", &base); err != nil {
		return nil, err
	}
	o.Namespace = cmp.Or(o.Namespace, base.Namespace)
	objects := make([]Object, len(base.Resources))
	for i, name := range base.Resources {
		content := map[string]any{}
		comment, err := read(name, &content)
		if err != nil {
			return nil, err
		}
		objects[i] = Object{comment, &unstructured.Unstructured{Object: content}}
		if err := objects[i].adapt(o); err != nil {
			return nil, errFile(name, err)
		}
	}
	return objects, nil
}

// read decodes a file, and returns the comment at its head.
func read(name string, into any) (comment string, err error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range bytes.Lines(text) {
		rest, ok := strings.CutPrefix(string(line), "#")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(rest))
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return "", errFile(name, err)
	}
	return strings.Join(lines, "\n"), nil
}

// adapt applies the options as kustomize does.
func (o Object) adapt(options Options) error {
	switch o.GetKind() {
	case "Namespace":
		o.SetName(options.Namespace)
		return nil
	case "ClusterRole", "CustomResourceDefinition":
		return nil
	case "ClusterRoleBinding":
		return o.setEach(options.Namespace, []string{"subjects"}, "namespace")
	}
	o.SetNamespace(options.Namespace)
	switch o.GetKind() {
	case "RoleBinding":
		return o.setEach(options.Namespace, []string{"subjects"}, "namespace")
	case "Deployment":
		if options.Image != "" {
			return o.setEach(options.Image, []string{"spec", "template", "spec", "containers"}, "image")
		}
	}
	return nil
}

// setEach sets a field of each element of a list.
func (o Object) setEach(value string, list []string, field string) error {
	elements, found, err := unstructured.NestedSlice(o.Object, list...)
	if err != nil || !found {
		return errList(list, err)
	}
	for _, element := range elements {
		object, ok := element.(map[string]any)
		if !ok {
			return errList(list, nil)
		}
		object[field] = value
	}
	return unstructured.SetNestedSlice(o.Object, elements, list...)
}
