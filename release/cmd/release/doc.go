// Command release builds all files of a release from the commit that is checked out, and nothing else: two runs give equal bytes.
//
//	go run ./cmd/release -o ../dist
//
// It takes the version from the tag of the commit, as the Go linker records it, and all times from the commit's date. What is built:
//
//   - for each platform an archive with podverdict, its manual pages and completions, and a bill of materials;
//   - for Linux, packages for Debian and Fedora, and archives of the controller;
//   - the images of both programs for Linux, as an OCI layout, which -push copies to a registry;
//   - the chart, with the controller's image by its digest when -images names the registry;
//   - the installation, the JSON Schemas, the Rego bundle and the admission policies;
//   - a Homebrew formula and a krew manifest;
//   - checksums.txt, over all of them, and with -key its signature.
//
// It is made of the parts that the release tools of the field are made of (nfpm, go-containerregistry, cyclonedx-go, sigstore),
// without the tools: GoReleaser and ko build each program again for each kind of package, and need a registry for their base images.
// Here archives, packages and images have the same binary.
package main
