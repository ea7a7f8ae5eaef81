// Package manifest reads Jobs, Pods and custom policies the way kubectl -f does: from files, directories, standard input and URLs. An input
// may hold several YAML or JSON documents, and Lists within them.
//
//	set, err := manifest.Read(ctx, manifest.Options{Filenames: []string{"job.yaml", "pods/"}})
//	at := set.Jobs[0].Origin.Position("spec.podFailurePolicy.rules[1].action") // job.yaml:17:15
//
// Values are decoded by sigs.k8s.io/yaml, so a document has the same meaning as in kubectl (YAML 1.1: yes is a boolean). Decoding is
// strict: unknown fields and duplicate keys are errors. Irrelevant input is skipped and counted in Skipped: objects of other kinds, even
// invalid ones, templates, and files that are not manifests. The table in template.go lists the kinds that create Jobs. Positions come from
// parsing the same bytes again as YAML nodes, only for documents with something to report. Every invalid document is reported as an *Error
// with its position, and everything readable is returned as well.
//
// Input passes through three stages. Package documents splits it into documents, and splits Lists of more than 1 MiB into their items.
// Goroutines recognise and decode the documents. Results are returned in input order (reading.go, decode.go). Package fielddecoder decodes
// Pods: all fields for Read, which collects everything in a Set, and only some fields for a Stream, which does not keep Pods (stream.go). A
// Pod that fielddecoder rejects is decoded again strictly to find the error.
//
// Reading runs in time linear in the size of the input, whatever its shape: limit.go defines the limits that guarantee this, and
// TestReadingIsLinear covers the shapes.
//
// The package does not use cli-runtime's resource.Builder. The builder forgets which document an object came from, so errors could not name
// a line. It silently accepts unknown fields. And it needs a REST mapping that offline files do not.
package manifest
