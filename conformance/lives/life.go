package lives

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podverdict/podverdict/conformance"
)

//go:embed scenarios
var embedded embed.FS

// Life is one case: a Job, what happens to it and its pods, and what every controller must make of it.
type Life struct {
	Name      string   // topic/reason
	Sentence  string   // what the life proves
	KEP       string   // the section of the KEP that asks for it
	Semantics []string // what it shows of the behaviour of Kubernetes
	Upstream  string   // the test of Kubernetes, or its source, that says the same

	Job   *batchv1.Job // without a namespace
	Steps []Step
	// Want are what must be there at the checkpoints, by name.
	Want map[string]Facts
	// Differs is a deliberate difference of one controller, if there is one.
	Differs Exception
}

// Exception is a difference that a controller has on purpose.
type Exception struct {
	ManagedBy string           // the controller, as in spec.managedBy
	Why       string           // what it does instead
	Want      map[string]Facts // the checkpoints that differ
}

// All returns the lives that come with this package, by name.
func All() ([]Life, error) {
	files, err := fs.Sub(embedded, "scenarios")
	if err != nil {
		return nil, err
	}
	return Load(files)
}

// Load reads the lives of a folder that has topic folders. The error joins a *conformance.ParseError for every file that
// is wrong. A file that is no life, and a folder without lives, are errors too.
func Load(files fs.FS) ([]Life, error) { return load(files, (*document).want) }

// Drafts is Load for lives that are still to be recorded. One whose checkpoints are not all there, or are wrong, has none.
func Drafts(files fs.FS) ([]Life, error) {
	return load(files, func(d *document, life *Life) error {
		if d.want(life) != nil {
			life.Want, life.Differs.Want = nil, nil
		}
		return nil
	})
}

