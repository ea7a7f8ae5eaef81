package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/bundle"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// constraints say which rules Jobs are held to.
type constraints struct {
	guardrails bool
	data       string
	source     bundle.Source
}

func (c *constraints) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&c.guardrails, "guardrails", false, "also find what is legal and unwise")
	flags.StringVar(&c.data, "data", "", "YAML or JSON file with data of yours, as in podverdict: {config: {guardrails: {...}}}")
	flags.StringVar(&c.source.Reference, "bundle", "",
		"rules to use instead of the built-in ones: a folder, a bundle.tar.gz, or oci://REGISTRY/REPOSITORY:TAG")
	flags.StringVar(&c.source.Key, "verification-key", "", "PEM file of the public key that must have signed the bundle")
	flags.BoolVar(&c.source.PlainHTTP, "plain-http", false, "speak HTTP with the registry; those of localhost are asked so anyway")
}

// compile compiles the rules.
func (c *constraints) compile(ctx context.Context) (*rego.Validator, error) {
	options := rego.Options{Guardrails: c.guardrails, Warnings: true}
	if c.source.Key != "" && c.source.Reference == "" {
		return nil, usagef("--verification-key is for a --bundle: the built-in rules are not signed")
	}
	var origin manifest.Origin
	var err error
	if c.data != "" {
		if options.Data, origin, err = manifest.ReadValue(manifest.Options{}, c.data); err != nil {
			return nil, err
		}
	}
	if c.source.Reference != "" {
		if options.Bundle, err = c.source.Open(ctx); err != nil {
			return nil, err
		}
	}
	validator, err := rego.New(ctx, options)
	return validator, c.placed(err, origin)
}

// placed gives what is wrong with the data its place in the file, and what is wrong with the bundle the bundle's name.
func (c *constraints) placed(err error, origin manifest.Origin) error {
	if err == nil {
		return nil
	}
	var errs []error
	for _, err := range manifest.EachError(err) {
		wrong, ok := errors.AsType[*rego.DataError](err)
		switch {
		case ok && c.data != "":
			err = origin.Error(wrong.Field, wrong.Message)
		case c.source.Reference != "":
			err = errIn(c.source.Reference, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
