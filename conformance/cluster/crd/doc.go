// Package crd tests the CustomResourceDefinitions of package v1alpha1, and that package's own validation, against a real API
// server. It has only tests.
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
package crd
