// Command genschemas writes the JSON Schemas of Job, CronJob and Pod for `opa check --schema policies/schemas`, each
// self-contained. It also writes the OpenAPI schemas for the API server's type checker, which package
// compiler/admission/kind embeds.
//
// The schemas come from the OpenAPI documents of the Kubernetes release that the bundle targets. No library that
// podverdict links contains these documents, so the program downloads their module with the go command, which checks
// the hash. opa reads every file of policies/schemas as a schema, and every .json file below policies as data.
// Therefore the schemas have a different extension and their own folder.
package main

//go:generate go run .
