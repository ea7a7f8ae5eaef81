// Package fielddecoder decodes the fields of an object that somebody reads, and reads over the others.
//
//	plan := partial.NewPlan[corev1.Pod](fields) // fields as compiler/cel names them
//	err := plan.NewDecoder().Decode(data, &pod)
//
// A Pod has some 300 fields and rules read a few of them: the rest takes nine tenths of the time of decoding, and of the memory of
// what is decoded. The tokens come from go-json-experiment/json, which finds all that is no JSON, in what is read over too. A field
// that the type does not have is an error where it is met: beside fields that are kept.
package fielddecoder
