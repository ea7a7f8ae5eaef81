package life

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podverdict/podverdict/conformance/internal/document"
)

// scenarios is the folder of the lives.
const scenarios = "scenarios"

// Life is one test case: a Job, the events that happen to it and its pods, and the required behaviour of every
// controller.
type Life struct {
	Name      string   // topic/reason
	Sentence  string   // what the life tests
	KEP       string   // the section of the KEP that requires it
	Semantics []string // the items in the semantics that it covers
	Upstream  string   // the test or source of Kubernetes that requires the same

	Job   *batchv1.Job // without a namespace
	Steps []Step
	// Want has the expected facts, by checkpoint name.
	Want map[string]Facts
	// Differs is a deliberate difference of one controller, Before a difference of older releases of
	// kube-controller-manager, if any.
	Differs, Before Exception
}

// Exception is a controller's difference from Want.
type Exception struct {
	By   string           // the controller, as in spec.managedBy, or the first release without the difference, as in 1.36
	Why  string           // its different behaviour
	Want map[string]Facts // the checkpoints that differ
}

const (
	jobSection   = "job.yaml"
	stepsSection = "steps.yaml"
)

// Load loads the lives of a folder that has topic folders. The error joins a *document.ParseError for each invalid file.
// Other files and a folder without lives are errors, too.
func Load(files fs.FS) ([]Life, error) { return load(files, (*Life).readWant) }

// Drafts loads lives that have yet to be recorded, like Load. It omits the checkpoints of a life if they are incomplete
// or wrong.
func Drafts(files fs.FS) ([]Life, error) {
	return load(files, func(life *Life, d *document.Document) error {
		if life.readWant(d) != nil {
			life.Want, life.Differs.Want, life.Before.Want = nil, nil, nil
		}
		return nil
	})
}

func load(files fs.FS, want func(*Life, *document.Document) error) ([]Life, error) {
	return document.Folder[Life]{
		Files: files, Root: ".",
		Read: func(d *document.Document) (Life, error) {
			life := Life{Name: strings.TrimSuffix(d.File, ".txtar"), Sentence: d.Sentence}
			for _, read := range []func(*Life, *document.Document) error{(*Life).readHeaders, (*Life).readJob, (*Life).readSteps, want} {
				if err := read(&life, d); err != nil {
					return Life{}, err
				}
			}
			return life, nil
		},
		Subject: func(life Life) (string, any) { return life.Sentence, []any{life.Job, life.Steps} },
	}.Load()
}

// Lives may cite the items of parts B to F of SEMANTICS.md.
const firstItem, lastItem = 30, 82

// The kinds of exceptions: a header gives the reason, and the sections' names end with the word.
const differs, before = "differs", "before"

func (life *Life) exception(name string) *Exception {
	if name == differs {
		return &life.Differs
	}
	return &life.Before
}

var release = regexp.MustCompile(`^1\.[1-9][0-9]$`)

var item = regexp.MustCompile(`^[B-F]\.([1-9][0-9])$`)

func (life *Life) readHeaders(d *document.Document) error {
	for _, h := range d.Headers {
		switch h.Key {
		case "kep":
			life.KEP = h.Value
		case "upstream":
			life.Upstream = h.Value
		case differs, before:
			by, why, ok := strings.Cut(h.Value, ": ")
			if !ok || h.Key == before && !release.MatchString(by) {
				return d.WrongHeader(h, h.Value)
			}
			*life.exception(h.Key) = Exception{By: by, Why: why}
		case "semantics":
			for _, name := range h.List() {
				if !isItem(name) || slices.Contains(life.Semantics, name) {
					return d.WrongHeader(h, name)
				}
				life.Semantics = append(life.Semantics, name)
			}
		default:
			return d.UnknownHeader(h)
		}
	}
	if life.KEP == "" && life.Upstream == "" && len(life.Semantics) == 0 {
		return d.ErrorAt(1, errors.New(`one of the headers "#kep", "#semantics" and "#upstream" is required`))
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

// readJob reads the section job.yaml, and sets the fields common to all Jobs.
func (life *Life) readJob(d *document.Document) error {
	s, ok := d.Section(jobSection)
	if !ok {
		return d.ErrorAt(0, errors.New("section job.yaml is missing"))
	}
	life.Job = new(batchv1.Job)
	if err := s.Decode(life.Job); err != nil {
		return err
	}
	if life.Job.Spec.ManagedBy != nil {
		return d.ErrorAt(s.Line, errors.New("spec.managedBy is for who plays the life"))
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

// readSteps reads the section steps.yaml.
func (life *Life) readSteps(d *document.Document) error {
	s, _ := d.Section(stepsSection)
	if err := s.Decode(&life.Steps); err != nil {
		return err
	}
	if len(life.Steps) == 0 {
		return d.ErrorAt(s.Line, errors.New("section steps.yaml is missing or empty"))
	}
	var names []string
	for i, step := range life.Steps {
		err := step.check()
		if settle := step.Settle; err == nil && settle != nil {
			if slices.Contains(names, settle.Name) {
				err = fmt.Errorf("checkpoint %s appears twice", settle.Name)
			}
			names = append(names, settle.Name)
		}
		if err != nil {
			return d.ErrorAt(s.Line, fmt.Errorf("step %d: %w", i+1, err))
		}
	}
	if life.Steps[len(life.Steps)-1].Settle == nil {
		return d.ErrorAt(s.Line, errors.New("the last step must be settle"))
	}
	return nil
}

// readWant reads the sections of the checkpoints: one for each, and another if a controller differs. Other sections are
// errors.
func (life *Life) readWant(d *document.Document) error {
	known := []string{jobSection, stepsSection}
	life.Want, life.Differs.Want, life.Before.Want = map[string]Facts{}, map[string]Facts{}, map[string]Facts{}
	for _, step := range life.Steps {
		if step.Settle == nil {
			continue
		}
		known = append(known, step.Settle.section(), step.Settle.exception(differs), step.Settle.exception(before))
		s, ok := d.Section(step.Settle.section())
		if !ok {
			return d.ErrorAt(0, fmt.Errorf("section %s is missing; go test -update writes it", step.Settle.section()))
		}
		var facts Facts
		if err := s.Decode(&facts); err != nil {
			return err
		}
		life.Want[step.Settle.Name] = facts
		for _, name := range []string{differs, before} {
			if err := life.exception(name).read(d, step.Settle, name, facts); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{differs, before} {
		if e := life.exception(name); (e.By == "") != (len(e.Want) == 0) {
			return d.ErrorAt(1, fmt.Errorf("header %q and sections <checkpoint>.%s.yaml come together", "#"+name, name))
		}
	}
	return d.RefuseOthers(known)
}

// read reads a checkpoint's section for the controller that differs, if any.
func (e *Exception) read(d *document.Document, checkpoint *Settle, name string, facts Facts) error {
	s, ok := d.Section(checkpoint.exception(name))
	if !ok {
		return nil
	}
	var exception Facts
	if err := s.Decode(&exception); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(facts, exception) {
		return d.ErrorAt(s.Line, errors.New("differs in nothing"))
	}
	e.Want[checkpoint.Name] = exception
	return nil
}
