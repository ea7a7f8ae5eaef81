// Package kind knows the kinds of objects that admission policies speak of: those that are
// built in, Job and CronJob, and those that a CustomResourceDefinition makes.
//
// A Kind has the schema that the API server's type checker sees. By it, Resolve follows a
// path such as spec.replicatedJobs[*].template.spec to the Jobs that an object embeds, and
// writes the CEL that selects them.
package kind
