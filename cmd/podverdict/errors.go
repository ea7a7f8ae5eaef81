package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

const (
	exitFine     = 0
	exitFindings = 1
	exitError    = 2
)

// errFindings ends a verb that did its work and found something: the result says what.
var errFindings = errors.New("findings")

// errNoJobs ends a verb that was given no Job.
var errNoJobs = errors.New("no Job in the input")

// errNoPolicies ends a verb that was given neither Jobs nor policies.
var errNoPolicies = errors.New("no Job and no PodFailurePolicy in the input")

// errNoPods ends a verb that was given no Pods, and no List that says that there are none.
var errNoPods = errors.New("no Pods in the input: give them with -f, beside the Job")

// errNoSource ends a verb that was told nothing to read.
var errNoSource = errors.New("no input: give files with -f, or what to read from the cluster: job/NAME, jobs for all of a namespace")

var (
	errRateWithScript = errors.New("--failure-rate is for simulations without a --script")
	errRate           = errors.New("--failure-rate must be from 0 to 1")
	errUntil          = errors.New("--until must be a time to come")
)

// errOneJob ends a verb that is for one Job.
func errOneJob(jobs int) error {
	return fmt.Errorf("there are %d Jobs in the input, and should be one", jobs)
}

func errStdinTwice(flag string) error {
	return fmt.Errorf("-f - and %s -: standard input can be read only once", flag)
}

func errFlagWithFiles(flag string) error {
	return fmt.Errorf("--%s is for what is read from a cluster, not for files given with -f", flag)
}

func errNotOnePolicy(file string, jobs, policies int) error {
	return fmt.Errorf("--policy %s: there are %d Jobs and %d PodFailurePolicies in it, and should be one or the other", file, jobs, policies)
}

var errNow = errors.New("must be a time as 2026-11-22T06:00:00Z")

// messageNothing says that a cluster has no such objects of what was asked for: a Job that is there may have no Pods.
func messageNothing(objects string, q cluster.Query, where string) string {
	kinds := make([]string, len(q.Targets))
	for i, target := range q.Targets {
		kinds[i] = target.String()
	}
	text := fmt.Sprintf("no %s found for %s in %s", objects, strings.Join(kinds, ", "), where)
	if q.Selector != "" {
		text += " with labels " + q.Selector
	}
	return text
}

var (
	errNothingToGenerate = errors.New("generate what? there are: bundle, gatekeeper, install, map, vap")
	errNoTarget          = errors.New("no output: give a file, a folder or oci://REGISTRY/REPOSITORY:TAG with -o")
)

var errKeyWithoutBundle = errors.New("--verification-key is for a --bundle: the built-in rules are not signed")

var errOldWithoutFiles = errors.New("--old is for files given with -f")

func errIn(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

func messageOldTwice(id identity, first manifest.Position) string {
	return fmt.Sprintf("%s %s is given twice with --old, first at %s", id.kind, id.name, first)
}

func errNoPairs(old []string) error {
	return fmt.Errorf("--old %s: none of the objects given with -f is in there, by kind, namespace and name", strings.Join(old, ","))
}

func errUsage(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nsee %s --help", err, cmd.CommandPath())
}

func errArgument(arg string, files bool) error {
	if files {
		return fmt.Errorf("unexpected argument %q: files are given with -f", arg)
	}
	return fmt.Errorf("unexpected argument %q", arg)
}

func errFormat(formats []string) error {
	return fmt.Errorf("no such format, there are %s", strings.Join(formats, ", "))
}

// stdoutError is errStdout of an error; nil stays nil.
func stdoutError(err error) error {
	if err == nil {
		return nil
	}
	return errStdout(err)
}

func errStdout(err error) error { return fmt.Errorf("standard output: %w", err) }

func errNoPodNamed(name string) error {
	return fmt.Errorf("no pod %q in the input", name)
}

func errEngine(name string, engines []string) error {
	return fmt.Errorf("no engine %q, there are %s", name, strings.Join(engines, ", "))
}

func errNamespaceNotGiven(name string) error {
	return fmt.Errorf("namespace %s is not in the input", name)
}

func messageNotInForce(policy string, err error) string {
	return fmt.Sprintf("PodFailurePolicy %s is not in force, because it does not compile: %v", policy, err)
}

func messageLastGood(p *v1alpha1.PodFailurePolicy, err error) string {
	return fmt.Sprintf("PodFailurePolicy %s does not compile, generation %d stays in force: %v", p.Name, p.Status.LastGood.Generation, err)
}

func messageNoPolicy(b *v1alpha1.PodFailurePolicyBinding) string {
	return fmt.Sprintf("PodFailurePolicyBinding %s binds nothing: no PodFailurePolicy %q is there", b.Name, b.Spec.PolicyName)
}

func messageNoLabels(binding string, err error) string {
	return fmt.Sprintf("PodFailurePolicyBinding %s selects by labels of the namespace, but %v: it is taken to have none but %s",
		binding, err, corev1.LabelMetadataName)
}

func messageProblem(job *batchv1.Job, err error) string {
	return fmt.Sprintf("not in force for Job %s/%s: %v", job.Namespace, cmp.Or(job.Name, job.GenerateName), err)
}

// maxReported is how many errors are written out: a file of ten thousand bad Pods has one problem.
const maxReported = 20

// complain writes what went wrong, one paragraph for each thing, and returns the exit code.
func complain(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, syscall.EPIPE):
		return exitError // whoever read the result has left, and knows
	}
	all := manifest.EachError(err)
	for _, err := range all[:min(len(all), maxReported)] {
		text := "error: " + err.Error()
		if placed, ok := errors.AsType[*manifest.Error](err); ok {
			if excerpt := placed.Excerpt(); excerpt != "" {
				text += "\n" + excerpt
			}
			if placed.Hint != "" {
				text += "\nhint: " + placed.Hint
			}
		}
		paragraph(stderr, text)
	}
	if more := len(all) - maxReported; more > 0 {
		fmt.Fprintf(stderr, "error: %d more errors\n", more)
	}
	return exitError
}

