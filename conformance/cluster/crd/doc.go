// Package crd holds the CustomResourceDefinitions of package v1alpha1, and what that package says without them, to a real
// API server: all of it is tests.
//
// The table in testdata/objects.yaml has for every rule of the schemas an object that it refuses and one that it takes.
// Objects are sent with dry-run. What the API server says is read from the causes of its refusal; what we say is what
// Decode, ValidateJSON and Validate say.
//
// Four things are a difference, and stay one:
//
//   - To Go, a required text or number that is empty is missing.
//   - To Go, a spec without anything is a spec without what is required in it.
//   - The API server writes matchLabels.example.com/name for matchLabels[example.com/name].
//   - The API server does not evaluate the rules in CEL of an object that other rules refuse; Validate goes on.
package crd
