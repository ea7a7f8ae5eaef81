package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// vapOptions holds the flags of generate vap.
type vapOptions struct {
	common  policyFlags
	files   manifest.Options // files with custom policies
	rules   []string
	data    string
	crd, at string
	actions map[string]string
	output  cli.Format
}

// NewVAP returns the generate vap command.
func NewVAP(p *cli.Program) *cobra.Command {
	var o vapOptions
	cmd := &cobra.Command{
		Use:   "vap",
		Short: "Write the guardrails as ValidatingAdmissionPolicies",
		Long: `Write the guardrails of check as ValidatingAdmissionPolicies with their
bindings, for kubectl apply: the API server itself then checks them, with the
same ids and messages. Errors are denied, and warnings shown to the
user and audited; --action changes that by severity or by rule. Updates that do
not touch what the rules look at pass, so that older Jobs can end.

With --crd and --at the rules hold for Jobs that a custom resource embeds, and
with --rules '*' also the constraints of the Job API, which the API server
checks in Jobs and CronJobs only.

With -f FILE of PodFailurePolicies (podverdict.io) and their bindings, the rules
are what these require of the Jobs that they select: that Pods can fail, that
there are indexes where rules fail indexes, that the controller that enforces
policies runs the Job. If a match condition cannot be evaluated, the Job passes,
unless there is --failure-policy Fail.

With --static they are for files in a folder of the API server: they hold from
its first request, and nobody can see, change or delete them through the API.
How kube-apiserver finds the folder stands at the top of the YAML.

Every expression is checked as the API server checks it. The comment above each
policy says what it costs for the largest Job there can be, of the API server's
budget for one policy.`,
		Example: `  podverdict generate vap | kubectl apply -f -
  podverdict generate vap --rules 'G-DISRUPTION-*,G-TTL' --action warning=Deny --exempt-namespaces kube-system
  podverdict generate vap --data guardrails.yaml
  podverdict generate vap -f policy.yaml -f binding.yaml --action C-MANAGED-BY=Deny
  podverdict generate vap --crd jobset.yaml --at 'spec.replicatedJobs[*].template.spec' --rules '*'
  podverdict generate vap --static > guardrails.yaml`,
		Args: cli.FileArguments(&o.files.Filenames),
		RunE: cli.Run(p, &o, generateVAP),
	}
	o.common.addFlags(cmd.Flags())
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files.Filenames, "filename", "f", nil,
		"file, directory, URL or - (standard input) with custom policies and bindings; may be repeated")
	flags.BoolVarP(&o.files.Recursive, "recursive", "R", false, "read the directories below those given with -f as well")
	addRulesFlag(cmd, &o.rules)
	flags.StringVar(&o.data, "data", "", "YAML or JSON file with the settings, as in podverdict: {config: {guardrails: {...}}}")
	flags.StringVar(&o.crd, "crd", "", "file with the CustomResourceDefinition of a kind that embeds Jobs")
	flags.StringVar(&o.at, "at", "", "field path of the Jobs' specs in that kind, as in 'spec.replicatedJobs[*].template.spec'")
	flags.StringToStringVar(&o.actions, "action", nil, "what happens by severity or rule: warning=Deny, G-TTL=Warn+Audit")
	flags.StringVar(&o.common.failure, "failure-policy", "Fail", "what happens when an expression cannot be evaluated: Fail, Ignore; with -f the default is Ignore")
	p.AddFormat(cmd, &o.output, "yaml", "json")
	return cmd
}

// generateVAP writes the admission policies for the selected guardrails and constraints, or for custom policies.
func generateVAP(ctx context.Context, c *cli.Console, o *vapOptions, _ []string) error {
	options, err := o.common.options()
	if err != nil {
		return cli.UsageError(err)
	}
	if options.Actions, err = admission.ParseActions(o.actions); err != nil {
		return cli.UsageError(cli.FlagError("action", err))
	}
	warnOfConditions(c, options)
	if len(o.files.Filenames) > 0 {
		return generateCustomVAP(ctx, c, o, options)
	}
	targets, err := o.targets(ctx, c)
	if err != nil {
		return err
	}
	selections, origin, err := o.selections()
	if err != nil {
		return err
	}
	var all generated
	for _, s := range selections {
		objects, err := o.objects(ctx, s, options, targets)
		if err != nil {
			return placedConfiguration(err, origin)
		}
		all = append(all, objects...)
	}
	if len(all) == 0 {
		return errNoRuleApplies(o.rules)
	}
	return o.common.write(c.Stdout, all, "ValidatingAdmissionPolicy", o.output.Name)
}

// objects returns the objects of one selection: a policy with its binding for each target and set of actions.
func (o *vapOptions) objects(ctx context.Context, s *admission.Selection, options admission.Options, targets []admission.Target) (generated, error) {
	var all generated
	for _, target := range targets {
		options.Target = target
		policies, err := s.Policies(options)
		if err != nil {
			return nil, o.common.placed(err)
		}
		for _, p := range policies {
			cost, err := p.Estimate(ctx, target)
			if err != nil {
				return nil, err
			}
			all = append(all, policyObjects(p, costText(cost))...)
		}
	}
	return all, nil
}

// costText describes the cost of a policy for the largest Job, compared with the API server's limit.
func costText(cost uint64) string {
	return fmt.Sprintf("Cost for the largest Job: %d of %d (%.1f %%).", cost, apiserver.PolicyLimit, 100*float64(cost)/apiserver.PolicyLimit)
}

