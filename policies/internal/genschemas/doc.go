// Command genschemas writes the JSON Schemas for `opa check --schema policies/schemas`: those of a Job, a CronJob and a Pod,
// each complete in itself. It also writes the OpenAPI schemas for the API server's type checker, which package
// compiler/admission/kind embeds.
//
// They come from the OpenAPI documents of the Kubernetes release that the bundles are written for. No library that podverdict
// links has these documents, so the program downloads their module with the go command, which checks the hash. opa reads
// every file of policies/schemas as a schema, and every .json file below policies as data: this is why the files have another
// extension and a folder of their own.
package main

//go:generate go run .
