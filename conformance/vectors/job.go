package vectors

import (
	"io/fs"
	"path"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/conformance/internal/document"
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
	// Panics is true where the API server of Kubernetes 1.37 panics instead of saying what
	// is wanted.
	Panics bool
	// Since is the first version of Kubernetes whose API server has what the Job uses, as in "1.35"; empty means any.
	Since string

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

// Constraints returns the vectors of the constraints that come with this package, by
// name.
func Constraints() ([]JobVector, error) { return constraints.load(embedded) }

// Guardrails returns the vectors of the guardrails that come with this package, by
// name.
func Guardrails() ([]JobVector, error) { return guardrails.load(embedded) }

// family is a kind of JobVectors, and the name of their folder.
type family string

const (
	constraints family = "constraints"
	guardrails  family = "guardrails"
)

// sections returns the sections of the family's vectors.
func (f family) sections() []string {
	if f == guardrails {
		return []string{settingsSection, jobSection, findingsSection}
	}
	return []string{oldJobSection, jobSection, errorsSection, warningsSection}
}

// The bases of a family, in its folder.
const (
	jobFile     = "job.yaml"
	cronJobFile = "cronjob.yaml"
)

// load reads the vectors of a family. The error joins a *ParseError for every
// file that is wrong.
func (f family) load(files fs.FS) ([]JobVector, error) {
	bases, err := f.bases(files)
	if err != nil {
		return nil, err
	}
	return document.Folder[JobVector]{
		Files: files, Root: string(f), Other: []string{jobFile, cronJobFile},
		Read:    func(d *document.Document) (JobVector, error) { return f.read(d, bases) },
		Subject: func(v JobVector) (string, any) { return v.Sentence, v.Submission },
	}.Load()
}

// bases reads the objects that the vectors change, by kind.
func (f family) bases(files fs.FS) (map[string]base, error) {
	job, err := loadBase(files, path.Join(string(f), jobFile), func() any { return new(batchv1.Job) })
	if err != nil {
		return nil, err
	}
	cronJob, err := loadBase(files, path.Join(string(f), cronJobFile), func() any { return new(batchv1.CronJob) })
	return map[string]base{"Job": job, "CronJob": cronJob}, err
}
