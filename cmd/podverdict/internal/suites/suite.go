package suites

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// Suite holds test cases and the compiled policies that they test.
type Suite struct {
	// File is the path of the suite, and Name its name.
	File, Name string
	// Threshold is the minimum coverage in percent, or nil if the suite does not set it.
	Threshold *int

	files    manifest.Options
	document document
	tree     map[string]any
	origin   manifest.Origin
	rulebook *rulebook
	job      manifest.Job
	base     *judge // rules for the job
	pods     map[string]*corev1.Pod
	unread   error // errors of skipped documents
	// scenarios are the Pods of all scenarios, built for the job.
	scenarios map[string]*corev1.Pod
}

// Loader reads suites.
type Loader struct {
	// Kubernetes is the minor version for suites that do not name one.
	Kubernetes string
	// Folder must contain the suites and the files they refer to. It defaults to the folder of each suite. Paths with .. and
	// symbolic links cannot leave it.
	Folder string
	// Anywhere lets suites refer to any file.
	Anywhere bool

	environments map[string]*compiler.Environment // by Kubernetes version
}

// Read reads a suite and the files it refers to. The error joins all mistakes in them.
func (l *Loader) Read(ctx context.Context, file string) (*Suite, error) {
	s := &Suite{File: file, files: manifest.Options{Indirect: true}}
	if !l.Anywhere {
		root, err := os.OpenRoot(cmp.Or(l.Folder, filepath.Dir(file)))
		if err != nil {
			return nil, manifest.ErrUnreadable(file, err)
		}
		defer root.Close()
		s.files.Root = root
	}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := l.load(ctx, s); err != nil {
		return nil, errors.Join(s.unread, err)
	}
	return s, nil
}

func (s *Suite) read(ctx context.Context) error {
	tree, origin, err := manifest.ReadPart(ctx, s.files, s.File, &s.document)
	if err != nil {
		return errors.Join(cmp.Or(s.wrongKind(), err))
	}
	s.tree, s.origin = tree, origin
	s.Name = cmp.Or(s.document.Metadata.Name, called(s.File))
	s.Threshold = s.document.Coverage.Threshold
	return nil
}

// wrongKind returns an error for a file of another kind, or nil.
func (s *Suite) wrongKind() error {
	if tree, origin, err := manifest.ReadValue(s.files, s.File); err == nil {
		version, _ := tree["apiVersion"].(string)
		named, _ := tree["kind"].(string)
		return checkKind(origin, version, named)
	}
	return nil // the read error has been reported already
}

func checkKind(o manifest.Origin, version, named string) error {
	switch {
	case named == "":
		return o.Error("kind", messageRequired)
	case version == "":
		return o.Error("apiVersion", messageRequired)
	case version != apiVersion || named != kind:
		return o.Error("kind", fmt.Sprintf("%q of %q is not a Suite of %s", named, version, apiVersion))
	}
	return nil
}

// check reports mistakes that can be found in the suite itself.
func (s *Suite) check() error {
	if err := checkKind(s.origin, s.document.APIVersion, s.document.Kind); err != nil {
		return err
	}
	var errs []error
	fail := func(field, message string) { errs = append(errs, s.origin.Error(field, message)) }
	if len(s.document.Policies) == 0 && s.document.Job == "" {
		fail("", "a suite names policies, a job, or both")
	}
	if t := s.Threshold; t != nil && (*t < 0 || *t > 100) {
		fail("coverage.threshold", fmt.Sprintf("%d is not a percentage from 0 to 100", *t))
	}
	first := map[string]int{}
	for i := range s.document.Cases {
		c := &s.document.Cases[i]
		field := caseField(i)
		other, taken := first[c.Name]
		switch {
		case c.Name == "":
			fail(field+".name", messageRequired)
		case taken:
			fail(field+".name", fmt.Sprintf("the name is that of another case, at %s", s.origin.Position(caseField(other)+".name")))
		default:
			first[c.Name] = i
		}
		c.check(field, fail)
	}
	return errors.Join(errs...)
}

func (c *caseDocument) check(field string, fail func(field, message string)) {
	if c.Attempt != nil && *c.Attempt < 1 {
		fail(field+".attempt", "must be 1 or more")
	}
	if len(c.Attempts) > cel.MaxAttempts {
		fail(field+".attempts", fmt.Sprintf("must be %d or fewer", cel.MaxAttempts))
	}
	other := ""
	for _, a := range c.ages() {
		switch {
		case a.given == nil:
			continue
		case other != "":
			fail(field+"."+a.name, "is not for a case with "+other)
		case c.Now != nil:
			fail(field+".now", "is not for a case with "+a.name)
		}
		if other = a.name; a.given.Duration < 0 {
			fail(field+"."+a.name, "must be a duration from 0s")
		}
	}
	for rule, n := range c.Matches {
		if n < 0 {
			fail(manifest.FieldOfKey(field+".matches", rule), "must not be negative")
		}
	}
	c.Expect.check(field+".expect", fail)
}

func (s *Suite) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	path := filepath.Join(filepath.Dir(s.File), name)
	if path == "-" {
		return "./-" // an ordinary file: suites do not read standard input
	}
	return path
}
