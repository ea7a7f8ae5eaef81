package admission

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/cluster"
)

// options holds the flags of admission plan.
type options struct {
	files               []string
	connection          cluster.Options
	namespace, selector string
	everywhere          bool
	output              cli.Format
}

// New returns the admission command.
func New(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admission",
		Short: "Compare generated admission policies with a cluster",
		Args:  cli.VerbArgument,
	}
	cmd.RunE = cli.MissingVerb(cmd)
	cmd.AddCommand(newPlan(p))
	return cmd
}

func newPlan(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "plan -f POLICIES",
		Short: "Show what generated policies would change in a cluster, and refuse",
		Long: `Show what kubectl apply of generated policies would change in a cluster: which
policies and bindings are created or changed, and which are left over from
before, with the commands that delete them. Nothing is changed.

Then show which Jobs, CronJobs and JobSets of the cluster the policies would
refuse if they were created anew, and why; CronJobs and JobSets also if a Job
would be refused that they make. Updates are refused only for what they newly
break. The exit code is 1 if something would be refused.
` + cli.ConnectionHelp,
		Example: `  podverdict generate vap | podverdict admission plan -A -f -
  podverdict generate vap --action warning=Deny | podverdict admission plan -A -l app=demo -f - -o json`,
		Args: cli.NoArguments,
		RunE: cli.Run(p, &o, run),
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "file or - (standard input) with generated policies and bindings; may be repeated")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the objects to judge (default all namespaces)")
	flags.BoolVarP(&o.everywhere, "all-namespaces", "A", false, "judge the objects of all namespaces, as without -n")
	flags.StringVarP(&o.selector, "selector", "l", "", "label selector of the objects to judge, as in app=demo,tier!=test")
	o.connection.AddFlags(flags)
	cli.AddConnectionCompletions(cmd, &o.connection)
	p.AddFormat(cmd, &o.output, "table", "json")
	return cmd
}

// run reads policies, compares them with the policies in the cluster, and evaluates them for existing objects.
func run(ctx context.Context, c *cli.Console, o *options, _ []string) error {
	switch _, err := labels.Parse(o.selector); {
	case len(o.files) == 0:
		return cli.Usagef("no policies: give what generate vap or generate map has written, with -f")
	case o.everywhere && o.namespace != "":
		return cli.Usagef("--namespace and --all-namespaces: give one or the other")
	case err != nil:
		return cli.UsageError(cli.FlagError("selector", err))
	}
	set, err := read(c, o.files)
	if err != nil {
		return err
	}
	client, err := o.connection.ConnectAlways("", cli.UserAgent())
	if err != nil {
		return err
	}
	shown := cli.NewProgress(c.Stderr, "objects read from the cluster", 0)
	defer shown.End()
	client.Progress = shown.Add
	p := plan{APIVersion: print.APIVersion, Kind: "AdmissionPlan"}
	if err := set.compare(ctx, client, &p); err != nil {
		return err
	}
	found := findings.Report{Rules: catalogue.All(), Screen: c.Screen("never")}
	if found.Subjects, err = set.judge(ctx, client, o); err != nil {
		return err
	}
	shown.End()
	if p.Findings = found.Items(); o.output.IsObject() {
		err = o.output.WriteObject(c.Stdout, p)
	} else {
		err = errors.Join(p.print(c.Stdout, found), found.Write(c.Stdout, "table"))
	}
	if err == nil && found.Count() > 0 {
		err = cli.ErrFindings
	}
	return err
}

// print writes the planned changes as text, followed by the findings.
func (p plan) print(w io.Writer, found findings.Report) error {
	t := print.NewTable(w, found.Screen, true, print.Column{Name: "NAME"}, print.Column{Name: "OBJECT"}, print.Column{Name: "PLAN"})
	for _, one := range p.Policies {
		object := "policy"
		if strings.HasSuffix(one.Kind, "Binding") {
			object = "binding"
		}
		t.Row(print.Cell{Text: one.Name}, print.Cell{Text: object}, print.Cell{Text: one.Plan})
	}
	err := t.Flush()
	if t.Space(); len(p.Delete) > 0 {
		t.Line("What is left over stays in force until it is deleted:")
		for _, command := range p.Delete {
			t.Line("  " + command)
		}
		t.Space()
	}
	if found.Count() > 0 {
		t.Line("If created anew, these would be refused:")
		t.Space()
	}
	return err
}
