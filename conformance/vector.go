package conformance

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/runtime"
)

//go:embed vectors
var embedded embed.FS

// Vector is one case: a question and the verdict that every engine must give.
type Vector struct {
	Name       string // topic/reason
	Sentence   string // what the vector proves
	KEP        string // the section of the KEP that asks for it
	Semantics  []string
	Features   []Feature
	Kubernetes string // minor version like "1.28"; empty is compiler.DefaultVersion
	Upstream   string // the upstream test case or source that agrees, if one is known

	Policy *batchv1.PodFailurePolicy // nil: the Job has none
	Pod    *corev1.Pod
	Want   runtime.Verdict
}

// Request is the vector's question.
func (v Vector) Request() Request {
	return Request{Kubernetes: v.Kubernetes, Policy: v.Policy, Pod: v.Pod}
}

// Vectors returns the vectors that come with this package, by name.
func Vectors() ([]Vector, error) {
	files, err := fs.Sub(embedded, "vectors")
	if err != nil {
		return nil, err
	}
	return Load(files)
}

var vectorFile = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*\.txtar$`)

// Load reads the vectors of a folder that has base.yaml and topic folders, and leaves
// out the folders of [JobVector]s. The error joins a *ParseError for every file that is wrong; a file that is no
// vector, and a folder without vectors, are errors too.
func Load(files fs.FS) ([]Vector, error) {
	b, err := readBase(files)
	if err != nil {
		return nil, err
	}
	var vectors []Vector
	var errs []error
	walk := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || file == baseFile:
			return err
		case d.IsDir() && isFamily(file):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		v, err := load(files, file, b)
		vectors, errs = append(vectors, v), append(errs, err)
		return nil
	})
	if err := errors.Join(append(errs, walk)...); err != nil {
		return nil, err
	}
	if len(vectors) == 0 {
		return nil, errNoVectors
	}
	return vectors, unique(vectors)
}

func load(files fs.FS, file string, b base) (Vector, error) {
	if !vectorFile.MatchString(file) {
		return Vector{}, &ParseError{File: file, Err: errUnusedFile}
	}
	data, err := fs.ReadFile(files, file)
	if err != nil {
		return Vector{}, &ParseError{File: file, Err: err}
	}
	return parse(file, data, b)
}

// unique refuses two vectors with one sentence or one question: the second
// proves nothing.
func unique(vectors []Vector) error {
	sentences, questions := map[string]string{}, map[string]string{}
	var errs []error
	for _, v := range vectors {
		file := v.Name + path.Ext(".txtar")
		if first, ok := sentences[v.Sentence]; ok {
			errs = append(errs, &ParseError{File: file, Line: 1, Err: errSameSentence(first)})
		}
		question, err := json.Marshal(v.Request())
		if err != nil {
			return err
		}
		if first, ok := questions[string(question)]; ok {
			errs = append(errs, &ParseError{File: file, Err: errSameContent(first)})
		}
		sentences[v.Sentence], questions[string(question)] = file, file
	}
	return errors.Join(errs...)
}

// parse reads one vector.
func parse(file string, data []byte, b base) (Vector, error) {
	v := Vector{Name: strings.TrimSuffix(file, ".txtar")}
	doc, err := split(file, data, verdictSections())
	if err != nil {
		return Vector{}, err
	}
	nilPolicy, err := doc.readHeaders(&v)
	if err != nil {
		return Vector{}, err
	}
	if nilPolicy {
		err = doc.noPolicy()
	} else {
		v.Policy, err = doc.policy()
	}
	if err != nil {
		return Vector{}, err
	}
	if v.Pod, err = doc.pod(b); err != nil {
		return Vector{}, err
	}
	v.Want, err = doc.verdict()
	return v, err
}

// noPolicy demands that there is no section rules.yaml.
func (d *document) noPolicy() error {
	if s, ok := d.sections[rulesSection]; ok {
		return d.errorAt(s.line, errNilPolicy)
	}
	return nil
}

// policy reads the section rules.yaml.
func (d *document) policy() (*batchv1.PodFailurePolicy, error) {
	s, ok := d.sections[rulesSection]
	if !ok || len(bytes.TrimSpace(s.data)) == 0 {
		return nil, d.errorAt(0, errNoRules)
	}
	p := new(batchv1.PodFailurePolicy)
	if err := decodeYAML(s.data, &p.Rules); err != nil {
		return nil, yamlError(d.file, s.line, s.data, err)
	}
	return p, nil
}

// pod reads the section pod.patch. The pod is decoded after every line, so that
// an error is that of its line.
func (d *document) pod(b base) (*corev1.Pod, error) {
	s := d.sections[patchSection]
	tree := b.tree
	pod, err := decodePod(tree)
	for i, line := range strings.Split(string(s.data), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if tree, pod, err = patched(tree, line); err != nil {
			return nil, d.errorAt(s.line+1+i, err)
		}
	}
	return pod, err
}

func patched(tree any, line string) (any, *corev1.Pod, error) {
	c, err := parseChange(line)
	if err != nil {
		return nil, nil, err
	}
	if tree, err = c.apply(tree); err != nil {
		return nil, nil, err
	}
	pod, err := decodePod(tree)
	return tree, pod, err
}
