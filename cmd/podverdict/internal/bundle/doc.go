// Package bundle brings the Rego rules to where OPA's tools take them from, and back: as a reproducible, signed archive
// in a file, and as an artifact in an OCI registry.
//
//	b, err := bundle.Build(policies.FS, bundle.Options{Key: "key.pem"})
//	err = b.WriteFile("bundle.tar.gz")
//	digests, err := b.Push(ctx, bundle.Registry{Reference: "oci://registry.example.com/policies:v1"})
//	rules, err := bundle.Source{Reference: "oci://registry.example.com/policies:v1"}.Open(ctx)
//
// The archive is the same, byte for byte, for the same rules and revision: its entries have no times, no owners and
// one order. A signature keeps that with an RSA key; those of elliptic curves are random by nature.
//
// OPA and conftest do not read each other's artifacts (open-policy-agent/conftest#924): OPA wants the archive as one
// layer of an image, conftest a layer for each file. A push writes both, the second under the tag with the suffix
// -conftest. Tags are set after everything they lead to is there.
package bundle
