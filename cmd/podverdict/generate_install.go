package main

import (
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
disruption budget for them. It is what kubectl kustomize prints for the folder config, in the order in which it is to be
applied.`,
		Example: `  podverdict generate install | kubectl apply -f -
  podverdict generate install --namespace batch-system --image registry.example.com/podverdict-controller:v1.2.3`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return i.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&i.options.Namespace, "namespace", "n", "", "namespace that the controller lives in; it works for all (default podverdict-system)")
	flags.StringVar(&i.options.Image, "image", "", "the controller's image (default ghcr.io/podverdict/podverdict-controller:latest)")
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
	if cmd.Flags().Changed("namespace") {
		if wrong := utilvalidation.IsDNS1123Label(i.options.Namespace); len(wrong) > 0 {
			return errFlag("namespace", errObjectName(i.options.Namespace, wrong[0]))
		}
	}
	if cmd.Flags().Changed("image") {
		if _, err := name.ParseReference(i.options.Image); err != nil {
			return errFlag("image", err)
		}
	}
	return nil
}