// paragraph writes a message. The lines after its first are indented: the names in a message are anybody's, and none of its
// lines may pass for another message.
func paragraph(stderr io.Writer, message string) {
	message = strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n  ")
	fmt.Fprintln(stderr, strings.ReplaceAll(message, "\n  \n", "\n\n"))
}

var (
	errObjectWithoutParameters = errors.New("--parameters-object is for --parameters configmap or crd: there is no object otherwise")
	errCRDAndPath              = errors.New("--crd and --at belong together: a kind, and where the Jobs are in it")
	errKindsWithCRD            = errors.New("--for is for Jobs and CronJobs, --crd for another kind: give one or the other")
)

func errFlag(name string, err error) error { return fmt.Errorf("--%s: %w", name, err) }

func errChoice(flag, value string, choices ...string) error {
	return fmt.Errorf("--%s %s: not one of %s", flag, value, strings.Join(choices, ", "))
}

func errNoNamespaceName(object string) error {
	return fmt.Errorf("--parameters-object %s: not NAMESPACE/NAME of a ConfigMap", object)
}

func errNoCondition(text string) error { return fmt.Errorf("%q: not NAME=CEL", text) }

func errConditionTwice(name string) error { return fmt.Errorf("%s is given twice", name) }

func errNoRuleApplies(rules []string) error {
	return fmt.Errorf("--rules %s: none of them is enabled and for the kinds of objects", cmp.Or(strings.Join(rules, ","), `""`))
}

var errNoImage = errors.New("give the controller's image: none is published yet")

var errNotConfirmed = errors.New("nothing was done")

var errNoConsent = errors.New("standard input is not a terminal: give --yes, or --dry-run to see what would be removed")

var errNamespaceWithAll = errors.New("--namespace and --all-namespaces: give one or the other")

func errAtWork(live error) error {
	return fmt.Errorf("%w: it lets go of these Pods itself. --force does it all the same", live)
}

func errNotStopped(err error) error {
	return fmt.Errorf("the controller has not stopped, so its Pods were not touched and no right was taken away: %w", err)
}

func errObjectName(name, wrong string) error { return fmt.Errorf("%q: %s", name, wrong) }

func errExempt(name string) error {
	return fmt.Errorf("--exempt-namespaces: %q: must be the name of a namespace, or its beginning or end: kube-*, *-system", name)
}

var errNoDefaults = errors.New("no defaults: give a file with -f")

func messageNoPart(apiVersion, kind string) string {
	return fmt.Sprintf("the defaults are those of a batch/v1 Job, not of %q %q", apiVersion, kind)
}

func messageNoDefault(allowed []string) string {
	return "cannot be a default, only " + strings.Join(allowed, ", ") + " can"
}

func errFlagOfGuardrails(name string) error {
	return fmt.Errorf("--%s is for guardrails and constraints, not for custom policies given with -f", name)
}

var errNoCustomPolicy = errors.New("no PodFailurePolicy in the input")

func messageNotLookedAt(jobs, pods int) string {
	return fmt.Sprintf("Jobs and Pods in the input are not looked at: %d and %d", jobs, pods)
}

func messageBindingToAll(policy string) string {
	return fmt.Sprintf("no PodFailurePolicyBinding of PodFailurePolicy %s in the input: all Jobs are held to what it requires", policy)
}

func messageNameOfBinding(name string) string {
	return fmt.Sprintf("nothing binds this policy, and PodFailurePolicyBinding %s of another one takes its name for admission policies", name)
}

func messageNothingRequired(policy string) string {
	return fmt.Sprintf("PodFailurePolicy %s requires nothing of Jobs", policy)
}

var errPercentage = errors.New("must be a percentage from 0 to 100")

var (
	errNoPolicyFiles = errors.New("no policies: give their files with -f")
	errDraftFails    = errors.New("it does not pass")
)

var errOutputOfList = errors.New("--output is for the Pod of a scenario: give its name")

func errNotAFile(name string) error { return fmt.Errorf("-f %s: is not a file", name) }

func errUnwritable(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // that of a file in between
	}
	return fmt.Errorf("%s: cannot write: %w", name, err)
}

func errSuiteThere(name string) error {
	return fmt.Errorf("%s: there is a suite already; --force replaces it", name)
}

func messageDraftOutside(file string) string {
	return "the suite names " + file + ": test it with a directory that holds both, as in podverdict test ."
}

func errDraft(err error) error { return fmt.Errorf("the suite was not written: %w", err) }
