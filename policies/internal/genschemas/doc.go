// Command genschemas writes the JSON Schemas that `opa check --schema policies/schemas`
// holds the bundles to: of a Job, a CronJob and a Pod, each complete in itself. It also
// writes the OpenAPI schemas that the API server's type checker takes, which the package
// compiler/admission/kind embeds.
//
// They come from the OpenAPI documents of the Kubernetes release that the bundles
// are written for. Those are not part of any library that podverdict links, so the
// program asks the go command for the module that holds them, checks its hash, and
// needs nothing else. opa reads every file of policies/schemas as a schema, and every
// .json file below policies as data: hence the files' extension and this folder.
package main

//go:generate go run .
