package vectors

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/conformance/internal/document"
)

// The sections of JobVectors. oldJob.patch is applied to the base, and job.patch to the old object, or to the base if there
// is no old object.
const (
	oldJobSection   = "oldJob.patch"
	jobSection      = "job.patch"
	errorsSection   = "errors.yaml"
	warningsSection = "warnings.yaml"
	settingsSection = "settings.yaml"
	findingsSection = "findings.yaml"
)

// read reads one vector.
func (f family) read(d *document.Document, bases map[string]base) (JobVector, error) {
	v := JobVector{Name: strings.TrimSuffix(d.File, ".txtar"), Sentence: d.Sentence}
	if err := d.RefuseOthers(f.sections()); err != nil {
		return JobVector{}, err
	}
	kind, err := readJobHeaders(d, &v)
	if err != nil {
		return JobVector{}, err
	}
	if err := readObjects(d, &v, bases[kind]); err != nil {
		return JobVector{}, err
	}
	if f == guardrails {
		err = readGuardrails(d, &v)
	} else {
		err = readConstraints(d, &v)
	}
	if err == nil {
		err = v.check(d)
	}
	return v, err
}

// ruleID matches the id of a constraint or a guardrail.
var ruleID = regexp.MustCompile(`^(?:[A-Z]{1,2}[1-9][0-9]?|G(?:-[A-Z]+)+)$`)

// minorVersion matches a version of Kubernetes without a patch number.
var minorVersion = regexp.MustCompile(`^1\.[1-9][0-9]+$`)

// readJobHeaders sets the fields given in headers, and returns the kind of the object.
func readJobHeaders(d *document.Document, v *JobVector) (kind string, err error) {
	kind = "Job"
	for _, h := range d.Headers {
		switch {
		case h.Key == "kep":
			v.KEP = h.Value
		case h.Key == "silent":
			v.Silent = h.List()
			if i := slices.IndexFunc(v.Silent, func(id string) bool { return !ruleID.MatchString(id) }); i >= 0 {
				return "", d.WrongHeader(h, v.Silent[i])
			}
		case h.Key == "kind" && h.Value == "CronJob":
			kind = h.Value
		case h.Key == "upstream" && h.Value == "panics":
			v.Panics = true
		case h.Key == "since" && minorVersion.MatchString(h.Value):
			v.Since = h.Value
		case h.Key == "kind" || h.Key == "upstream" || h.Key == "since":
			return "", d.WrongHeader(h, h.Value)
		default:
			return "", d.UnknownHeader(h)
		}
	}
	if v.KEP == "" {
		return "", d.ErrorAt(1, errNoKEP)
	}
	return kind, nil
}

// readObjects reads the sections oldJob.patch and job.patch.
func readObjects(d *document.Document, v *JobVector, b base) error {
	tree := b.tree
	if s, ok := d.Section(oldJobSection); ok {
		var err error
		if tree, err = b.patched(d, s, tree); err != nil {
			return err
		}
		v.OldObject, _ = tree.(map[string]any)
	}
	s, _ := d.Section(jobSection)
	tree, err := b.patched(d, s, tree)
	v.Object, _ = tree.(map[string]any)
	return err
}

// readConstraints reads the sections errors.yaml and warnings.yaml.
func readConstraints(d *document.Document, v *JobVector) error {
	if _, ok := d.Section(errorsSection); !ok {
		return d.ErrorAt(0, errors.New("section errors.yaml is missing; what is accepted has []"))
	}
	var err error
	if v.Want, err = readFindings(d, errorsSection, Finding{Severity: severityError}); err != nil {
		return err
	}
	warned, err := readFindings(d, warningsSection, Finding{Type: TypeWarning, Severity: severityWarning})
	v.Want = append(v.Want, warned...)
	return err
}

// readGuardrails reads the sections settings.yaml and findings.yaml.
func readGuardrails(d *document.Document, v *JobVector) error {
	if _, ok := d.Section(findingsSection); !ok {
		return d.ErrorAt(0, errors.New("section findings.yaml is missing; what breaks no guardrail has []"))
	}
	if s, ok := d.Section(settingsSection); ok {
		if err := s.Decode(&v.Settings); err != nil {
			return err
		}
		if len(v.Settings) == 0 {
			return d.ErrorAt(s.Line, errors.New("section settings.yaml is empty"))
		}
	}
	var err error
	v.Want, err = readFindings(d, findingsSection, Finding{})
	return err
}

// readFindings reads a section of findings, which share the fields of their kind.
func readFindings(d *document.Document, section string, kind Finding) ([]Finding, error) {
	s, ok := d.Section(section)
	if !ok {
		return nil, nil
	}
	var list []Finding
	if err := s.Decode(&list); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Type, list[i].Severity = cmp.Or(list[i].Type, kind.Type), cmp.Or(list[i].Severity, kind.Severity)
		if slices.Contains(list[:i], list[i]) {
			return nil, d.ErrorAt(s.Line, fmt.Errorf("finding %d: %s appears twice", i, list[i].Message))
		}
	}
	return list, nil
}

// check returns an error if the vector proves nothing or contradicts itself.
func (v JobVector) check(d *document.Document) error {
	if len(v.Want) == 0 && len(v.Silent) == 0 {
		return d.ErrorAt(1, errors.New(`finds nothing and has no header "#silent", so that it proves nothing`))
	}
	for i, id := range v.Silent {
		if slices.Contains(v.Silent[:i], id) {
			return d.ErrorAt(1, fmt.Errorf("silent %s appears twice", id))
		}
		if slices.ContainsFunc(v.Want, func(f Finding) bool { return f.ID == id }) {
			return d.ErrorAt(1, fmt.Errorf("%s is silent and found", id))
		}
	}
	return nil
}