var lifeFile = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*\.txtar$`)

func load(files fs.FS, want func(*document, *Life) error) ([]Life, error) {
	var lives []Life
	var errs []error
	walk := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		life, err := read(files, file, want)
		lives, errs = append(lives, life), append(errs, err)
		return nil
	})
	if err := errors.Join(append(errs, walk)...); err != nil {
		return nil, err
	}
	if len(lives) == 0 {
		return nil, errNoLives
	}
	return lives, unique(lives)
}

func read(files fs.FS, file string, want func(*document, *Life) error) (Life, error) {
	if !lifeFile.MatchString(file) {
		return Life{}, &conformance.ParseError{File: file, Err: errUnusedFile}
	}
	data, err := fs.ReadFile(files, file)
	if err != nil {
		return Life{}, &conformance.ParseError{File: file, Err: err}
	}
	doc, err := split(file, data)
	if err != nil {
		return Life{}, err
	}
	life := Life{Name: strings.TrimSuffix(file, ".txtar"), Sentence: doc.sentence}
	for _, read := range []func(*document, *Life) error{(*document).readHeaders, (*document).job, (*document).steps, want} {
		if err := read(doc, &life); err != nil {
			return Life{}, err
		}
	}
	return life, nil
}

// unique refuses two lives with one sentence or one course: the second proves nothing.
func unique(lives []Life) error {
	sentences, courses := map[string]string{}, map[string]string{}
	var errs []error
	for _, life := range lives {
		course, err := json.Marshal([]any{life.Job, life.Steps})
		if err != nil {
			return err
		}
		if first, ok := sentences[life.Sentence]; ok {
			errs = append(errs, &conformance.ParseError{File: life.Name + ".txtar", Line: 1, Err: errSameSentence(first)})
		}
		if first, ok := courses[string(course)]; ok {
			errs = append(errs, &conformance.ParseError{File: life.Name + ".txtar", Err: errSameContent(first)})
		}
		sentences[life.Sentence], courses[string(course)] = life.Name, life.Name
	}
	return errors.Join(errs...)
}

// The items of the behaviour of Kubernetes that lives show: when pods count, limits, back-off, ends, indexes.
const firstItem, lastItem = 30, 82

var item = regexp.MustCompile(`^[B-F]\.([1-9][0-9])$`)

func (d *document) readHeaders(life *Life) error {
	for _, h := range d.headers {
		switch h.key {
		case "kep":
			life.KEP = h.value
		case "upstream":
			life.Upstream = h.value
		case "differs":
			by, why, ok := strings.Cut(h.value, ": ")
			if !ok {
				return d.errorAt(h.line, errHeaderValue(h.key, h.value))
			}
			life.Differs = Exception{ManagedBy: by, Why: why}
		case "semantics":
			for name := range strings.SplitSeq(h.value, ",") {
				name = strings.TrimSpace(name)
				if !isItem(name) || slices.Contains(life.Semantics, name) {
					return d.errorAt(h.line, errHeaderValue(h.key, name))
				}
				life.Semantics = append(life.Semantics, name)
			}
		default:
			return d.errorAt(h.line, errUnknownHeader(h.key))
		}
		if h.value == "" {
			return d.errorAt(h.line, errHeaderValue(h.key, h.value))
		}
	}
	if life.KEP == "" && life.Upstream == "" && len(life.Semantics) == 0 {
		return d.errorAt(1, errNoSource)
	}
	return nil
}

func isItem(name string) bool {
	match := item.FindStringSubmatch(name)
	if match == nil {
		return false
	}
	number, err := strconv.Atoi(match[1])
	return err == nil && firstItem <= number && number <= lastItem
}

// job reads the section job.yaml, and fills in what any Job has.
func (d *document) job(life *Life) error {
	s, ok := d.section(jobSection)
	if !ok {
		return d.errorAt(0, errNoJob)
	}
	life.Job = new(batchv1.Job)
	if err := d.decode(s, life.Job); err != nil {
		return err
	}
	if life.Job.Spec.ManagedBy != nil {
		return d.errorAt(s.line, errManaged)
	}
	if life.Job.Name == "" {
		life.Job.Name = "j"
	}
	pod := &life.Job.Spec.Template.Spec
	if pod.RestartPolicy == "" {
		pod.RestartPolicy = corev1.RestartPolicyNever
	}
	if len(pod.Containers) == 0 {
		pod.Containers = []corev1.Container{{Name: "main"}}
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			containers[i].Image = "example.com/" + containers[i].Name
		}
	}
	return nil
}

// steps reads the section steps.yaml.
func (d *document) steps(life *Life) error {
	s, ok := d.section(stepsSection)
	if !ok {
		return d.errorAt(0, errNoSteps)
	}
	if err := d.decode(s, &life.Steps); err != nil {
		return err
	}
	if len(life.Steps) == 0 {
		return d.errorAt(s.line, errNoSteps)
	}
	var names []string
	for i, step := range life.Steps {
		if err := step.check(life.Job); err != nil {
			return d.errorAt(s.line, errStep(i+1, err))
		}
		if step.Settle == nil {
			continue
		}
		if slices.Contains(names, step.Settle.Name) {
			return d.errorAt(s.line, errStep(i+1, errTwice("checkpoint "+step.Settle.Name)))
		}
		names = append(names, step.Settle.Name)
	}
	if life.Steps[len(life.Steps)-1].Settle == nil {
		return d.errorAt(s.line, errNoSettle)
	}
	return nil
}

// want reads the sections of the checkpoints: one for each, a second one where a controller differs, and no others.
func (d *document) want(life *Life) error {
	known := []string{jobSection, stepsSection}
	life.Want, life.Differs.Want = map[string]Facts{}, map[string]Facts{}
	for _, step := range life.Steps {
		if step.Settle == nil {
			continue
		}
		name := step.Settle.Name
		known = append(known, step.Settle.section(), step.Settle.exception())
		s, ok := d.section(step.Settle.section())
		if !ok {
			return d.errorAt(0, errMissingSection(step.Settle.section()))
		}
		var facts, exception Facts
		if err := d.decode(s, &facts); err != nil {
			return err
		}
		life.Want[name] = facts
		if s, ok = d.section(step.Settle.exception()); !ok {
			continue
		}
		if err := d.decode(s, &exception); err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(facts, exception) {
			return d.errorAt(s.line, errNoDifference)
		}
		life.Differs.Want[name] = exception
	}
	if (life.Differs.ManagedBy == "") != (len(life.Differs.Want) == 0) {
		return d.errorAt(1, errException)
	}
	return d.refuseOthers(known)
}

func (d *document) refuseOthers(known []string) error {
	for _, s := range d.sections {
		if !slices.Contains(known, s.name) {
			return d.errorAt(s.line, errUnknownSection(s.name, known))
		}
	}
	return nil
}
