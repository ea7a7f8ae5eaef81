package suite

import (
	"context"
	"errors"
	"fmt"
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
	policies   []*runtime.Policy // in the order of the files
	set        *binding.Set
	namespaces map[string]labels.Set
	// selective is the first binding that selects namespaces by labels that only a Namespace tells; "" if none does.
	selective string
	own       *compiler.Environment
}

func newRulebook(set *manifest.Set, environment *compiler.Environment, own *compiler.Environment) (*rulebook, error) {
	r := &rulebook{own: own, namespaces: set.NamespaceLabels(), selective: manifest.LabelSelecting(set.Bindings)}
	byName := map[string]*runtime.Policy{}
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
	var bindings []*v1alpha1.PodFailurePolicyBinding
	for _, b := range set.Bound() {
		if !slices.ContainsFunc(set.Policies, func(p manifest.Policy) bool { return p.Object.Name == b.Object.Spec.PolicyName }) {
			errs = append(errs, b.Origin.Error("spec.policyName",
				fmt.Sprintf("PodFailurePolicyBinding %s binds %s, which is not in the suite", b.Object.Name, b.Object.Spec.PolicyName)))
		}
		bindings = append(bindings, b.Object)
	}
	made, err := binding.NewSet(byName, bindings)
	r.set = made
	return r, errors.Join(append(errs, err)...)
}

// compilePolicy compiles a policy; the error joins all findings that are errors.
func compilePolicy(environment *compiler.Environment, p manifest.Policy) (*runtime.Policy, error) {
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

// judge is what is in force for a Job, which has the API's defaults.
func (r *rulebook) judge(ctx context.Context, given manifest.Job) (*judge, error) {
	if len(given.Object.Spec.Template.Spec.Containers) == 0 {
		return nil, given.Origin.Error("spec.template.spec.containers", messageRequired)
	}
	job := given.Stored(metav1.NamespaceDefault)
	own, err := given.Program(r.own)
	if err != nil {
		return nil, err
	}
	known, ok := r.namespaces[job.Namespace]
	if !ok {
		if r.selective != "" {
			return nil, given.Origin.Error("metadata.namespace",
				fmt.Sprintf("namespace %s is not in the suite's policies, and PodFailurePolicyBinding %s selects by labels of it",
					job.Namespace, r.selective))
		}
		known = manifest.NameLabel(job.Namespace)
	}
	j := &judge{job: job, own: own, policy: job.Spec.PodFailurePolicy, selection: r.set.For(ctx, job, known)}
	j.enforced, j.audited = j.selection.Enforced(own), j.selection.Audited(own)
	for policy, bound := range j.selection.All() {
		j.order = append(j.order, inForce{policy, bound})
	}
	return j, nil
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
	policy  *runtime.Policy
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
func (j *judge) verdict(ctx context.Context, in runtime.Input, audited bool) (v runtime.Verdict, deleted bool) {
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
