package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/admission"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// guardrailFlags are the flags that select guardrails and constraints, and their settings.
var guardrailFlags = []string{"rules", "data", "crd", "at"}

// generateCustomVAP writes admission policies for the requirements that custom policies have for Jobs.
func generateCustomVAP(ctx context.Context, c *cli.Console, o *vapOptions, options admission.Options) error {
	for _, flag := range guardrailFlags {
		if c.Given(flag) {
			return cli.Usagef("--%s is for guardrails and constraints, not for custom policies given with -f", flag)
		}
	}
	if err := o.checkRequirements(); err != nil {
		return cli.UsageError(err)
	}
	targets, err := o.common.targets()
	if err != nil {
		return err
	}
	if !c.Given("failure-policy") {
		options.Failure = admissionregistrationv1.Ignore // a policy whose match conditions fail is not in effect
	}
	source, err := readRequiring(ctx, c, o.files)
	if err != nil {
		return err
	}
	environment, err := compiler.NewEnvironment(o.common.kubernetes)
	if err != nil {
		return err
	}
	var all generated
	var errs []error
	for _, b := range source.Bindings {
		objects, err := o.customObjects(ctx, environment, *source.Policy(b), b, options, targets)
		if err == nil && len(objects) == 0 {
			c.Note(fmt.Sprintf("note: PodFailurePolicy %s requires nothing of Jobs", b.Object.Spec.PolicyName))
		}
		all, errs = append(all, objects...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return o.common.write(c.Stdout, all, "ValidatingAdmissionPolicy", o.output.Name)
}

// checkRequirements reports an action for a requirement that does not exist.
func (o *vapOptions) checkRequirements() error {
	for key := range o.actions {
		if key != "error" && key != "warning" {
			if err := admission.CheckRequirement(key); err != nil {
				return cli.FlagError("action", err)
			}
		}
	}
	return nil
}

// readRequiring reads policies and bindings. A policy without a binding is bound to all Jobs, with a note.
func readRequiring(ctx context.Context, c *cli.Console, files manifest.Options) (*effective.Source, error) {
	set, err := cli.ReadFiles(ctx, c, files)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(set.CheckPolicies(), set.ValidatePolicies()); err != nil {
		return nil, err
	}
	if len(set.Policies) == 0 {
		return nil, errors.New("no PodFailurePolicy in the input")
	}
	if jobs, pods := len(set.Jobs), len(set.Pods); jobs+pods > 0 {
		c.Note(fmt.Sprintf("note: Jobs and Pods in the input are not looked at: %d and %d", jobs, pods))
	}
	source := effective.FromFiles(set)
	var errs []error
	for _, b := range source.Missing() {
		errs = append(errs, b.Origin.Error("spec.policyName", effective.BindsNothing(b)))
	}
	for _, b := range source.Bindings[len(set.Bindings):] {
		if slices.ContainsFunc(set.Bindings, func(other manifest.Binding) bool { return other.Object.Name == b.Object.Name }) {
			errs = append(errs, b.Origin.Error("metadata.name",
				fmt.Sprintf("nothing binds this policy, and PodFailurePolicyBinding %s of another one takes its name for admission policies",
					b.Object.Name)))
		}
		c.Note(fmt.Sprintf("note: no PodFailurePolicyBinding of PodFailurePolicy %s in the input: all Jobs are held to what it requires",
			b.Object.Name))
	}
	return source, errors.Join(errs...)
}

// customObjects returns the admission policies for one policy and one binding.
func (o *vapOptions) customObjects(
	ctx context.Context, e *compiler.Environment, p manifest.Policy, b manifest.Binding, options admission.Options, targets []admission.Target,
) (generated, error) {
	if _, err := custom.Compile(e, &p.Object.Spec); err != nil {
		return nil, placedFindings(p, err, "")
	}
	var all generated
	for _, target := range targets {
		options.Target = target
		policies, err := admission.Custom{Policy: p.Object, Binding: b.Object}.Policies(e, options)
		if err != nil {
			hint := ""
			if target.Kind.Kind == "CronJob" {
				hint = "--for job leaves CronJobs out"
			}
			return nil, placedFindings(p, o.common.placed(err), hint)
		}
		for _, generated := range policies {
			cost, err := generated.Estimate(ctx, target)
			if err != nil {
				return nil, err
			}
			by := "bound by " + b.Object.Name
			if b.Origin == p.Origin {
				by = "as if bound to all Jobs"
			}
			comment := fmt.Sprintf("What PodFailurePolicy %s requires of %ss, %s.\n%s", p.Object.Name, target.Kind.Kind, by, costText(cost))
			all = append(all, policyObjects(generated, comment)...)
		}
	}
	return all, nil
}

// placedFindings adds file positions to errors in a policy's expressions. The hint is for expressions that cannot be evaluated when an
// object is created.
func placedFindings(p manifest.Policy, err error, hint string) error {
	refused, ok := errors.AsType[*custom.Error](err)
	if !ok {
		return cli.ErrorIn("PodFailurePolicy "+p.Object.Name, err)
	}
	var errs []error
	for _, f := range refused.Findings {
		if f.Check == custom.CheckAdmission && f.Hint == "" {
			f.Hint = hint
		}
		if f.Severity == compiler.Error {
			errs = append(errs, p.Origin.Finding(f))
		}
	}
	return errors.Join(errs...)
}
