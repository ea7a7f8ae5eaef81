package generate

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/config"
)

// installOptions holds the flags of generate install.
type installOptions struct {
	options config.Options
	output  cli.Format
}

func newInstall(p *cli.Program) *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the objects that run the Job controller in a cluster",
		Long: `Write the objects that run the Job controller in a cluster, for kubectl apply:
the kinds of custom policies, a namespace, a service account that may do what
the controller does and nothing else, two replicas of which one works, and their
priority, disruption budget and network policy. docs/controller.md says how to
take them away.

No image is published: build one first, push it to a registry of yours, and name
it with --image. docs/controller.md has the steps.`,
		Example: `  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 | kubectl apply -f -
  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 --jobs-namespace team-a
  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 --observe-only
  podverdict generate install --image registry.example.com/podverdict-controller:v1.2.3 --nodes`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, generateInstall),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.options.Namespace, "namespace", "n", "", "namespace that the controller lives in (default podverdict-system)")
	flags.StringVar(&o.options.Image, "image", "", "the controller's image; required")
	flags.StringVar(&o.options.JobsNamespace, "jobs-namespace", "", "the only namespace whose Jobs the controller sees and runs; all without it")
	flags.BoolVar(&o.options.ObserveOnly, "observe-only", false, "run no Jobs, and grant no right to write them or Pods")
	flags.BoolVar(&o.options.Nodes, "nodes", false, "grant the right to read nodes, for rules that read them and rules on Pods that terminate")
	p.AddFormat(cmd, &o.output, "yaml", "json")
	return cmd
}

// generateInstall writes the objects of an installation.
func generateInstall(_ context.Context, c *cli.Console, o *installOptions, _ []string) error {
	if err := o.check(c); err != nil {
		return cli.UsageError(err)
	}
	objects, err := config.Objects(o.options)
	if err != nil {
		return err
	}
	all := make(generated, len(objects))
	for n, object := range objects {
		all[n] = generatedObject{comment: object.Comment, object: object.Object}
	}
	return all.write(c.Stdout, o.output.Name)
}

// check validates names and the image as the API server and the kubelet would.
func (o *installOptions) check(c *cli.Console) error {
	for _, namespace := range []struct{ flag, name string }{
		{"namespace", o.options.Namespace}, {"jobs-namespace", o.options.JobsNamespace},
	} {
		if !c.Given(namespace.flag) {
			continue
		}
		if err := cli.CheckNames(namespace.flag, utilvalidation.IsDNS1123Label, namespace.name); err != nil {
			return err
		}
	}
	if err := checkImage(o.options.Image); err != nil {
		return cli.FlagError("image", err)
	}
	return nil
}

// checkImage requires a tag or digest that every node resolves to the same image, which excludes latest.
func checkImage(image string) error {
	if image == "" {
		return errors.New("give the controller's image: none is published yet")
	}
	reference, err := name.ParseReference(image, name.WithDefaultTag(""))
	if err != nil {
		return err
	}
	if tag := reference.Identifier(); tag == "" || tag == "latest" {
		return fmt.Errorf("%s: give a digest, or a tag that is not latest", image)
	}
	return nil
}
