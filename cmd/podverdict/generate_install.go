package main

import (
	"errors"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/podverdict/podverdict/config"
)

type installation struct {
	options config.Options
	output  format
}

func newGenerateInstall() *cobra.Command {
	var i installation
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the objects that run the Job controller in a cluster",
		Long: `Write the objects that run the Job controller in a cluster, for kubectl apply: the kinds of custom policies, a
namespace, a service account that may do what the controller does and nothing else, two replicas of which one works, and a
priority, a disruption budget and a network policy for them. It is what kubectl kustomize prints for the folder config, in
the order in which it is to be applied. podverdict uninstall removes it.

No image is published yet: docs/controller.md says how to build one.`,
		Example: `  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 | kubectl apply -f -
  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 --jobs-namespace team-a
  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 --observe-only`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return i.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&i.options.Namespace, "namespace", "n", "", "namespace that the controller lives in (default podverdict-system)")
	flags.StringVar(&i.options.Image, "image", "", "the controller's image; required")
	flags.StringVar(&i.options.JobsNamespace, "jobs-namespace", "", "the only namespace whose Jobs the controller sees and runs; all without it")
	flags.BoolVar(&i.options.ObserveOnly, "observe-only", false, "run no Jobs, and grant no right to write them or Pods")
	addFormat(cmd, &i.output, "yaml", "json")
	return cmd
}

func (i *installation) run(cmd *cobra.Command) error {
	if err := i.check(cmd); err != nil {
		return errUsage(cmd, err)
	}
	objects, err := config.Objects(i.options)
	if err != nil {
		return err
	}
	all := make(generated, len(objects))
	for n, object := range objects {
		all[n] = generatedObject{comment: object.Comment, object: object.Object}
	}
	return all.write(cmd.OutOrStdout(), i.output.name)
}

// check refuses what the API server, or the kubelet much later, would refuse.
func (i *installation) check(cmd *cobra.Command) error {
	for _, flag := range []string{"namespace", "jobs-namespace"} {
		value := cmd.Flag(flag)
		if wrong := utilvalidation.IsDNS1123Label(value.Value.String()); value.Changed && len(wrong) > 0 {
			return errFlag(flag, errObjectName(value.Value.String(), wrong[0]))
		}
	}
	if i.options.Image == "" {
		return errFlag("image", errors.New("give the controller's image: none is published yet"))
	}
	if _, err := name.ParseReference(i.options.Image); err != nil {
		return errFlag("image", err)
	}
	return nil
}
