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

// Load reads a bundle with its METADATA from a folder. It skips tests.
func Load(folder fs.FS) (*bundle.Bundle, error) {
	return load(folder, true, func(file string) bool { return !strings.HasSuffix(file, "_test.rego") })
}

// The packages that contain the entrypoints of a Validator, and their imports.
var (
	constraints = []string{"job", "fields", "names", "indexes", "operators"}
	guardrails  = []string{"guardrails"}
	status      = []string{"jobstatus", "fields", "indexes"}
)

// asked reads the packages that a Validator with the given options needs. The others would only add
// compile time.
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

// load reads the wanted files of a folder.
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
