package rego

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/podverdict/podverdict/policies"
)

// Load reads a bundle with its METADATA from a folder, the tests in it left out.
func Load(folder fs.FS) (*bundle.Bundle, error) {
	return load(folder, true, func(file string) bool { return !strings.HasSuffix(file, "_test.rego") })
}

// The packages with the entrypoints of a Validator, and those that they import.
var (
	constraints = []string{"job", "fields", "names", "indexes", "operators"}
	guardrails  = []string{"guardrails"}
	status      = []string{"jobstatus", "fields", "indexes"}
)

// asked reads what a Validator asks of package policies. The rest would only take time to compile.
func asked(o Options) (*bundle.Bundle, error) {
	folders := constraints
	switch {
	case o.Status:
		folders = status
	case o.Guardrails:
		folders = slices.Concat(constraints, guardrails)
	}
	return load(policies.FS, false, func(file string) bool {
		isTest := strings.HasSuffix(file, "_test.rego")
		return path.Ext(file) != ".rego" || !isTest && slices.Contains(folders, path.Base(path.Dir(file)))
	})
}

// load reads the files of a folder that are wanted.
func load(folder fs.FS, metadata bool, wanted func(file string) bool) (*bundle.Bundle, error) {
	loader, err := bundle.NewFSLoader(folder)
	if err != nil {
		return nil, errBundle(err)
	}
	loader = loader.WithPathFormat(bundle.Passthrough).WithFilter(func(file string, info fs.FileInfo, _ int) bool {
		return !info.IsDir() && !wanted(file)
	})
	b, err := bundle.NewCustomReader(loader).WithSkipBundleVerification(true).WithProcessAnnotations(metadata).
		WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		return nil, errBundle(err)
	}
	return &b, nil
}
