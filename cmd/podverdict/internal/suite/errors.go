package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// ErrNoneSelected is that no case has a name that was asked for.
var ErrNoneSelected = errors.New("no case of any suite has a name that matches --run")

func errUnreadable(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name is said already
	}
	return fmt.Errorf("%s: cannot read: %w", name, err)
}

func errNoSuites(dir string) error {
	return fmt.Errorf("%s: no suites in this directory or below: they are files named *_test.yaml, *_test.yml or *_test.json", dir)
}

const messageRequired = "is required"

func messageKind(version, kind string) string {
	return fmt.Sprintf("%q of %q is not a Suite of %s", kind, version, apiVersion)
}

func messageOneJob(file string, jobs int) string {
	return fmt.Sprintf("%s: there are %d Jobs in it, and should be one", file, jobs)
}

func messageNothingIn(file, what string) string {
	return fmt.Sprintf("%s: there is no %s in it", file, what)
}

func messageNoPolicy(binding, policy string) string {
	return fmt.Sprintf("PodFailurePolicyBinding %s binds %s, which is not in the suite", binding, policy)
}

func messageNoNamespace(namespace, binding string) string {
	return fmt.Sprintf("namespace %s is not in the suite's policies, and PodFailurePolicyBinding %s selects by labels of it", namespace, binding)
}

const messageNoStatuses = "no container of the Pod has a status"

const hintOutside = "test with a directory that holds both, or with --load-restrictor LoadRestrictionsNone"

const messageNothingToTest = "a suite names policies, a job, or both"

func messageThreshold(threshold int) string {
	return fmt.Sprintf("%d is not a percentage from 0 to 100", threshold)
}

func messageNoKey(key string) string {
	return "is required, because the list is merged by " + key
}

// messageUnknown says that there is no such thing, and which is likely to be meant.
func messageUnknown(what, name string, known []string) string {
	text := fmt.Sprintf("there is no %s %q", what, name)
	switch near := manifest.Nearest(name, known); {
	case near != "":
		text += ", did you mean " + near + "?"
	case len(known) > 0 && len(known) <= maxListed:
		text += ", there are: " + strings.Join(known, ", ")
	}
	return text
}

// maxListed is how many names are few enough to tell.
const maxListed = 30

func messageTaken(name, by string) string { return fmt.Sprintf("the name %q is taken by %s", name, by) }

func messageCycle(names []string) string {
	return "comes from itself: " + strings.Join(names, " from ")
}

func messageCaseTwice(first manifest.Position) string {
	return fmt.Sprintf("the name is that of another case, at %s", first)
}

const (
	messageNoExpectation = "expects nothing: a case without an expectation cannot fail"
	messageBoth          = "is not for a case with pendingFor"
	messageAttempt       = "must be 1 or more"
	messageNegative      = "must not be negative"
	messageBeforeCreated = "must be a duration from 0s"
)

func messageAction(action string) string {
	return fmt.Sprintf("%q is not one of FailJob, FailIndex, Ignore, Count", action)
}

func messageAmbiguous(rule string, in []string) string {
	return fmt.Sprintf("rule %s is in %s: name the policy, as in %s/%s", rule, strings.Join(in, " and "), in[0], rule)
}

func messageNoBudget(rule string) string { return fmt.Sprintf("rule %s has no budget", rule) }

func messageSameRule(name string) string { return "is the same rule as " + name }

func errBuiltin(name string) error {
	var known []string
	for _, b := range Builtins {
		known = append(known, b.Name)
	}
	return errors.New(messageUnknown("scenario", name, known))
}

var errNothingToTest = errors.New("no PodFailurePolicy and no Job in the input: there is nothing to test")

func errSecondJob(name, first string) error {
	return fmt.Errorf("%s: there is a Job in %s already, and a suite is for one", name, first)
}

func errNothingFound(file string) error {
	return fmt.Errorf("%s: no case was found: every rule fails on every Pod that was tried", file)
}

func errNothingApplies(file string, job *batchv1.Job) error {
	return fmt.Errorf("%s: no case was found: no policy applies to Job %s/%s; give one with -f that bindings and match conditions select",
		file, job.Namespace, cmp.Or(job.Name, job.GenerateName))
}
