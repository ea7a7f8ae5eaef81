package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Kind is a kind of object to read, named as in kubectl.
type Kind string

// The supported kinds.
const (
	Job     Kind = "job"
	CronJob Kind = "cronjob"
	Pod     Kind = "pod"
	JobSet  Kind = "jobset"
)

// kinds maps the names that kubectl accepts to kinds.
var kinds = map[string]Kind{
	"job": Job, "jobs": Job, "job.batch": Job, "jobs.batch": Job, "jobs.v1.batch": Job,
	"cronjob": CronJob, "cronjobs": CronJob, "cj": CronJob, "cronjob.batch": CronJob, "cronjobs.batch": CronJob, "cronjobs.v1.batch": CronJob,
	"jobset": JobSet, "jobsets": JobSet, "jobset.jobset.x-k8s.io": JobSet, "jobsets.jobset.x-k8s.io": JobSet, "jobsets.v1alpha2.jobset.x-k8s.io": JobSet,
	"pod": Pod, "pods": Pod, "po": Pod,
}

// plural returns the kind's name in API paths.
func (k Kind) plural() string { return string(k) + "s" }

// resource returns the kind's name as kubectl auth can-i accepts it.
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

// Target is an object to read, or all objects of a kind if Name is "".
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

// ParseTargets parses arguments in the syntax of kubectl get: TYPE/NAME..., or TYPE[,TYPE...] [NAME...]. It rejects types that are not
// allowed, and removes duplicate targets.
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

// parseKind returns the kind with the given name. If the name is the only argument, it may be the name of an object, and the error says how
// to write that.
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

// KindOf returns the kind for a type name that ParseTargets accepts. The second result is false for other names.
func KindOf(name string, allowed ...Kind) (Kind, bool) {
	kind, err := parseKind(name, allowed, false)
	return kind, err == nil
}
