package config

import (
	"bytes"
	"cmp"
	"embed"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// files holds the base and the files of the component nodes.
//
//go:embed *.yaml crd/*.yaml components/nodes/cluster-role*.yaml
var files embed.FS

// Options are the differences between installations. The zero value returns the base unchanged.
type Options struct {
	// Namespace is the namespace of the controller.
	Namespace string
	// Image is the container's image, with a tag or a digest. The image named in the base does not exist.
	Image string
	// JobsNamespace restricts the controller to the Jobs of one namespace. Empty means all namespaces.
	JobsNamespace string
	// ObserveOnly omits the permission to write Jobs and Pods.
	ObserveOnly bool
	// Nodes grants permission to read nodes, for rules that read nodes and for rules on terminating Pods.
	Nodes bool
}

// Object is an object of the installation.
type Object struct {
	// Comment is the comment at the head of the file, without comment signs.
	Comment string
	*unstructured.Unstructured
}

// Objects returns the objects in the order in which to apply them. The order is stable, and the caller may modify the
// objects.
func Objects(o Options) ([]Object, error) {
	var base struct {
		Namespace string   `json:"namespace"`
		Resources []string `json:"resources"`
	}
	if _, err := read("kustomization.yaml", &base); err != nil {
		return nil, err
	}
	o.Namespace = cmp.Or(o.Namespace, base.Namespace)
	names := base.Resources
	if o.Nodes {
		names = slices.Insert(names, len(names)-1, ofNodes...) // before the controller runs
	}
	objects := make([]Object, 0, len(names))
	for _, name := range names {
		content := map[string]any{}
		comment, err := read(name, &content)
		if err != nil {
			return nil, err
		}
		object := Object{comment, &unstructured.Unstructured{Object: content}}
		if o.ObserveOnly && object.GetName() == managing {
			continue
		}
		if err := object.adapt(o); err != nil {
			return nil, errFile(name, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// ofNodes lists the files of the component nodes.
var ofNodes = []string{"components/nodes/cluster-role-nodes.yaml", "components/nodes/cluster-role-binding-nodes.yaml"}

// read decodes a file into a value and returns the comment at the head of the file.
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

// Names of the roles that cover Jobs and Pods, and of their bindings.
const (
	observing = "podverdict-controller-observe"
	managing  = "podverdict-controller-manage"
)

// adapt applies the options as a kustomize overlay would.
func (o Object) adapt(options Options) error {
	switch o.GetKind() {
	case "Namespace":
		o.SetName(options.Namespace)
		return nil
	case "ClusterRole", "CustomResourceDefinition", "PriorityClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		return nil
	case "ClusterRoleBinding":
		if name := o.GetName(); options.JobsNamespace != "" && (name == observing || name == managing) {
			o.SetKind("RoleBinding")
			o.SetNamespace(options.JobsNamespace)
		}
		return o.setEach(options.Namespace, []string{"subjects"}, "namespace")
	}
	o.SetNamespace(options.Namespace)
	switch o.GetKind() {
	case "RoleBinding":
		return o.setEach(options.Namespace, []string{"subjects"}, "namespace")
	case "Deployment":
		return o.adaptContainers(options)
	}
	return nil
}

// adaptContainers applies the options to a Deployment.
func (o Object) adaptContainers(options Options) error {
	return o.each([]string{"spec", "template", "spec", "containers"}, func(container map[string]any) error {
		if options.Image != "" {
			container["image"] = options.Image
		}
		arguments, _, err := unstructured.NestedStringSlice(container, "args")
		if err != nil {
			return err
		}
		environment, _, err := unstructured.NestedSlice(container, "env")
		if err != nil {
			return err
		}
		if options.ObserveOnly {
			arguments = append(arguments, "--observe-only=true")
		}
		if options.JobsNamespace != "" {
			arguments = append(arguments, "--namespace=$(JOBS_NAMESPACE)")
			environment = append(environment, map[string]any{"name": "JOBS_NAMESPACE", "value": options.JobsNamespace})
		}
		container["env"] = environment
		return unstructured.SetNestedStringSlice(container, arguments, "args")
	})
}

// setEach sets a field of each element of a list.
func (o Object) setEach(value string, list []string, field string) error {
	return o.each(list, func(element map[string]any) error {
		element[field] = value
		return nil
	})
}

// each changes each element of a list of objects.
func (o Object) each(list []string, change func(map[string]any) error) error {
	elements, found, err := unstructured.NestedSlice(o.Object, list...)
	if err != nil || !found {
		return errList(list, err)
	}
	for _, element := range elements {
		object, ok := element.(map[string]any)
		if !ok {
			return errList(list, nil)
		}
		if err := change(object); err != nil {
			return errList(list, err)
		}
	}
	return unstructured.SetNestedSlice(o.Object, elements, list...)
}
