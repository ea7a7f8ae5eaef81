package vectors

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/internal/document"
	"github.com/podverdict/podverdict/runtime"
)

//go:embed base.yaml */*.txtar constraints guardrails
var embedded embed.FS

// ParseError is an error at a position in the files of vectors.
type ParseError = document.ParseError

// Vector is a question and the verdict that every engine must give.
type Vector struct {
	Name       string // topic/reason
	Sentence   string // tested behaviour, as a sentence
	KEP        string // section of the KEP that requires it
	Semantics  []string
	Features   []Feature
	Kubernetes string // minor version such as "1.28"; empty means compiler.DefaultVersion
	Upstream   string // the upstream test case or source that agrees, if known

	Policy *batchv1.PodFailurePolicy // nil if the Job has none
	Pod    *corev1.Pod
	Want   runtime.Verdict
}

// Request returns the vector's question.
func (v Vector) Request() conformance.Request {
	return conformance.Request{Kubernetes: v.Kubernetes, Policy: v.Policy, Pod: v.Pod}
}

// Verdicts returns the vectors on failed pods in this package, sorted by name.
func Verdicts() ([]Vector, error) { return Load(embedded) }

// The sections of a vector.
const (
	rulesSection   = "rules.yaml"
	patchSection   = "pod.patch"
	verdictSection = "verdict.yaml"
)

// Load loads the vectors of a folder that has base.yaml and topic folders. It skips the folders of [JobVector]s. The error
// joins a *ParseError for each file with an error; other files and a folder without vectors are errors, too.
func Load(files fs.FS) ([]Vector, error) {
	b, err := readBase(files)
	if err != nil {
		return nil, err
	}
	return document.Folder[Vector]{
		Files: files, Root: ".", Other: []string{baseFile, string(constraints), string(guardrails)},
		Read:    func(d *document.Document) (Vector, error) { return read(d, b) },
		Subject: func(v Vector) (string, any) { return v.Sentence, v.Request() },
	}.Load()
}

// read reads one vector.
func read(d *document.Document, b base) (Vector, error) {
	v := Vector{Name: strings.TrimSuffix(d.File, ".txtar"), Sentence: d.Sentence}
	if err := d.RefuseOthers([]string{rulesSection, patchSection, verdictSection}); err != nil {
		return Vector{}, err
	}
	nilPolicy, err := readHeaders(d, &v)
	if err != nil {
		return Vector{}, err
	}
	if v.Policy, err = readPolicy(d, nilPolicy); err != nil {
		return Vector{}, err
	}
	if v.Pod, err = b.pod(d); err != nil {
		return Vector{}, err
	}
	v.Want, err = readVerdict(d)
	return v, err
}

// readHeaders sets the fields given in headers, and reports whether the Job has no policy.
func readHeaders(d *document.Document, v *Vector) (nilPolicy bool, err error) {
	for _, h := range d.Headers {
		if err := readHeader(d, h, v); err != nil {
			return false, err
		}
		nilPolicy = nilPolicy || h.Key == "policy"
	}
	switch {
	case v.KEP == "":
		return false, d.ErrorAt(1, errNoKEP)
	case len(v.Features) == 0:
		return false, d.ErrorAt(1, errors.New(`header "#features" is missing`))
	}
	return nilPolicy, nil
}

var errNoKEP = errors.New(`header "#kep" is missing`)

// item matches an item of part A, matching, in SEMANTICS.md.
var item = regexp.MustCompile(`^A\.([1-9]|1[0-9]|2[0-9])$`)

func readHeader(d *document.Document, h document.Header, v *Vector) error {
	switch {
	case h.Key == "kep":
		v.KEP = h.Value
	case h.Key == "semantics":
		for _, name := range h.List() {
			if !item.MatchString(name) || slices.Contains(v.Semantics, name) {
				return d.WrongHeader(h, name)
			}
			v.Semantics = append(v.Semantics, name)
		}
	case h.Key == "features":
		for _, name := range h.List() {
			if !slices.Contains(Features(), Feature(name)) {
				return d.ErrorAt(h.Line, fmt.Errorf("unknown feature %q; known are %s", name, joined(Features())))
			}
			if slices.Contains(v.Features, Feature(name)) {
				return d.ErrorAt(h.Line, fmt.Errorf("feature %s appears twice", name))
			}
			v.Features = append(v.Features, Feature(name))
		}
	case h.Key == "kubernetes":
		minor, err := compiler.ParseVersion(h.Value)
		if err != nil {
			return d.ErrorAt(h.Line, err)
		}
		v.Kubernetes = minor.String()
	case h.Key == "upstream":
		v.Upstream = h.Value
	case h.Key == "policy" && h.Value != "nil":
		return d.WrongHeader(h, h.Value)
	case h.Key != "policy":
		return d.UnknownHeader(h)
	}
	return nil
}

// readPolicy reads the section rules.yaml, which is absent for a Job without a policy.
func readPolicy(d *document.Document, nilPolicy bool) (*batchv1.PodFailurePolicy, error) {
	s, ok := d.Section(rulesSection)
	switch {
	case nilPolicy && ok:
		return nil, d.ErrorAt(s.Line, errors.New(`"#policy: nil" excludes section rules.yaml`))
	case nilPolicy:
		return nil, nil //nolint:nilnil // the Job has none
	case s.Empty():
		return nil, d.ErrorAt(0, errors.New(`section rules.yaml is missing; a Job without a policy is "#policy: nil"`))
	}
	p := new(batchv1.PodFailurePolicy)
	return p, s.Decode(&p.Rules)
}

// readVerdict reads the section verdict.yaml.
func readVerdict(d *document.Document) (runtime.Verdict, error) {
	s, _ := d.Section(verdictSection)
	if s.Empty() {
		return runtime.Verdict{}, d.ErrorAt(0, errors.New("section verdict.yaml is missing"))
	}
	stated, err := yaml.YAMLToJSONStrict(s.Data)
	if err != nil {
		return runtime.Verdict{}, s.Locate(err)
	}
	v, err := conformance.ParseVerdict(stated)
	switch {
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		return v, s.Locate(err)
	case err == nil && (v.RuleName != "" || v.Err != nil):
		err = errors.New("fields ruleName and error are those of custom rules")
	}
	if err != nil {
		return v, d.ErrorAt(s.Line, err)
	}
	return v, nil
}

func joined[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
