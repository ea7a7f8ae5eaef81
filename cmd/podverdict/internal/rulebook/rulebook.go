// Package rulebook selects the rules for the Jobs of an input: their own rules, and the custom policies in effect.
package rulebook

import (
	"cmp"
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/effective"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/snapshot"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Rulebook selects the rules for Jobs. It warns about bindings without policies, and about Jobs for which labels or match
// conditions could not be evaluated.
type Rulebook struct {
	snapshot.Rulebook

	Custom     *effective.Policies
	Kubernetes *utilversion.Version

	warn func(string)
}

// New compiles custom policies and the replacement Job, if not nil, whose rules replace the rules of all Jobs.
func New(c *cli.Console, kubernetes string, policies *effective.Source, replacement *manifest.Job) (*Rulebook, error) {
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	b := &Rulebook{Kubernetes: utilversion.MustParseGeneric(environment.Kubernetes), warn: c.Warn}
	b.Environment, b.InEffect = environment, b.inEffect
	b.Custom, err = effective.New(environment, policies)
	for _, warning := range b.Custom.Warnings {
		c.Warn(warning)
	}
	for _, binding := range policies.Missing() {
		c.Warn(binding.Origin.Error("spec.policyName", effective.BindsNothing(binding)).Error())
	}
	if err == nil && replacement != nil {
		b.Instead = replacement.Object
		_, err = replacement.Compile(environment)
	}
	return b, err
}

// inEffect returns the policies in effect for a Job. It warns if labels or match conditions could not be evaluated.
func (b *Rulebook) inEffect(ctx context.Context, job *batchv1.Job) (binding.Selection, error) {
	selected, err := b.Custom.For(ctx, job)
	if err != nil {
		b.warn(fmt.Sprintf("%v: it is taken to have none but %s", err, corev1.LabelMetadataName))
	}
	for _, problem := range selected.Problems {
		b.warn(fmt.Sprintf("not in force for Job %s/%s: %v", job.Namespace, cmp.Or(job.Name, job.GenerateName), problem))
	}
	return selected, nil
}
