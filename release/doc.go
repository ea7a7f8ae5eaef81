// Package release tests what surrounds a release: workflows, and the files that others copy into their pipelines. The release itself is
// made by cmd/release. It is a module of its own, so that nobody else links what packs packages.
package release
