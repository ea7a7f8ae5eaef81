// Command release builds all files of a release from the commit that is checked out, and nothing else: two runs give equal bytes.
//
//	go run ./cmd/release -o ../dist
//
// It takes the version from the tag of the commit, as the Go linker records it, and all times from the commit's date. What is built:
//
//   - for each platform an archive with podverdict, its manual pages and completions, and the licenses of what it is made of; and a bill of
//     materials;
//   - for Linux, packages for Debian and Fedora, and archives of the controller;
//   - the images of both programs for Linux, each with its bill of materials, and the chart, as an OCI layout, which -push copies to a
//     registry;
//   - the chart as a file, with the controller's image by its digest when -push has a registry have it;
//   - the installation, the JSON Schemas, the Rego bundle and the admission policies;
//   - with -playground, the page that podverdict playground serves;
//   - a Homebrew formula and a krew manifest;
//   - checksums.txt, over all of them, and with -key its signature.
//
// It is made of the parts that the release tools of the field are made of (nfpm, go-containerregistry, cyclonedx-go, sigstore),
// without the tools. ko 0.19 compiles each program again for its image and pulls the image below it from a registry, so no
// release can be made without a network; it links 953 packages to save some hundred lines of these. GoReleaser 2.14 links 1,787 packages,
// this program 500, and still starts syft and cosign, which must be installed; 2.18 needs Go 1.27.
package main
