// Package manifest reads Jobs, Pods and custom policies as kubectl's -f does: files, directories, standard input and URLs, with
// several YAML or JSON documents in each, and Lists within those.
//
//	set, err := manifest.Read(ctx, manifest.Options{Filenames: []string{"job.yaml", "pods/"}})
//	families, others, err := set.Families() // each Job with its Pods, and why other Pods belong to none
//	at := set.Jobs[0].Origin.Position("spec.podFailurePolicy.rules[1].action") // job.yaml:17:15
//
// Values are read by sigs.k8s.io/yaml, so that a document means here what it means to kubectl (YAML 1.1: yes is a
// boolean), and strictly: unknown fields and duplicate keys are errors. What does not concern us is skipped and counted: objects of
// other kinds, templates, files that are no manifests (Skipped). Kinds that make Jobs are a table in template.go. Positions come from
// a second reading of the same bytes as YAML nodes, done only for documents that have something to report. All bad documents are
// reported, each as an *Error that knows its place, beside what could be read.
//
// Input goes through three stages. A splitter finds where documents begin and end, by brackets and markers alone, and cuts Lists of
// more than 1 MiB into their items (split.go, scan.go, list.go). Workers decode documents, and results come in the order of the input
// (reading.go). Read collects them in a Set; a Stream hands over Pods, which are decoded with a few of their fields by package partial,
// and keeps none (stream.go, members.go).
//
// Reading takes time in proportion to the size of the input, whatever its shape: limit.go has the limits that make it so, and
// TestReadingIsLinear the shapes.
//
// cli-runtime's resource.Builder is not used: it forgets which document an object came from, so no line could be
// told; it takes unknown fields silently; and it asks for a REST mapping that offline files do not need.
package manifest
