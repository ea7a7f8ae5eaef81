package generate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// policyFlags holds the flags shared by all commands that generate admission policies.
type policyFlags struct {
	kubernetes string
	name       string
	kinds      []string
	selector   string
	exempt     []string
	conditions []string
	static     bool
	failure    string
}

func (f *policyFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubernetes, "kubernetes", compiler.DefaultVersion, "minor version of the API server")
	flags.StringVar(&f.name, "name", "podverdict", "what the names of the objects begin with, and their label app.kubernetes.io/instance")
	flags.StringSliceVar(&f.kinds, "for", []string{"job", "cronjob"}, "kinds of objects: job, cronjob")
	flags.StringVar(&f.selector, "namespace-selector", "", "label selector of the namespaces where the policies are in force")
	flags.StringSliceVar(&f.exempt, "exempt-namespaces", nil, "names of namespaces where they are not")
	flags.BoolVar(&f.static, "static", false, "write them for files that the API server reads (Kubernetes 1.37)")
	flags.StringArrayVar(&f.conditions, "match-condition", nil, "NAME=CEL that must be true of a request for a policy to look at it")
}

// options returns the options shared by all kinds of policies.
func (f *policyFlags) options() (o admission.Options, err error) {
	o = admission.Options{
		Name: f.name, Version: cli.ReadBuild().Version, Kubernetes: f.kubernetes, Static: f.static,
		Failure: admissionregistrationv1.FailurePolicyType(f.failure),
	}
	if o.Failure != admissionregistrationv1.Fail && o.Failure != admissionregistrationv1.Ignore {
		return o, cli.ChoiceError("failure-policy", f.failure, "Fail", "Ignore")
	}
	err = cli.CheckNames("name", utilvalidation.IsDNS1123Subdomain, f.name)
	if err == nil {
		err = cli.CheckNames("name", utilvalidation.IsValidLabelValue, f.name) // used as a label of all objects
	}
	if err := errors.Join(err, f.checkStatic()); err != nil {
		return o, err
	}
	if o.Namespaces, err = f.namespaces(); err == nil {
		o.MatchConditions, err = f.matchConditions()
	}
	return o, err
}

// checkStatic reports an error if --static is set for a Kubernetes version whose API server does not read policies from files.
func (f *policyFlags) checkStatic() error {
	if !f.static {
		return nil
	}
	v, err := compiler.ParseVersion(f.kubernetes)
	if err != nil {
		return err
	}
	if v.LessThan(kubeversion.StaticAdmission) {
		return cli.FlagError("static", fmt.Errorf("API servers read policies from files since Kubernetes %s, and --kubernetes is %s", kubeversion.StaticAdmission, f.kubernetes))
	}
	return nil
}

// staticConfiguration explains how to make the API server read the policies of an admission plugin from files.
const staticConfiguration = `For a folder on each host of the control plane. Move this file there: one that
is being written is read, too. kube-apiserver reads the folder at its start and
when it changes, with --admission-control-config-file=FILE of this:

  apiVersion: apiserver.config.k8s.io/v1
  kind: AdmissionConfiguration
  plugins:
  - name: %[1]s
    configuration:
      apiVersion: apiserver.config.k8s.io/v1
      kind: %[1]sConfiguration
      staticManifestsDir: /etc/kubernetes/admission/%[2]s
`

// write writes policies and bindings for a plugin. Static policies are preceded by the plugin's configuration.
func (f *policyFlags) write(w io.Writer, all generated, plugin, format string) error {
	if f.static && len(all) > 0 {
		folder := strings.ToLower(strings.TrimSuffix(plugin, "AdmissionPolicy"))
		all[0].comment = strings.TrimSpace(fmt.Sprintf(staticConfiguration, plugin, folder) + "\n" + all[0].comment)
	}
	return all.write(w, format)
}

// namespaces returns the selector for the namespaces in which the policies apply, or nil for all namespaces.
func (f *policyFlags) namespaces() (*metav1.LabelSelector, error) {
	if f.selector == "" && len(f.exempt) == 0 {
		return nil, nil //nolint:nilnil // there is no selector
	}
	if err := cli.CheckNames("exempt-namespaces", utilvalidation.IsDNS1123Label, f.exempt...); err != nil {
		return nil, err
	}
	selector := &metav1.LabelSelector{}
	if f.selector != "" {
		var err error
		if selector, err = metav1.ParseToLabelSelector(f.selector); err != nil {
			return nil, cli.FlagError("namespace-selector", err)
		}
	}
	if len(f.exempt) > 0 {
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: f.exempt,
		})
	}
	return selector, nil
}

// matchConditions parses --match-condition. The expressions are checked later, as parts of a policy.
func (f *policyFlags) matchConditions() ([]admissionregistrationv1.MatchCondition, error) {
	var all []admissionregistrationv1.MatchCondition
	for _, text := range f.conditions {
		name, expression, ok := strings.Cut(text, "=")
		if !ok || name == "" || expression == "" {
			return nil, cli.FlagError("match-condition", fmt.Errorf("%q: not NAME=CEL", text))
		}
		if slices.ContainsFunc(all, func(m admissionregistrationv1.MatchCondition) bool { return m.Name == name }) {
			return nil, cli.FlagError("match-condition", fmt.Errorf("%s is given twice", name))
		}
		all = append(all, admissionregistrationv1.MatchCondition{Name: name, Expression: expression})
	}
	return all, nil
}

// warnOfConditions warns about match conditions that cannot be evaluated on every object.
func warnOfConditions(c *cli.Console, o admission.Options) {
	for _, m := range o.MatchConditions {
		for _, path := range admission.AbsentMaps(m.Expression) {
			c.Warn(fmt.Sprintf("--match-condition %s: %s may be absent, which is an error there: --failure-policy %s then decides; ask has(%[2]s) first",
				m.Name, path, o.Failure))
		}
	}
}

// targets returns the built-in kinds selected by --for.
func (f *policyFlags) targets() ([]admission.Target, error) {
	if len(f.kinds) == 0 {
		return nil, cli.UsageError(cli.ChoiceError("for", `""`, "job", "cronjob"))
	}
	var all []admission.Target
	for i, name := range f.kinds {
		if slices.Contains(f.kinds[:i], name) {
			continue
		}
		read, path := kind.Job, "spec"
		switch name {
		case "job":
		case "cronjob":
			read, path = kind.CronJob, "spec.jobTemplate.spec"
		default:
			return nil, cli.UsageError(cli.ChoiceError("for", name, "job", "cronjob"))
		}
		k, err := read()
		if err != nil {
			return nil, err
		}
		target, err := admission.NewTarget(k, path)
		if err != nil {
			return nil, err
		}
		all = append(all, target)
	}
	return all, nil
}

// placed replaces the position of an error in a match condition with the flag.
func (f *policyFlags) placed(err error) error {
	wrong, ok := errors.AsType[*apiserver.CheckError](err)
	if !ok {
		return err
	}
	conditions, _ := f.matchConditions()
	problems := slices.Clone(wrong.Problems)
	for i, p := range problems {
		for _, m := range conditions {
			if p.Expression == m.Expression ||
				strings.HasPrefix(p.FieldRef, "spec.matchConditions[") && strings.Contains(p.Message, strconv.Quote(m.Name)) {
				problems[i].FieldRef = "--match-condition " + m.Name
			}
		}
	}
	return &apiserver.CheckError{Problems: problems}
}
