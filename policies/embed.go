package policies

import "embed"

// FS is the bundle: its manifest, and a folder for each Rego package.
//
//go:embed .manifest */*.rego
var FS embed.FS
