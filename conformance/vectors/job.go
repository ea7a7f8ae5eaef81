package vectors

import (
	"io/fs"
	"path"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/conformance/internal/document"
)

// JobVector is a vector about a Job or CronJob. It tests the findings of the API's constraints when the object is created or
// updated, or the findings of the guardrails.
type JobVector struct {
	Name     string // constraints/topic/reason or guardrails/topic/reason
	Sentence string // tested behaviour, as a sentence
	KEP      string // section of the KEP that requires it, or batch/v1
	// Silent are the ids of constraints or guardrails that come close to a finding. They have none in Want.
	Silent []string
	// Panics is true if the API server of Kubernetes 1.37 panics instead of returning Want.
	Panics bool
	// Since is the first version of Kubernetes whose API server has the Job's fields, such as "1.35"; empty means any.
	Since string

	Submission

	// Want are the expected findings, in any order: errors and warnings of the constraints, or findings of the guardrails.
	Want []Finding
}

// Submission is the input of a judge, as JSON values.
type Submission struct {
	// Object is the Job or CronJob as a user writes it, without the API's defaults.
	Object map[string]any `json:"object"`
	// OldObject is the Job or CronJob that Object replaces, also without defaults; nil if Object is created. The constraints
	// have no findings in it.
	OldObject map[string]any `json:"oldObject,omitempty"`
	// Settings configure the guardrails by id, as in data.podverdict.config.guardrails. Nil means the defaults.
	Settings map[string]any `json:"settings,omitempty"`
}

// Constraints returns the vectors about constraints in this package, sorted by name.
func Constraints() ([]JobVector, error) { return constraints.load(embedded) }

// Guardrails returns the vectors about guardrails in this package, sorted by name.
func Guardrails() ([]JobVector, error) { return guardrails.load(embedded) }

// family is a kind of JobVectors, named like its folder.
type family string

const (
	constraints family = "constraints"
	guardrails  family = "guardrails"
)

// sections returns the names of the sections in a family's vectors.
func (f family) sections() []string {
	if f == guardrails {
		return []string{settingsSection, jobSection, findingsSection}
	}
	return []string{oldJobSection, jobSection, errorsSection, warningsSection}
}

// The base files in a family's folder.
const (
	jobFile     = "job.yaml"
	cronJobFile = "cronjob.yaml"
)

// load loads the vectors of a family. The error joins a *ParseError for each file with an error.
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

// bases reads the objects that the vectors modify, by kind.
func (f family) bases(files fs.FS) (map[string]base, error) {
	job, err := loadBase(files, path.Join(string(f), jobFile), func() any { return new(batchv1.Job) })
	if err != nil {
		return nil, err
	}
	cronJob, err := loadBase(files, path.Join(string(f), cronJobFile), func() any { return new(batchv1.CronJob) })
	return map[string]base{"Job": job, "CronJob": cronJob}, err
}
