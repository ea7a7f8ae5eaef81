// Package manifest reads Jobs, Pods and custom policies as kubectl's -f does: files, directories, standard input and URLs, with
// several YAML or JSON documents in each, and Lists within those.
//
//	set, err := manifest.Read(ctx, manifest.Options{Filenames: []string{"job.yaml", "pods/"}})
//	families, others, err := set.Families() // each Job with its Pods, and why other Pods belong to none
//	at := set.Jobs[0].Origin.Position("spec.podFailurePolicy.rules[1].action") // job.yaml:17:15
//
// Values are read by sigs.k8s.io/yaml, so that a document means here what it means to kubectl (YAML 1.1: yes is a
// boolean), and strictly: unknown fields, duplicate keys and kinds other than Job, CronJob, Pod, Namespace,
// PodFailurePolicy, PodFailurePolicyBinding and their Lists are errors. Positions come from a second reading of the same bytes as YAML nodes, done only for documents that have
// something to report. All bad documents are reported, each as an *Error that knows its place.
//
// Reading takes time in proportion to the size of the input, whatever its shape: limit.go has the limits that make it so, and
// TestReadingIsLinear the shapes.
//
// cli-runtime's resource.Builder is not used: it forgets which document an object came from, so no line could be
// told; it takes unknown fields silently; and it asks for a REST mapping that offline files do not need.
package manifest
