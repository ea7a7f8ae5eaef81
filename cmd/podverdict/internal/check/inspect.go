package check

import (
	"context"
	goruntime "runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/didyoumean"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// inspector finds problems in Jobs and custom policies. It inspects a Job twice: the Rego bundle evaluates the API server's constraints
// and the guardrails, and package compiler looks for misleading rules. If both find the same problem in the same place, it is reported
// once.
type inspector struct {
	// validator compiles the rules of the Rego bundle when the first Job is inspected. It is nil if no rule of the bundle is selected.
	validator func() (*rego.Validator, error)
	// choice decides which guardrails the bundle evaluates.
	choice choice
	// kubernetes is the Kubernetes version whose rules apply.
	kubernetes string
	// replaced holds the previous versions of the Jobs and CronJobs.
	replaced replaced
	// step is called after each Job, from several goroutines. It may be nil.
	step func()
}

// inspect returns the Jobs of the input with their findings, then the custom policies, the bindings and the JobSets, each in input order,
// one part of the input after another. It returns an error for invalid rules, and for a Job that the rules cannot judge.
func (in inspector) inspect(ctx context.Context, set *manifest.Set) ([]findings.Subject, error) {
	var all []findings.Subject
	for _, part := range set.Separate() {
		joinJobSets(part.Jobs)
		jobs, err := in.jobs(ctx, part.Jobs)
		if err != nil {
			return nil, err
		}
		subjects, err := inspectCustom(ctx, in.kubernetes, part, jobs)
		if err != nil {
			return nil, err
		}
		all = append(append(all, subjects...), jobSets(part.Jobs)...)
	}
	dropRepeated(all)
	return all, nil
}

// jobs inspects Jobs in parallel.
func (in inspector) jobs(ctx context.Context, jobs []manifest.Job) ([]findings.Subject, error) {
	subjects := make([]findings.Subject, len(jobs))
	workers, limited := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(goruntime.GOMAXPROCS(0), len(jobs)) { // few goroutines, so each stack grows deep only once
		workers.Go(func() (err error) {
			for i := next.Add(1) - 1; err == nil && i < int64(len(jobs)); i = next.Add(1) - 1 {
				subjects[i], err = in.job(limited, jobs[i])
				if in.step != nil {
					in.step()
				}
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return subjects, nil
}

// dropRepeated drops findings that an earlier subject has at the same place, because TrainJobs share their runtime.
func dropRepeated(subjects []findings.Subject) {
	type key struct {
		document              *manifest.Document
		check, field, message string
	}
	seen := map[key]bool{}
	for i := range subjects {
		subjects[i].Findings = slices.DeleteFunc(subjects[i].Findings, func(f findings.Finding) bool {
			k := key{f.Document, f.Check, f.Field, f.Message}
			repeated := seen[k]
			seen[k] = true
			return repeated
		})
	}
}

func (in inspector) job(ctx context.Context, job manifest.Job) (s findings.Subject, err error) {
	s = newSubject(job)
	if in.validator != nil {
		if s.Findings, err = in.validate(ctx, job); err != nil {
			return s, err
		}
	}
	kubernetes, err := compiler.ParseVersion(in.kubernetes)
	if err != nil {
		return s, err
	}
	var rules []findings.Finding
	for _, f := range compiler.Lint(job.Object, kubernetes) {
		found := compilerFinding(job.Origin, f)
		rule, _ := catalogue.Find(f.Check)
		found.Severity, found.Aliases = rule.Severity, rule.Aliases
		rules = append(rules, found)
	}
	s.Findings = append(in.merged(s.Findings, rules), runsAgain(job)...)
	s.Findings = slices.DeleteFunc(s.Findings, func(f findings.Finding) bool { return senseless(job, f.Check) })
	inFileOrder(s.Findings)
	return s, nil
}

// containerHint suggests the container of the Job that a rule may mean.
func containerHint(job *batchv1.Job, f findings.Finding) string {
	rules := job.Spec.PodFailurePolicy.Rules
	if f.Rule == nil || *f.Rule >= len(rules) || rules[*f.Rule].OnExitCodes == nil {
		return f.Hint
	}
	meant := didyoumean.Name(ptr.Deref(rules[*f.Rule].OnExitCodes.ContainerName, ""), containerNames(job))
	if meant == "" {
		return f.Hint
	}
	return didyoumean.DidYouMean(meant)
}

func containerNames(job *batchv1.Job) []string {
	var names []string
	for _, container := range slices.Concat(job.Spec.Template.Spec.InitContainers, job.Spec.Template.Spec.Containers) {
		names = append(names, container.Name)
	}
	return names
}

func (in inspector) validate(ctx context.Context, job manifest.Job) ([]findings.Finding, error) {
	validator, err := in.validator()
	if err != nil {
		return nil, err
	}
	origin := originOf(job)
	given, err := objectOf(job)
	if err != nil {
		return nil, origin.Error("", err.Error())
	}
	var old map[string]any
	if replaced := in.replaced.by(job); replaced != nil {
		if old, err = objectOf(*replaced); err != nil {
			return nil, origin.Error("", err.Error())
		}
	}
	found, err := validator.Validate(ctx, given, old)
	if err != nil {
		return nil, origin.Error("", err.Error())
	}
	findings := make([]findings.Finding, len(found))
	for i, f := range found {
		findings[i] = regoFinding(origin, f)
		if findings[i].Check == checkContainer {
			findings[i].Hint = containerHint(job.Object, findings[i])
		}
	}
	return findings, nil
}

// originOf returns the origin of the object that the rules validate. For kinds unknown to the API server, that is the generated Job.
func originOf(j manifest.Job) manifest.Origin {
	if j.CronJob == nil {
		return j.Origin
	}
	return j.Whole()
}

// objectOf returns the object that the API server would receive, in the form that a Validator accepts. It sets the kind, which items of a
// JobList may lack. A JobSet's Job gets a valid placeholder name, because its real name depends on the index, or for a runtime on the
// TrainJob.
func objectOf(j manifest.Job) (map[string]any, error) {
	if j.CronJob == nil {
		job := *j.Object
		job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
		if j.JobSet != nil && j.Template != "" {
			job.Name = "job"
		}
		return rego.Object(&job)
	}
	cronJob := *j.CronJob
	cronJob.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}
	return rego.Object(&cronJob)
}
