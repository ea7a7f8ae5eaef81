// Package release queries the decisions of a Kubernetes release: the Job controller's matcher ([Ask]) and the API
// server's validation of a Job ([APIServer]). It imports nothing of podverdict and no API that only one release has, so
// that it compiles with each release of the matrix. The release that go.mod requires is linked; cmd/release serves any
// other, as a [Process].
//
// matchPodFailurePolicy is not exported. It is linked by go:linkname; matcher.s is empty and only lets the compiler
// accept a function without a body. No linker flag is needed: Go's -checklinkname only restricts references into the
// standard library.
package release
