package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/terminal"
)

// Skipped counts the input that was read but not used.
type Skipped struct {
	// Kinds counts objects of other kinds.
	Kinds map[string]int
	// Beside counts objects that other verbs read: suites, simulations, and Pods if only Jobs are wanted. They get no note.
	Beside int
	// Templates holds the positions of unrendered templates, such as those in Helm charts.
	Templates []Position
	// Patches holds the positions of kustomize patches.
	Patches []Position
	// Files holds the files of documents without apiVersion and kind, such as values.yaml.
	Files []Position
	// Verdicts counts verdicts without their Pods.
	Verdicts int
	// Torn holds the positions of truncated lines of history.
	Torn []Position
	// Broken holds the positions of unreadable documents of other kinds.
	Broken []Position
}

// None reports whether nothing was skipped.
func (s *Skipped) None() bool {
	return s.Beside+s.Verdicts+len(s.Torn)+len(s.Kinds)+len(s.Templates)+len(s.Patches)+len(s.Files)+len(s.Broken) == 0
}

// maxKinds is the maximum number of kinds counted separately.
const maxKinds = 1000

// addObject counts an object. If its kind has the name of a supported kind, the group is appended, as in kubectl.
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

func (s *Skipped) add(other Skipped) {
	for kind, n := range other.Kinds {
		s.count(kind, n)
	}
	s.Beside += other.Beside
	s.Verdicts += other.Verdicts
	s.Torn = append(s.Torn, other.Torn...)
	s.Templates = append(s.Templates, other.Templates...)
	s.Patches = append(s.Patches, other.Patches...)
	s.Files = append(s.Files, other.Files...)
	s.Broken = append(s.Broken, other.Broken...)
}

// Notes describes what was skipped, and how to have it read.
func (s *Skipped) Notes() []string {
	var notes []string
	if len(s.Kinds) > 0 {
		notes = append(notes, s.kinds())
	}
	add := func(places []Position, one, many, format string) {
		if n := len(places); n > 0 {
			notes = append(notes, terminal.Line(fmt.Sprintf(format, counted(n, one, many), places[0])))
		}
	}
	add(s.Templates, "template", "templates", "skipped %s, the first at %s: render them first, with helm template")
	add(s.Patches, "patch", "patches", "skipped %s of kustomize, the first at %s: build them first, with kubectl kustomize")
	add(s.Files, "document", "documents", "skipped %s without apiVersion and kind, the first in %s")
	if n := s.Verdicts; n > 0 {
		notes = append(notes, fmt.Sprintf("skipped %s without the Pod itself, which podverdict history and the controller's --history write",
			counted(n, "verdict", "verdicts")))
	}
	add(s.Torn, "line", "lines", "skipped %s of history, cut off when the controller was killed, the first at %s")
	add(s.Broken, "document", "documents", "skipped %s that cannot be read, without a Job, the first at %s")
	return notes
}

// maxNamedKinds is the number of kinds that a note names.
const maxNamedKinds = 10

// kinds lists the number of objects per kind, most frequent first.
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
	// anyAction matches actions of templates, which manifests may also contain as text.
	anyAction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{-?\s*(/\*|[.$]|(if|range|with|end|else|include|template|define|block|toYaml|tpl|printf|default|required|lookup)\b)`)
	})
	// chartAction matches actions that occur only in templates of Helm charts.
	chartAction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{-?[^}]*(\.(Values|Release|Chart|Capabilities|Files|Template)\b|\b(include|template) ")`)
	})
)

// isTemplate reports whether a document must be rendered first. Text in double braces may also be an argument of a Job's container, so more
// evidence is required: the document cannot be parsed, a value does not fit, or a name is invalid.
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

// valuesFile matches names of files that accompany manifests but are not manifests.
var valuesFile = regexp.MustCompile(`(^|[/\\])(values[^/\\]*|Chart|kustomization)\.(ya?ml|json)$`)

// foreign returns an unreadable document as skipped if it holds no supported object; value is the document as JSON, or nil. A file that the
// user named is skipped only if its content or its name shows that it is something else. A file found in a directory is not a manifest if
// it has no apiVersion at its top level, even if it mentions kinds, as API discovery documents do.
func (c *content) foreign(d *Document, value []byte) (s Skipped) {
	if c.options.Indirect || d.isItem() || !d.found && !namesType(d) && !valuesFile.MatchString(d.File) {
		return s
	}
	var t metav1.TypeMeta
	isObject := json.Unmarshal(value, &t) == nil
	named := isObject && c.options.concerns(t) || !isObject && c.options.mentioned(d.Text)
	if within := value != nil && d.found && t.APIVersion == ""; named && !within {
		return s
	}
	if value == nil && namesType(d) || t.APIVersion != "" && t.Kind != "" {
		s.Broken = []Position{d.begin(1)}
	} else {
		s.Files = []Position{{File: d.File}}
	}
	return s
}

// concerns reports whether objects of a type are read, or are likely to be meant as such.
func (o Options) concerns(t metav1.TypeMeta) bool {
	if o.NoPods && (t.Kind == "Pod" || t.Kind == "Namespace" || t.Kind == "Node") {
		return false
	}
	return kinds[t] != nil || t.Kind == "List" || isClosed(t.APIVersion) || versionOf(t) != "" || o.templatePath(t) != ""
}

var (
	apiVersionText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bapiVersion["']?\s*:\s*["']?([\w./-]+)`) })
	kindText       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bkind["']?\s*:\s*["']?(\w+)`) })
)

// mentioned reports whether an unparsable text names the type of a supported object.
func (o Options) mentioned(text []byte) bool {
	versions, named := apiVersionText().FindAllSubmatch(text, -1), kindText().FindAllSubmatch(text, -1)
	if len(versions) == 0 {
		versions = [][][]byte{{nil, nil}}
	}
	for _, version := range versions {
		if isClosed(string(version[1])) {
			return true
		}
		for _, kind := range named {
			if o.concerns(metav1.TypeMeta{APIVersion: string(version[1]), Kind: string(kind[1])}) {
				return true
			}
		}
	}
	return false
}

// namesType reports whether a document contains the words apiVersion and kind.
func namesType(d *Document) bool {
	return bytes.Contains(d.Text, []byte("apiVersion")) && bytes.Contains(d.Text, []byte("kind"))
}
