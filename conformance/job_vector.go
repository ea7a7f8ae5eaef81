package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
)

// JobVector is one case of what is to be said of a Job or CronJob: by the constraints
// of the API when it is created or updated, or by guardrails.
type JobVector struct {
	Name     string // constraints/topic/reason or guardrails/topic/reason
	Sentence string // what the vector proves
	KEP      string // the section of the KEP that asks for it, or batch/v1
	// Silent are the ids of constraints or guardrails that nearly find something. They
	// are not among those of Want.
	Silent []string
	// Panics is true where the API server of Kubernetes 1.36 panics instead of saying what
	// is wanted.
	Panics bool

	Submission

	// Want is what must be said, in any order: errors and warnings of the constraints,
	// or findings of the guardrails.
	Want []Finding
}

// Submission is what is to be judged, as values of JSON.
type Submission struct {
	// Object is the Job or CronJob as a user writes it, without the API's defaults.
	Object map[string]any `json:"object"`
	// OldObject is the Job or CronJob that it replaces, written in the same way; nil when
	// the object is created. The constraints find nothing in it.
	OldObject map[string]any `json:"oldObject,omitempty"`
	// Settings configure the guardrails: settings by the ids of guardrails, as
	// data.podverdict.config.guardrails has them. Nil leaves all as they come.
	Settings map[string]any `json:"settings,omitempty"`
}

// ConstraintVectors returns the vectors of the constraints that come with this
// package, by name.
func ConstraintVectors() ([]JobVector, error) { return embeddedJobs(constraints) }

// GuardrailVectors returns the vectors of the guardrails that come with this package,
// by name.
func GuardrailVectors() ([]JobVector, error) { return embeddedJobs(guardrails) }

func embeddedJobs(f family) ([]JobVector, error) {
	files, err := fs.Sub(embedded, "vectors")
	if err != nil {
		return nil, err
	}
	return loadJobs(files, f)
}

// family is a kind of JobVectors, and the name of their folder.
type family string

const (
	constraints family = "constraints"
	guardrails  family = "guardrails"
)

func isFamily(folder string) bool {
	return folder == string(constraints) || folder == string(guardrails)
}

// sections are those of the family's vectors.
func (f family) sections() []string {
	if f == guardrails {
		return []string{settingsSection, jobSection, findingsSection}
	}
	return []string{oldJobSection, jobSection, errorsSection, warningsSection}
}

var jobVectorFile = regexp.MustCompile(`^[a-z]+/[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*\.txtar$`)

// loadJobs reads the vectors of a family. The error joins a *ParseError for every
// file that is wrong.
func loadJobs(files fs.FS, f family) ([]JobVector, error) {
	bases, err := readJobBases(files, f)
	if err != nil {
		return nil, err
	}
	var vectors []JobVector
	var errs []error
	walk := fs.WalkDir(files, string(f), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || bases.has(file) {
			return err
		}
		v, err := loadJob(files, file, f, bases)
		vectors, errs = append(vectors, v), append(errs, err)
		return nil
	})
	if err := errors.Join(append(errs, walk)...); err != nil {
		return nil, err
	}
	if len(vectors) == 0 {
		return nil, errNoVectors
	}
	return vectors, uniqueJobs(vectors)
}

func loadJob(files fs.FS, file string, f family, bases jobBases) (JobVector, error) {
	if !jobVectorFile.MatchString(file) {
		return JobVector{}, &ParseError{File: file, Err: errUnusedJob}
	}
	data, err := fs.ReadFile(files, file)
	if err != nil {
		return JobVector{}, &ParseError{File: file, Err: err}
	}
	return parseJob(file, data, f, bases)
}

// uniqueJobs refuses two vectors with one sentence or one submission: the second
// proves nothing.
func uniqueJobs(vectors []JobVector) error {
	sentences, questions := map[string]string{}, map[string]string{}
	var errs []error
	for _, v := range vectors {
		file := v.Name + path.Ext(".txtar")
		if first, ok := sentences[v.Sentence]; ok {
			errs = append(errs, &ParseError{File: file, Line: 1, Err: errSameSentence(first)})
		}
		question, err := json.Marshal(v.Submission)
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
