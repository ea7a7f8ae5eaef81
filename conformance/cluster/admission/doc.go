// Package admission tests with a real API server what it admits: custom policies, admission policies, and Jobs. It has only tests. All share
// a control plane whose controllers check the types of admission policies; that of package cluster has none, because they would change
// the vectors' Jobs.
//
// # Custom policies
//
// The CustomResourceDefinitions of package v1alpha1 are compared with that package's own validation.
//
// For every rule of the schemas, the table in testdata/objects.yaml has an object that the rule refuses and one that it
// accepts. Objects are sent with dry-run. The causes of the API server's refusal are compared with the errors of Decode,
// ValidateJSON and Validate.
//
// Four differences are intended:
//
//   - In Go, a required string or number that is empty counts as missing.
//   - In Go, a missing spec is one without its required fields.
//   - The API server writes matchLabels.example.com/name for matchLabels[example.com/name].
//   - The API server evaluates CEL rules only if no other rule refuses the object; Validate always does.
package admission
