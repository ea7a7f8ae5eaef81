package conformance

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// The sections of JobVectors. oldJob.patch makes the old object of the base, and
// job.patch the object of the old one, or of the base.
const (
	oldJobSection   = "oldJob.patch"
	jobSection      = "job.patch"
	errorsSection   = "errors.yaml"
	warningsSection = "warnings.yaml"
	settingsSection = "settings.yaml"
	findingsSection = "findings.yaml"
)

// jobBase is the Job or CronJob that vectors change.
type jobBase struct {
	file string
	tree any
	// decode is strict.
	decode func(data []byte) error
}

// jobBases are the bases of a family, by kind.
type jobBases map[string]jobBase

func readJobBases(files fs.FS, f family) (jobBases, error) {
	bases := jobBases{
		"Job":     {file: path.Join(string(f), "job.yaml"), decode: func(data []byte) error { return decodeYAML(data, new(batchv1.Job)) }},
		"CronJob": {file: path.Join(string(f), "cronjob.yaml"), decode: func(data []byte) error { return decodeYAML(data, new(batchv1.CronJob)) }},
	}
	for kind, b := range bases {
		data, err := fs.ReadFile(files, b.file)
		if err != nil {
			return nil, &ParseError{File: b.file, Err: err}
		}
		if err := decodeYAML(data, &b.tree); err != nil {
			return nil, yamlError(b.file, 0, data, err)
		}
		if err := b.decode(data); err != nil {
			return nil, yamlError(b.file, 0, data, err)
		}
		bases[kind] = b
	}
	return bases, nil
}

func (b jobBases) has(file string) bool { return b["Job"].file == file || b["CronJob"].file == file }

// parseJob reads one vector.
func parseJob(file string, data []byte, f family, bases jobBases) (JobVector, error) {
	v := JobVector{Name: strings.TrimSuffix(file, ".txtar")}
	doc, err := split(file, data, f.sections())
	if err != nil {
		return JobVector{}, err
	}
	kind, err := doc.readJobHeaders(&v)
	if err != nil {
		return JobVector{}, err
	}
	if err := doc.objects(&v, bases[kind]); err != nil {
		return JobVector{}, err
	}
	if f == guardrails {
		err = doc.guardrails(&v)
	} else {
		err = doc.constraints(&v)
	}
	if err != nil {
		return JobVector{}, err
	}
	return v, doc.checkFindings(v)
}

// ruleID is the id of a constraint or a guardrail.
var ruleID = regexp.MustCompile(`^(?:[A-Z]{1,2}[1-9][0-9]?|G(?:-[A-Z]+)+)$`)

// readJobHeaders fills in what the headers say, and returns the kind of the object.
func (d *document) readJobHeaders(v *JobVector) (kind string, err error) {
	v.Sentence, kind = d.sentence, "Job"
	for _, h := range d.headers {
		switch {
		case h.value == "":
			return "", d.errorAt(h.line, errEmptyHeader(h.key))
		case h.key == "kep":
			v.KEP = h.value
		case h.key == "silent":
			v.Silent = fields(h.value)
			if i := slices.IndexFunc(v.Silent, func(id string) bool { return !ruleID.MatchString(id) }); i >= 0 {
				return "", d.errorAt(h.line, errHeaderValue(h.key, v.Silent[i]))
			}
		case h.key == "kind" && h.value == "CronJob":
			kind = h.value
		case h.key == "upstream" && h.value == "panics":
			v.Panics = true
		case h.key == "kind" || h.key == "upstream":
			return "", d.errorAt(h.line, errHeaderValue(h.key, h.value))
		default:
			return "", d.errorAt(h.line, errUnknownHeader(h.key))
		}
	}
	if v.KEP == "" {
		return "", d.errorAt(1, errMissingHeader("kep"))
	}
	return kind, nil
}

// objects reads the sections oldJob.patch and job.patch.
func (d *document) objects(v *JobVector, b jobBase) error {
	tree := b.tree
	if s, ok := d.sections[oldJobSection]; ok {
		var err error
		if tree, err = d.patch(s, tree, b); err != nil {
			return err
		}
		v.OldObject, _ = tree.(map[string]any)
	}
	tree, err := d.patch(d.sections[jobSection], tree, b)
	v.Object, _ = tree.(map[string]any)
	return err
}

