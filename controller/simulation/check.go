package simulation

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/kube/podstatus"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// parsedScript is a parsed Script.
type parsedScript struct {
	nodes         []string
	rules         []rule
	interventions []intervention
}

type rule struct {
	indexes, attempts         selection
	probability               float64
	pending, ready, run, stop span
	stopCode                  int32
	startupProblem            startupProblem
	needs                     int64
	outcome                   outcome
}

type intervention struct {
	Intervention

	at            span
	delete, evict selection
}

// maxSize is the maximum number of concurrent pods, and of nodes, of a simulation.
const maxSize = 100_000

// reader parses a Script for a Job, and collects its errors.
type reader struct {
	job    *batchv1.Job
	errors field.ErrorList
}

func (r *reader) read(s Script) parsedScript {
	r.oneOf("apiVersion", s.APIVersion, APIVersion)
	r.oneOf("kind", s.Kind, Kind)
	if s.Nodes < 0 || s.Nodes > maxSize {
		r.invalid(field.NewPath("nodes"), s.Nodes, detailNodes)
		s.Nodes = 0
	}
	var p parsedScript
	for i := range max(1, s.Nodes) {
		p.nodes = append(p.nodes, "node-"+strconv.Itoa(i))
	}
	for i, given := range s.Pods {
		p.rules = append(p.rules, r.rule(field.NewPath("pods").Index(i), given))
	}
	for i, given := range s.Events {
		p.interventions = append(p.interventions, r.intervention(field.NewPath("events").Index(i), given, p.nodes))
	}
	r.scaling(p.interventions)
	return p
}

func (r *reader) invalid(at *field.Path, value any, detail string) {
	r.errors = append(r.errors, field.Invalid(at, value, detail))
}

// oneOf validates a header field, if it is given.
func (r *reader) oneOf(name, given, known string) {
	if given != "" && given != known {
		r.errors = append(r.errors, field.NotSupported(field.NewPath(name), given, []string{known}))
	}
}

func (r *reader) rule(at *field.Path, given Rule) rule {
	read := rule{
		indexes: r.selection(at.Child("index"), given.Index), attempts: r.selection(at.Child("attempt"), given.Attempt),
		probability:    ptr.Deref(given.Probability, 1),
		pending:        r.span(at.Child("pending"), given.Pending, 1),
		ready:          r.span(at.Child("ready"), given.Ready, 0),
		run:            r.span(at.Child("run"), given.Run, 30),
		stop:           r.span(at.Child("stop"), given.Stop, 1),
		stopCode:       ptr.Deref(given.StopExitCode, podstatus.CodeTerminated),
		startupProblem: startupProblem{given.Waiting, given.Unschedulable},
	}
	if !(read.probability >= 0 && read.probability <= 1) {
		r.invalid(at.Child("probability"), read.probability, detailBounds)
	}
	if given.Attempt != nil && read.attempts.has(0) {
		r.invalid(at.Child("attempt"), given.Attempt.String(), detailAttempt)
	}
	if read.stopCode < 0 || read.stopCode > 255 {
		r.invalid(at.Child("stopExitCode"), read.stopCode, detailCode)
	}
	if given.Job != "" || given.Restart != nil {
		r.errors = append(r.errors, field.Forbidden(at, detailJobSets))
	}
	read.needs, read.outcome = r.needs(at, given), r.outcome(at, given)
	r.checkStartupProblem(at, given, read)
	return read
}

func (r *reader) outcome(at *field.Path, given Rule) outcome {
	ways := 0
	for _, way := range []bool{given.ExitCode != nil, given.ExitCodes != nil, given.OOM} {
		if way {
			ways++
		}
	}
	if ways > 1 {
		r.errors = append(r.errors, field.Forbidden(at, detailFails))
	}
	if given.Condition != "" && len(validation.IsQualifiedName(given.Condition)) > 0 {
		r.invalid(at.Child("condition"), given.Condition, detailCondition)
	}
	r.containers(at.Child("exitCodes"), given.ExitCodes)
	return outcomeOf(given, r.job)
}

// needs returns the amount of memory in bytes that the first container needs.
func (r *reader) needs(at *field.Path, given Rule) int64 {
	if given.Needs == "" {
		return 0
	}
	if given.OOM {
		r.errors = append(r.errors, field.Forbidden(at.Child("needs"), detailAlways))
	}
	needs, err := resource.ParseQuantity(given.Needs)
	if err != nil || needs.Sign() <= 0 || strings.HasSuffix(given.Needs, "m") { // 900m is less than a byte
		r.invalid(at.Child("needs"), given.Needs, detailMemory)
	}
	return needs.Value()
}

// containers validates that names are containers of the template.
func (r *reader) containers(at *field.Path, codes map[string]int32) {
	var names []string
	failing := map[string]bool{}
	for _, c := range r.job.Spec.Template.Spec.InitContainers {
		names = append(names, c.Name)
		failing[c.Name] = !restart.IsSidecar(&c, &r.job.Spec.Template.Spec)
	}
	for _, c := range r.job.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(codes)) {
		switch {
		case !slices.Contains(names, name):
			r.errors = append(r.errors, field.NotSupported(at.Key(name), name, names))
		case failing[name] && codes[name] != 0 && len(codes) > 1:
			r.errors = append(r.errors, field.Forbidden(at.Key(name), detailInitFailed))
		}
	}
}

func (r *reader) intervention(at *field.Path, given Intervention, nodes []string) intervention {
	read := intervention{
		Intervention: given,
		at:           r.span(at.Child("at"), given.At, forever),
		delete:       r.selection(at.Child("delete"), given.Delete), evict: r.selection(at.Child("evict"), given.Evict),
	}
	switch {
	case given.At == "":
		r.errors = append(r.errors, field.Required(at.Child("at"), ""))
	case read.at.most == forever:
		r.invalid(at.Child("at"), given.At, detailForever)
	}
	if given == (Intervention{At: given.At}) {
		r.errors = append(r.errors, field.Required(at, detailNothing))
	}
	named := map[string]string{
		"drain": given.Drain, "lose": given.Lose, "outOfService": given.OutOfService, "restore": given.Restore,
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if node := named[name]; node != "" && !slices.Contains(nodes, node) {
			r.errors = append(r.errors, field.NotSupported(at.Child(name), node, nodes[:min(len(nodes), 10)]))
		}
	}
	if parallelism := ptr.Deref(given.Parallelism, 0); parallelism < 0 || parallelism > maxSize {
		r.invalid(at.Child("parallelism"), parallelism, detailParallelism)
	}
	return read
}

// scaling validates changes of completions by the API server's rule for elastic Jobs (KEP-3715).
func (r *reader) scaling(interventions []intervention) {
	elastic := *r.job.Spec.CompletionMode == batchv1.IndexedCompletion && r.job.Spec.Completions != nil &&
		*r.job.Spec.Completions == *r.job.Spec.Parallelism
	for i, change := range interventions {
		if change.Completions == nil {
			continue
		}
		if !elastic || change.Parallelism == nil || *change.Parallelism != *change.Completions {
			r.invalid(field.NewPath("events").Index(i).Child("completions"), *change.Completions, detailFixed)
		}
	}
}

func (r *reader) span(at *field.Path, text string, absent int64) span {
	read, err := parseSpan(text, absent)
	if err != nil {
		r.invalid(at, text, err.Error())
	}
	return read
}

func (r *reader) selection(at *field.Path, given *intstr.IntOrString) selection {
	read, err := parseSelection(given)
	if err != nil {
		r.invalid(at, given.String(), err.Error())
	}
	return read
}