// policyObjects returns a policy and its binding, without a status.
func policyObjects(p admission.Policy, comment string) generated {
	definition := struct {
		metav1.PartialObjectMetadata

		Spec admissionregistrationv1.ValidatingAdmissionPolicySpec `json:"spec"`
	}{metav1.PartialObjectMetadata{TypeMeta: p.Definition.TypeMeta, ObjectMeta: p.Definition.ObjectMeta}, p.Definition.Spec}
	return generated{{comment: comment, object: definition}, {object: p.Binding}}
}

// targets returns Jobs and CronJobs, or the kind given by --crd.
func (o *vapOptions) targets(ctx context.Context, c *cli.Console) ([]admission.Target, error) {
	if (o.crd == "") != (o.at == "") {
		return nil, cli.Usagef("--crd and --at belong together: a kind, and where the Jobs are in it")
	}
	if o.crd == "" {
		return o.common.targets()
	}
	if c.Given("for") {
		return nil, cli.Usagef("--for is for Jobs and CronJobs, --crd for another kind: give one or the other")
	}
	kinds, err := readCRD(ctx, o.crd)
	if err != nil {
		return nil, err
	}
	var all []admission.Target
	for _, k := range kinds {
		target, err := admission.NewTarget(k, o.at)
		if err != nil {
			return nil, cli.FlagError("at", err)
		}
		all = append(all, target)
	}
	return all, nil
}

// readCRD reads a CustomResourceDefinition and returns the kinds it serves.
func readCRD(ctx context.Context, file string) ([]kind.Kind, error) {
	const version, name = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	value, origin, err := manifest.ReadValue(manifest.Options{}, file)
	if err != nil {
		return nil, err
	}
	if value["apiVersion"] != version || value["kind"] != name {
		return nil, origin.Error("kind", "is not a "+name+" of "+version)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if _, _, err := manifest.ReadPart(ctx, manifest.Options{}, file, crd); err != nil {
		return nil, err
	}
	kinds, wrong := kind.ServedKinds(crd)
	return kinds, errors.Join(origin.Errors(wrong)...)
}

// selections returns the rules of --rules with the settings of --data, and the origin of the settings.
func (o *vapOptions) selections() ([]*admission.Selection, manifest.Origin, error) {
	for key := range o.actions {
		if key != "error" && key != "warning" && !slices.Contains(o.rules, key) {
			// otherwise, an action for a rule that does not exist would be ignored silently
			if _, err := admission.Select([]string{key}, nil); err != nil {
				return nil, manifest.Origin{}, cli.FlagError("action", err)
			}
		}
	}
	return selectRules(o.rules, o.data)
}

// selectRules returns the rules that match the ids or patterns, with the settings of a file, and the origin of the settings.
func selectRules(ids []string, file string) ([]*admission.Selection, manifest.Origin, error) {
	configuration, origin, err := readConfiguration(file)
	if err != nil {
		return nil, origin, err
	}
	selections, err := admission.Select(regoIDs(ids), configuration)
	return selections, origin, placedConfiguration(err, origin)
}

// addRulesFlag adds the --rules flag.
func addRulesFlag(cmd *cobra.Command, rules *[]string) {
	cmd.Flags().StringSliceVar(rules, "rules", []string{"G-*"}, "ids of rules, or patterns of the older ones: ttl-out-of-bounds, G-INDEX-*, F*, *")
	cli.AddListCompletion(cmd, "rules", admissionRules)
}

// admissionRules returns the ids of the rules that can be written as admission policies.
func admissionRules() []string {
	selections, err := admission.Select([]string{"*"}, nil)
	if err != nil {
		return nil
	}
	var ids []string
	for _, s := range selections {
		for _, r := range s.Rules {
			if rule, ok := catalogue.Find(r.ID); ok {
				ids = append(ids, rule.ID)
			}
		}
	}
	return ids
}

const configurationPath = "podverdict.config.guardrails"

// readConfiguration reads the guardrail settings from a file.
func readConfiguration(file string) (admission.Configuration, manifest.Origin, error) {
	if file == "" {
		return nil, manifest.Origin{}, nil
	}
	data, origin, err := manifest.ReadValue(manifest.Options{}, file)
	if err != nil {
		return nil, origin, err
	}
	value := any(data)
	for name := range strings.SplitSeq(configurationPath, ".") {
		members, ok := value.(map[string]any)
		if !ok || members[name] == nil {
			return nil, origin, origin.Error("", "has no "+configurationPath)
		}
		value = members[name]
	}
	guardrails, ok := value.(map[string]any)
	if !ok {
		return nil, origin, origin.Error(configurationPath, "must be an object of settings by guardrail id")
	}
	configuration := admission.Configuration{}
	for id, settings := range guardrails {
		if configuration[id], ok = settings.(map[string]any); !ok {
			return nil, origin, origin.Error(configurationPath+"."+id, "must be an object of settings")
		}
	}
	return configuration, origin, nil
}

// placedConfiguration adds file positions to errors in the settings.
func placedConfiguration(err error, origin manifest.Origin) error {
	wrong, ok := errors.AsType[admission.ConfigurationError](err)
	if !ok {
		return err
	}
	var all []error
	for _, m := range wrong {
		all = append(all, origin.Error(configurationPath+"."+m.Path, m.Message))
	}
	return errors.Join(all...)
}

// regoIDs replaces rule ids used in reports with the ids used in the Rego bundle and the generated objects, such as ttl-out-of-bounds with
// G-TTL.
func regoIDs(patterns []string) []string {
	ids := slices.Clone(patterns)
	for i, pattern := range patterns {
		if rule, ok := catalogue.Find(pattern); ok && len(rule.Aliases) > 0 {
			ids[i] = rule.Aliases[0]
		}
	}
	return ids
}

func errNoRuleApplies(rules []string) error {
	return cli.Usagef("--rules %s: none of them is enabled and for the kinds of objects", cmp.Or(strings.Join(rules, ","), `""`))
}