// patch makes the changes of a section. The object is decoded after every line, so
// that an error is that of its line.
func (d *document) patch(s section, tree any, b jobBase) (any, error) {
	for i, line := range strings.Split(string(s.data), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		changed, err := b.patched(tree, line)
		if err != nil {
			return nil, d.errorAt(s.line+1+i, err)
		}
		tree = changed
	}
	return tree, nil
}

func (b jobBase) patched(tree any, line string) (any, error) {
	line, times, err := repetition(line)
	if err != nil {
		return nil, err
	}
	c, err := parseChange(line)
	if err != nil {
		return nil, err
	}
	if c.value, err = multiplied(c.value, times); err != nil {
		return nil, err
	}
	if tree, err = c.apply(tree); err != nil {
		return nil, err
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return tree, b.decode(data)
}

// times matches the end of a line whose value, a quoted text or a flow list, is to be
// repeated: "0" * 65536.
var times = regexp.MustCompile(`^(.*: ["\[].*["\]]) \* ([1-9][0-9]{0,4})$`)

func repetition(line string) (rest string, n int, err error) {
	m := times.FindStringSubmatch(line)
	if m == nil {
		return line, 1, nil
	}
	n, err = strconv.Atoi(m[2])
	return m[1], n, err
}

func multiplied(value any, n int) (any, error) {
	if n == 1 {
		return value, nil
	}
	switch v := value.(type) {
	case string:
		return strings.Repeat(v, n), nil
	case []any:
		return slices.Repeat(v, n), nil
	default:
		return nil, errRepeat(value)
	}
}

// constraints reads the sections errors.yaml and warnings.yaml.
func (d *document) constraints(v *JobVector) error {
	if _, ok := d.sections[errorsSection]; !ok {
		return d.errorAt(0, errNoErrors)
	}
	var err error
	if v.Want, err = d.findings(errorsSection, (*Finding).checkError); err != nil {
		return err
	}
	warned, err := d.findings(warningsSection, (*Finding).checkWarning)
	v.Want = append(v.Want, warned...)
	return err
}

// guardrails reads the sections settings.yaml and findings.yaml.
func (d *document) guardrails(v *JobVector) error {
	if _, ok := d.sections[findingsSection]; !ok {
		return d.errorAt(0, errNoFindings)
	}
	if s, ok := d.sections[settingsSection]; ok {
		if err := decodeYAML(s.data, &v.Settings); err != nil {
			return yamlError(d.file, s.line, s.data, err)
		}
		if len(v.Settings) == 0 {
			return d.errorAt(s.line, errNoSettings)
		}
	}
	var err error
	v.Want, err = d.findings(findingsSection, (*Finding).checkGuardrail)
	return err
}

// findings reads a section of findings, each of which is held to the check.
func (d *document) findings(name string, check func(*Finding) error) ([]Finding, error) {
	s := d.sections[name]
	var list []Finding
	if err := decodeYAML(s.data, &list); err != nil {
		return nil, yamlError(d.file, s.line, s.data, err)
	}
	for i := range list {
		if err := check(&list[i]); err != nil {
			return nil, d.errorAt(s.line, errFinding(i, err))
		}
		if slices.Contains(list[:i], list[i]) {
			return nil, d.errorAt(s.line, errFinding(i, errTwice(list[i].Message)))
		}
	}
	return list, nil
}

// checkFindings demands that the vector proves something, and does not contradict
// itself.
func (d *document) checkFindings(v JobVector) error {
	if len(v.Want) == 0 && len(v.Silent) == 0 {
		return d.errorAt(1, errProves)
	}
	for i, id := range v.Silent {
		if slices.Contains(v.Silent[:i], id) {
			return d.errorAt(1, errTwice("silent "+id))
		}
		if slices.ContainsFunc(v.Want, func(f Finding) bool { return f.ID == id }) {
			return d.errorAt(1, errSilent(id))
		}
	}
	return nil
}
