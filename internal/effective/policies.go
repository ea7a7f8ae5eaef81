package effective

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Policies holds the custom policies of an input, compiled and bound.
type Policies struct {
	// All holds the policies in input order, whether in effect or not.
	All []Policy
	// Warnings report policies in a cluster that do not compile, and the versions in effect instead.
	Warnings []string

	source *Source
	set    *binding.Set
}

// New compiles the policies of a source. The error joins the problems of policies and bindings in files; the returned Policies contain the
// rest. Problems of policies in a cluster are warnings.
func New(environment *compiler.Environment, source *Source) (*Policies, error) {
	p := &Policies{source: source}
	inForce := map[string]*runtime.Policy{}
	var errs []error
	for _, given := range source.Policies {
		compiled := Compile(environment, given)
		p.All = append(p.All, compiled)
		name, version := given.Object.Name, compiled.version
		switch err := compiled.Err(); {
		case err == nil:
			inForce[name] = compiled.Compiled
		case !given.Origin.Live():
			errs = append(errs, err)
		case version.Err != nil && version.InForce != nil:
			inForce[name] = version.InForce
			p.Warnings = append(p.Warnings,
				fmt.Sprintf("PodFailurePolicy %s does not compile, generation %d stays in force: %v", name, version.InForceGeneration, err))
		default:
			p.Warnings = append(p.Warnings, fmt.Sprintf("PodFailurePolicy %s is not in force, because it does not compile: %v", name, err))
		}
	}
	var bindings []*v1alpha1.PodFailurePolicyBinding
	for _, b := range source.Bindings {
		invalid := b.Object.Validate()
		if errs = append(errs, b.Origin.Errors(invalid)...); len(invalid) == 0 {
			bindings = append(bindings, b.Object)
		}
	}
	set, err := binding.NewSet(inForce, bindings)
	p.set = set
	return p, errors.Join(append(errs, err)...)
}

// For returns the policies in effect for a Job. The Job must have the API's defaults. If the labels of its namespace are unknown, For
// returns an error, and the Selection assumes only the name label.
func (p *Policies) For(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
	namespace, err := p.namespaceLabels(ctx, job.Namespace)
	return p.set.For(ctx, job, namespace), err
}

// Nodes returns the named nodes that exist. If nothing is known about nodes, unread is the reason, else "".
func (p *Policies) Nodes(ctx context.Context, names []string) (found map[string]*corev1.Node, unread string, err error) {
	return p.source.Nodes(ctx, names)
}

// Explain returns the effect of each binding on a Job. It returns an error if the context is done. Unlike For, it does not report unknown
// namespace labels.
func (p *Policies) Explain(ctx context.Context, job *batchv1.Job) ([]binding.Membership, error) {
	if len(p.All) == 0 {
		return nil, nil
	}
	namespace, _ := p.namespaceLabels(ctx, job.Namespace)
	return p.set.Explain(ctx, job, namespace)
}

// namespaceLabels reads the labels of a namespace only if a binding selects by labels other than the name.
func (p *Policies) namespaceLabels(ctx context.Context, namespace string) (labels.Set, error) {
	named := manifest.NameLabel(namespace)
	by := manifest.LabelSelecting(p.source.Bindings)
	if by == "" {
		return named, nil
	}
	found, err := p.source.NamespaceLabels(ctx, namespace)
	if err != nil {
		return named, fmt.Errorf("PodFailurePolicyBinding %s selects by labels of the namespace, but %w", by, err)
	}
	return found, nil
}
