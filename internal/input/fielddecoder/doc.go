// Package fielddecoder decodes only the fields of an object that are needed, and skips the others.
//
//	plan := fielddecoder.NewPlan[corev1.Pod](fields) // fields as named by compiler/cel
//	err := plan.NewDecoder().Decode(data, &pod)
//
// A Pod has some 300 fields, and rules read only a few of them. The others account for nine tenths of the decoding time, and of the
// memory of the decoded object. The tokens come from go-json-experiment/json, which reports invalid JSON in skipped fields, too. An
// unknown field is an error in any object that is decoded; skipped values are not checked for them.
package fielddecoder
