package suite

import (
	"context"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// rulebook is the policies of a suite, compiled, and what binds them.
type rulebook struct {
	policies   []*runtime.CustomPolicy // in the order of the files
	set        *binding.Set
	namespaces map[string]labels.Set
	// selective is the first binding that selects namespaces by labels that only a Namespace tells; "" if none does.
	selective string
	own       *compiler.Environment
}

func newRulebook(set *manifest.Set, environment *custom.Environment, own *compiler.Environment) (*rulebook, error) {
	r := &rulebook{own: own, namespaces: map[string]labels.Set{}}
	byName, bound := map[string]*runtime.CustomPolicy{}, map[string]bool{}
	var bindings []*v1alpha1.PodFailurePolicyBinding
	var errs []error
	for _, p := range set.Policies {
		compiled, err := compilePolicy(environment, p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.policies = append(r.policies, compiled)
		byName[p.Object.Name] = compiled
	}
	for _, b := range set.Bindings {
		if !slices.ContainsFunc(set.Policies, func(p manifest.Policy) bool { return p.Object.Name == b.Object.Spec.PolicyName }) {
			errs = append(errs, b.Origin.Error("spec.policyName", messageNoPolicy(b.Object.Name, b.Object.Spec.PolicyName)))
		}
		bound[b.Object.Spec.PolicyName] = true
		bindings = append(bindings, b.Object)
		if r.selective == "" && selectsByLabels(b.Object) {
			r.selective = b.Object.Name
		}
	}
	for _, p := range r.policies {
		if !bound[p.Name] {
			bindings = append(bindings, bindingToAll(p.Name))
		}
	}
	for _, n := range set.Namespaces {
		r.namespaces[n.Object.Name] = labels.Merge(n.Object.Labels, nameLabel(n.Object.Name))
	}
	made, err := binding.NewSet(byName, bindings)
	r.set = made
	return r, errors.Join(append(errs, err)...)
}

// compilePolicy compiles a policy; the error joins all findings that are errors.
func compilePolicy(environment *custom.Environment, p manifest.Policy) (*runtime.CustomPolicy, error) {
	compiled, err := runtime.NewCustomPolicy(environment, p.Object)
	if err == nil {
		return compiled, nil
	}
	refused, ok := errors.AsType[*custom.Error](err)
	if !ok {
		return nil, p.Origin.Error("spec", err.Error())
	}
	var errs []error
	for _, f := range refused.Findings {
		if f.Severity == compiler.Error {
			errs = append(errs, p.Origin.Finding(f))
		}
	}
	return nil, errors.Join(errs...)
}

// nameLabel is the label that the API server gives every namespace.
func nameLabel(namespace string) labels.Set { return labels.Set{corev1.LabelMetadataName: namespace} }

// selectsByLabels is whether a binding asks for more than the names of namespaces.
func selectsByLabels(b *v1alpha1.PodFailurePolicyBinding) bool {
	selector, err := b.Spec.NamespaceSelector.Selector()
	if err != nil {
		return false // the Set tells
	}
	requirements, _ := selector.Requirements()
	return slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return r.Key() != corev1.LabelMetadataName })
}

// bindingToAll binds a policy to all Jobs, and goes by its name.
func bindingToAll(policy string) *v1alpha1.PodFailurePolicyBinding {
	b := &v1alpha1.PodFailurePolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec:       v1alpha1.PodFailurePolicyBindingSpec{PolicyName: policy},
	}
	b.SetDefaults()
	return b
}

// judge is what is in force for a Job, which has the API's defaults.
func (r *rulebook) judge(ctx context.Context, given manifest.Job) (*judge, error) {
	job := given.Stored(metav1.NamespaceDefault)
	own, err := r.program(given)
	if err != nil {
		return nil, err
	}
	known, ok := r.namespaces[job.Namespace]
	if !ok {
		if r.selective != "" {
			return nil, given.Origin.Error("metadata.namespace", messageNoNamespace(job.Namespace, r.selective))
		}
		known = nameLabel(job.Namespace)
	}
	j := &judge{job: job, own: own, policy: job.Spec.PodFailurePolicy, selection: r.set.For(ctx, job, known)}
	j.enforced, j.audited = j.selection.Enforced(own), j.selection.Audited(own)
	for policy, bound := range j.selection.All() {
		j.order = append(j.order, inForce{policy, bound})
	}
	return j, nil
}

// program is that of a Job's own rules, of which there may be none.
func (r *rulebook) program(job manifest.Job) (*runtime.Program, error) {
	const field = "spec.podFailurePolicy"
	legal, err := compiler.NewPolicy(job.Object.Spec.PodFailurePolicy)
	if refused, ok := errors.AsType[*compiler.PolicyError](err); ok {
		var errs []error
		for _, e := range refused.Errors {
			errs = append(errs, job.Origin.Error(field+"."+e.Field, e.ErrorBody()))
		}
		return nil, errors.Join(errs...)
	}
	var compiled *compiler.Compiled
	if err == nil {
		compiled, err = r.own.Compile(legal)
	}
	if err != nil {
		return nil, job.Origin.Error(field, err.Error())
	}
	program, err := runtime.NewProgram(compiled, runtime.Options{})
	if err != nil {
		return nil, job.Origin.Error(field, err.Error())
	}
	return program, nil
}

// judge is what is in force for one Job.
type judge struct {
	job               *batchv1.Job
	policy            *batchv1.PodFailurePolicy
	own               *runtime.Program
	selection         binding.Selection
	order             []inForce
	enforced, audited *runtime.Program
}

type inForce struct {
	policy  *runtime.CustomPolicy
	binding *v1alpha1.PodFailurePolicyBinding
}

// program is the one that decides.
func (j *judge) program(audited bool) *runtime.Program {
	if audited {
		return j.audited
	}
	return j.enforced
}

// verdict is that on a Pod, and whether it is deleted because of it.
func (j *judge) verdict(ctx context.Context, in custom.Input, audited bool) (v runtime.Verdict, deleted bool) {
	if in.Pod.Status.Phase != corev1.PodPending {
		return j.program(audited).Judge(ctx, in), false
	}
	end := j.selection.EndedPending
	if audited {
		end = j.selection.AuditedPending
	}
	if v, bound := end(ctx, in); bound != nil {
		return v, v.Matched
	}
	v, _ = j.selection.Pending(ctx, in)
	return v, false
}
