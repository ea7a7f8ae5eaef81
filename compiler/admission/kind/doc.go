// Package kind describes the kinds of objects that admission policies match: the built-in
// kinds Job and CronJob, and the kinds that a CustomResourceDefinition defines.
//
// A Kind has the schema that the API server's type checker uses. Resolve follows a path
// such as spec.replicatedJobs[*].template.spec through this schema to the Jobs that an
// object embeds. The result generates the CEL that selects them.
package kind
