package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/terminal"
)

// Skipped is what was read and does not concern us.
type Skipped struct {
	// Kinds counts the objects of other kinds.
	Kinds map[string]int
	// Templates are the places of documents that a program is still to render, as those of Helm charts.
	Templates []Position
	// Patches are the places of documents that kustomize is still to merge into objects.
	Patches []Position
	// Files are the places of documents that have no apiVersion and kind, as values.yaml.
	Files []Position
	// Runtimes counts the TrainJobs by what the input lacks, as ClusterTrainingRuntime torch.
	Runtimes map[string]int
}

// None reports whether nothing was skipped.
func (s *Skipped) None() bool {
	return len(s.Kinds)+len(s.Templates)+len(s.Patches)+len(s.Files)+len(s.Runtimes) == 0
}

// maxKinds is how many kinds are told apart.
const maxKinds = 1000

// addObject counts an object. Kinds that have the name of one of ours get that of their group, too, as in kubectl.
func (s *Skipped) addObject(t metav1.TypeMeta) {
	kind := t.Kind
	if group, _, named := strings.Cut(t.APIVersion, "/"); named && versionOf(metav1.TypeMeta{Kind: kind}) != "" {
		kind += "." + group
	}
	s.count(kind, 1)
}

func (s *Skipped) count(kind string, n int) {
	if s.Kinds == nil {
		s.Kinds = map[string]int{}
	}
	if _, known := s.Kinds[kind]; !known && len(s.Kinds) >= maxKinds {
		kind = "others"
	}
	s.Kinds[kind] += n
}

// addTrainJob counts a TrainJob without its runtime.
func (s *Skipped) addTrainJob(job *trainJob) {
	if s.Runtimes == nil {
		s.Runtimes = map[string]int{}
	}
	s.Runtimes[job.Spec.RuntimeRef.Kind+" "+job.Spec.RuntimeRef.Name]++
}

func (s *Skipped) add(other Skipped) {
	for kind, n := range other.Kinds {
		s.count(kind, n)
	}
	s.Templates = append(s.Templates, other.Templates...)
	s.Patches = append(s.Patches, other.Patches...)
	s.Files = append(s.Files, other.Files...)
}

// Notes says what was skipped, and what to do to have it read.
func (s *Skipped) Notes() []string {
	var notes []string
	if len(s.Kinds) > 0 {
		notes = append(notes, s.kinds())
	}
	if n := len(s.Templates); n > 0 {
		notes = append(notes, terminal.Line(fmt.Sprintf("skipped %s, the first at %s: render them first, with helm template",
			counted(n, "template", "templates"), s.Templates[0])))
	}
	if n := len(s.Patches); n > 0 {
		notes = append(notes, terminal.Line(fmt.Sprintf("skipped %s of kustomize, the first at %s: build them first, with kubectl kustomize",
			counted(n, "patch", "patches"), s.Patches[0])))
	}
	if n := len(s.Files); n > 0 {
		notes = append(notes, terminal.Line(fmt.Sprintf("skipped %s without apiVersion and kind, the first in %s",
			counted(n, "document", "documents"), s.Files[0].File)))
	}
	if len(s.Runtimes) > 0 {
		n, missing := 0, slices.Sorted(maps.Keys(s.Runtimes))
		for _, times := range s.Runtimes {
			n += times
		}
		if more := len(missing) - maxNamedKinds; more > 0 {
			missing = append(missing[:maxNamedKinds], fmt.Sprintf("%d more", more))
		}
		notes = append(notes, terminal.Line(fmt.Sprintf("skipped %s: the input lacks %s",
			counted(n, "TrainJob", "TrainJobs"), strings.Join(missing, ", "))))
	}
	return notes
}

// maxNamedKinds is how many kinds a note names.
const maxNamedKinds = 10

// kinds says how many objects there are of each kind, of the most frequent first.
func (s *Skipped) kinds() string {
	names := slices.Collect(maps.Keys(s.Kinds))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(s.Kinds[b], s.Kinds[a]), strings.Compare(a, b)) })
	total := 0
	var parts []string
	for i, name := range names {
		total += s.Kinds[name]
		if i < maxNamedKinds || len(names) == maxNamedKinds+1 {
			parts = append(parts, fmt.Sprintf("%d %s", s.Kinds[name], name))
		}
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more kinds", more))
	}
	text := fmt.Sprintf("skipped %s: %s", counted(total, "object of another kind", "objects of other kinds"), strings.Join(parts, ", "))
	return terminal.Line(text)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

var (
	// anyAction is what a template has and a manifest need not.
	anyAction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{-?\s*(/\*|[.$]|(if|range|with|end|else|include|template|define|block|toYaml|tpl|printf|default|required|lookup)\b)`)
	})
	// chartAction is an action that only templates of Helm charts have.
	chartAction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{-?[^}]*(\.(Values|Release|Chart|Capabilities|Files|Template)\b|\b(include|template) ")`)
	})
)

// isTemplate reports whether a document is to be rendered first. Text in double braces may as well be an argument of a Job's
// container: it takes a document that cannot be parsed, or a value that does not fit, or a name that nothing can have.
func (c *content) isTemplate(d *Document, parsed bool) bool {
	switch {
	case !parsed:
		return anyAction().Match(d.Text)
	case len(c.errs) > 0:
		return chartAction().Match(d.Text)
	}
	named := func(name string) bool { return strings.Contains(name, "{{") }
	return slices.ContainsFunc(c.Jobs, func(j Job) bool { return named(j.Object.Name) || named(j.Object.GenerateName) }) ||
		slices.ContainsFunc(c.Pods, func(p Pod) bool { return named(p.Object.Name) || named(p.Object.GenerateName) })
}

// valuesFile is the name of a file that stands beside manifests and is not one.
var valuesFile = regexp.MustCompile(`(^|[/\\])(values[^/\\]*|Chart|kustomization)\.(ya?ml|json)$`)

// otherTemplate is what other engines than Helm render: a document with it need not be YAML yet.
var otherTemplate = regexp.MustCompile(`\{\{.*\}\}|\{%.*%\}|<%`)

// isForeign reports whether a document that cannot be read, which in JSON is value, is no manifest. Nobody has asked for it by
// its name, or the name is that of a file with values. What is broken may have been meant as a manifest, unless it is a template or
// JSON: settings of tools have comments in it.
func (c *content) isForeign(d *Document, value []byte) bool {
	known := valuesFile.MatchString(d.File)
	switch {
	case c.options.Indirect || d.isItem() || !d.found && !known:
		return false
	case value == nil:
		return !namesType(d) && (known || filepath.Ext(d.File) == ".json" || otherTemplate.Match(d.Text))
	}
	var t struct {
		APIVersion any `json:"apiVersion"`
		Kind       any `json:"kind"`
	}
	if json.Unmarshal(value, &t) != nil {
		return true
	}
	kind, _ := t.Kind.(string)
	return (t.APIVersion == nil || known) && versionOf(metav1.TypeMeta{Kind: kind}) == ""
}

// namesType reports whether the words that every manifest has are in a document.
func namesType(d *Document) bool {
	return bytes.Contains(d.Text, []byte("apiVersion")) && bytes.Contains(d.Text, []byte("kind"))
}
