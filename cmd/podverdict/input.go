package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
)

// input is what verbs read: Jobs and Pods from files, and for which Kubernetes. Those of a source come from a cluster, too.
type input struct {
	manifest.Options

	namespace  string
	kubernetes string
}

func (in *input) addFlags(cmd *cobra.Command) {
	in.addFileFlags(cmd)
	in.addVersionFlag(cmd)
}

func (in *input) addVersionFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&in.kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of Kubernetes to decide for")
}

// addFileFlags is for verbs that know one version of Kubernetes.
func (in *input) addFileFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&in.Filenames, "filename", "f", nil,
		"file, directory, URL or - (standard input) to read; may be repeated")
	flags.BoolVarP(&in.Recursive, "recursive", "R", false, "read the directories below those given with -f as well")
	flags.StringVarP(&in.namespace, "namespace", "n", "", `namespace of the objects that name none (default "default")`)
}

// read reads everything and wants at least one Job.
func (in *input) read(cmd *cobra.Command) (*manifest.Set, error) {
	set, err := in.readAll(cmd)
	if err == nil && len(set.Jobs) == 0 {
		err = errors.New("no Job in the input")
	}
	if err != nil {
		return nil, err
	}
	return set, nil
}

// readAll reads everything, for verbs that have a use for custom policies alone.
func (in *input) readAll(cmd *cobra.Command) (*manifest.Set, error) {
	in.Stdin = cmd.InOrStdin()
	in.namespace = cmp.Or(in.namespace, metav1.NamespaceDefault)
	return manifest.Read(cmd.Context(), in.Options)
}

// reference names an object in results. Its namespace is the one that the object would be created in.
type reference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r reference) String() string { return r.Namespace + "/" + r.Name }

func (in *input) reference(namespace, name, generateName string) reference {
	return reference{cmp.Or(namespace, in.namespace), cmp.Or(name, generateName)}
}

func (in *input) jobReference(j manifest.Job) reference {
	return in.reference(j.Object.Namespace, j.Object.Name, j.Object.GenerateName)
}

func (in *input) podReference(p manifest.Pod) reference {
	return in.reference(p.Object.Namespace, p.Object.Name, p.Object.GenerateName)
}

// policy is a Job of the input with its compiled podFailurePolicy.
type policy struct {
	job      manifest.Job
	compiled *compiler.Compiled
}

// compile compiles the policy of every Job; the error joins what is wrong with any of them.
func (in *input) compile(jobs []manifest.Job) ([]policy, error) {
	environment, err := compiler.NewEnvironment(in.kubernetes)
	if err != nil {
		return nil, err
	}
	policies := make([]policy, len(jobs))
	var errs []error
	for i, job := range jobs {
		compiled, err := job.Compile(environment)
		policies[i] = policy{job, compiled}
		errs = append(errs, err)
	}
	return policies, errors.Join(errs...)
}
