package admission

// StaticSuffix is the suffix of the names of all policies and bindings that an API server reads from its own manifest files
// (KEP-5793). The API rejects such names.
const StaticSuffix = ".static.k8s.io"

// named returns the name of a policy and its binding.
func (o Options) named(name string) string {
	if o.Static {
		return name + StaticSuffix
	}
	return name
}
