package rego

import (
	"io"
	"io/fs"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
)

// maxFile is the size of the largest file that a bundle may hold: 16 MiB.
const maxFile = 16 << 20

// Load reads a bundle from a folder, the tests in it left out.
func Load(folder fs.FS) (*bundle.Bundle, error) {
	loader, err := bundle.NewFSLoader(folder)
	if err != nil {
		return nil, errBundle(err)
	}
	loader = loader.WithPathFormat(bundle.Passthrough).WithFilter(func(path string, info fs.FileInfo, _ int) bool {
		return !info.IsDir() && strings.HasSuffix(path, "_test.rego")
	})
	return read(bundle.NewCustomReader(loader).WithSkipBundleVerification(true))
}

// Read reads a bundle from a tar.gz archive. With keys, the archive must be signed with one of them; without, a
// signature is not looked at.
func Read(archive io.Reader, keys *bundle.VerificationConfig) (*bundle.Bundle, error) {
	r := bundle.NewReader(archive)
	if keys == nil {
		r = r.WithSkipBundleVerification(true)
	} else {
		r = r.WithBundleVerificationConfig(keys)
	}
	return read(r)
}

func read(r *bundle.Reader) (*bundle.Bundle, error) {
	b, err := r.WithSizeLimitBytes(maxFile).WithProcessAnnotations(true).WithCapabilities(capabilities()).
		WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		return nil, errBundle(err)
	}
	if len(b.Modules) == 0 {
		return nil, errNoModules
	}
	return &b, nil
}
