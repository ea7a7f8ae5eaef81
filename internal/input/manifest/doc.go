// Package manifest reads Jobs, Pods and custom policies as kubectl's -f does: files, directories, standard input and URLs, with
// several YAML or JSON documents in each, and Lists within those.
//
//	set, err := manifest.Read(ctx, manifest.Options{Filenames: []string{"job.yaml", "pods/"}})
//	at := set.Jobs[0].Origin.Position("spec.podFailurePolicy.rules[1].action") // job.yaml:17:15
//
// Values are read by sigs.k8s.io/yaml, so that a document means here what it means to kubectl (YAML 1.1: yes is a
// boolean), and strictly: unknown fields and duplicate keys are errors. What does not concern us is skipped and counted: objects of
// other kinds, whatever is wrong in them, templates, files that are no manifests (Skipped). Kinds that make Jobs are a table in
// template.go. Positions come from a second reading of the same bytes as YAML nodes, done only for documents that have something to
// report. All bad documents are reported, each as an *Error that knows its place, beside what could be read.
//
// Input goes through three stages. Package documents cuts it into documents, and Lists of more than 1 MiB into their items. Goroutines
// recognise and decode these, and results come in the order of the input (reading.go, decode.go). Package fielddecoder decodes Pods: with all
// fields for Read, which collects everything in a Set, and with some for a Stream, which keeps no Pods (stream.go). What package fielddecoder refuses is decoded once more, strictly, to say what is wrong.
//
// Reading takes time in proportion to the size of the input, whatever its shape: limit.go has the limits that make it so, and
// TestReadingIsLinear the shapes.
//
// cli-runtime's resource.Builder is not used: it forgets which document an object came from, so no line could be
// told; it takes unknown fields silently; and it asks for a REST mapping that offline files do not need.
package manifest
