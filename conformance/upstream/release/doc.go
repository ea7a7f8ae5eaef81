// Package release asks a release of Kubernetes what it decides: the Job controller's matcher ([Ask]) and what the API server says of
// a Job ([APIServer]). It imports nothing of podverdict and no API that only one release has, so that it compiles with each release of
// the matrix. The one that go.mod requires is linked in; cmd/release serves any other, as a [Process].
//
// matchPodFailurePolicy is not exported. It is pulled in by go:linkname; matcher.s is empty and only there so that the compiler accepts
// a function without a body. No linker flag is needed: Go's -checklinkname restricts references into the standard library only.
package release
