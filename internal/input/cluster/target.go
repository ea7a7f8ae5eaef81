package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Kind is a kind of object to ask for, by kubectl's name for it.
type Kind string

// The kinds that there are.
const (
	Job     Kind = "job"
	CronJob Kind = "cronjob"
	Pod     Kind = "pod"
	JobSet  Kind = "jobset"
)

// kinds are the names that kubectl takes for each kind.
var kinds = map[string]Kind{
	"job": Job, "jobs": Job, "job.batch": Job, "jobs.batch": Job, "jobs.v1.batch": Job,
	"cronjob": CronJob, "cronjobs": CronJob, "cj": CronJob, "cronjob.batch": CronJob, "cronjobs.batch": CronJob, "cronjobs.v1.batch": CronJob,
	"jobset": JobSet, "jobsets": JobSet, "jobset.jobset.x-k8s.io": JobSet, "jobsets.jobset.x-k8s.io": JobSet, "jobsets.v1alpha2.jobset.x-k8s.io": JobSet,
	"pod": Pod, "pods": Pod, "po": Pod,
}

// plural returns the kind's name in the API's paths.
func (k Kind) plural() string { return string(k) + "s" }

// resource returns the kind's name in requests, as kubectl auth takes it.
func (k Kind) resource() string {
	switch k {
	case Pod:
		return k.plural()
	case JobSet:
		return k.plural() + ".jobset.x-k8s.io"
	default:
		return k.plural() + ".batch"
	}
}

// Target is an object to ask for, or all objects of a kind when Name is "".
type Target struct {
	Kind Kind
	Name string
}

func (t Target) String() string {
	if t.Name == "" {
		return t.Kind.plural()
	}
	return string(t.Kind) + "/" + t.Name
}

// ParseTargets reads arguments as kubectl get does: TYPE/NAME..., or TYPE[,TYPE...] [NAME...]. Types other than those
// allowed are errors.
//
// Targets that are given twice are returned once.
func ParseTargets(args []string, allowed ...Kind) ([]Target, error) {
	if len(args) == 0 {
		return nil, nil
	}
	parse := parseTyped
	if strings.Contains(args[0], "/") {
		parse = parseNamed
	}
	targets, err := parse(args, allowed)
	if err != nil {
		return nil, err
	}
	seen := map[Target]bool{}
	return slices.DeleteFunc(targets, func(t Target) bool {
		twice := seen[t]
		seen[t] = true
		return twice
	}), nil
}

func parseTyped(args []string, allowed []Kind) ([]Target, error) {
	var targets []Target
	for name := range strings.SplitSeq(args[0], ",") {
		kind, err := parseKind(name, allowed, len(args) == 1)
		if err != nil {
			return nil, err
		}
		if len(args) == 1 {
			targets = append(targets, Target{Kind: kind})
		}
		for _, object := range args[1:] {
			if object == "" || strings.Contains(object, "/") {
				return nil, fmt.Errorf("arguments %q and %q: give TYPE NAME..., or TYPE/NAME for each", args[0], object)
			}
			targets = append(targets, Target{kind, object})
		}
	}
	return targets, nil
}

func parseNamed(args []string, allowed []Kind) ([]Target, error) {
	targets := make([]Target, len(args))
	for i, arg := range args {
		name, object, ok := strings.Cut(arg, "/")
		if !ok || object == "" || strings.Contains(object, "/") {
			return nil, fmt.Errorf("argument %q: must be TYPE/NAME, as the first one is", arg)
		}
		kind, err := parseKind(name, allowed, false)
		if err != nil {
			return nil, err
		}
		targets[i] = Target{kind, object}
	}
	return targets, nil
}

// parseKind finds a kind by its name. A name that stands alone may have been meant as that of an object.
func parseKind(name string, allowed []Kind, alone bool) (Kind, error) {
	if kind, known := kinds[strings.ToLower(name)]; known && slices.Contains(allowed, kind) {
		return kind, nil
	}
	names, spelt := make([]string, len(allowed)), []string{}
	for i, kind := range allowed {
		names[i] = string(kind)
	}
	for name, kind := range kinds {
		if slices.Contains(allowed, kind) {
			spelt = append(spelt, name)
		}
	}
	if near := didyoumean.Name(name, spelt); near != "" {
		return "", fmt.Errorf("no type %q, did you mean %s?", name, near)
	}
	hint := ""
	if alone && name != "" {
		hint = "; a name stands behind its type: job/" + name
	}
	return "", fmt.Errorf("type %q is not read here, there are %s%s", name, strings.Join(names, ", "), hint)
}

// KindOf returns the kind of a name that ParseTargets takes, or false.
func KindOf(name string, allowed ...Kind) (Kind, bool) {
	kind, err := parseKind(name, allowed, false)
	return kind, err == nil
}
