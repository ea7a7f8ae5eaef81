package suites

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

func caseField(i int) string { return "cases[" + strconv.Itoa(i) + "]" }

// load reads the files that a suite refers to, and compiles its policies.
func (l *Loader) load(ctx context.Context, s *Suite) error {
	environment, err := l.environment(cmp.Or(s.document.Kubernetes, l.Kubernetes))
	if err != nil {
		return s.origin.Error("kubernetes", err.Error())
	}
	set, err := s.readPolicies(ctx)
	if err != nil {
		return err
	}
	var errs []error
	s.rulebook, err = newRulebook(set, environment)
	errs = append(errs, err, s.readJob(ctx), s.readPods(ctx))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if s.base, err = s.rulebook.judge(ctx, s.job); err != nil {
		return err
	}
	return s.buildScenarios()
}

// environment returns the cached environment of a Kubernetes version, creating it on first use.
func (l *Loader) environment(kubernetes string) (*compiler.Environment, error) {
	if known := l.environments[kubernetes]; known != nil {
		return known, nil
	}
	environment, err := compiler.NewEnvironment(kubernetes)
	if err != nil {
		return nil, err
	}
	if l.environments == nil {
		l.environments = map[string]*compiler.Environment{}
	}
	l.environments[kubernetes] = environment
	return environment, nil
}

// readPolicies reads policies, bindings and Namespaces, and ignores other objects in the files.
func (s *Suite) readPolicies(ctx context.Context) (*manifest.Set, error) {
	all := &manifest.Set{}
	var errs []error
	for i, name := range s.document.Policies {
		field := fmt.Sprintf("policies[%d]", i)
		policies := func(set *manifest.Set) int { return len(set.Policies) + len(set.Bindings) + len(set.Namespaces) }
		set, err := s.readFile(ctx, field, name, policies)
		switch {
		case err != nil:
			errs = append(errs, err)
		case policies(set) == 0:
			errs = append(errs, s.origin.Error(field, messageNothingIn(name, "policy")))
		}
		if set != nil {
			all.Policies = append(all.Policies, set.Policies...)
			all.Bindings = append(all.Bindings, set.Bindings...)
			all.Namespaces = append(all.Namespaces, set.Namespaces...)
		}
	}
	errs = append(errs, all.CheckPolicies(), all.ValidatePolicies())
	if s.document.IgnoreBindings {
		all.Bindings = nil
	}
	return all, errors.Join(errs...)
}

// readFile reads a file that a field of the suite refers to. Invalid documents are skipped, unless verdicts depend on them or no
// wanted object is left.
func (s *Suite) readFile(ctx context.Context, field, name string, wanted func(*manifest.Set) int) (*manifest.Set, error) {
	options := s.files
	options.Filenames = []string{s.path(name)}
	set, err := manifest.Read(ctx, options)
	if err == nil {
		return set, nil
	}
	if manifest.OnlyDocuments(err) {
		if refused := set.CheckUnread(err); refused != nil || wanted(set) == 0 {
			return nil, cmp.Or(refused, err)
		}
		s.unread = errors.Join(s.unread, err)
		return set, nil
	}
	refused := s.origin.Error(field, err.Error())
	if errors.Is(err, manifest.ErrOutside) {
		refused.Hint = "test with a directory that holds both, or with --load-restrictor LoadRestrictionsNone"
	}
	return nil, refused
}

func (s *Suite) readJob(ctx context.Context) error {
	name := s.document.Job
	if name == "" {
		s.job = manifest.Job{Object: scenarios.PlainJob(), Origin: s.origin}
		return nil
	}
	set, err := s.readFile(ctx, "job", name, func(set *manifest.Set) int { return len(set.Jobs) })
	if err != nil {
		return err
	}
	if len(set.Jobs) != 1 {
		return s.origin.Error("job", fmt.Sprintf("%s: there are %d Jobs in it, and should be one", name, len(set.Jobs)))
	}
	s.job = set.Jobs[0]
	return nil
}

func (s *Suite) readPods(ctx context.Context) error {
	s.pods = map[string]*corev1.Pod{}
	var errs []error
	for i, name := range s.document.Pods {
		field := fmt.Sprintf("pods[%d]", i)
		set, err := s.readFile(ctx, field, name, func(set *manifest.Set) int { return len(set.Pods) })
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(set.Pods) == 0 {
			errs = append(errs, s.origin.Error(field, messageNothingIn(name, "Pod")))
		}
		for _, pod := range set.Pods {
			name := cmp.Or(pod.Object.Name, pod.Object.GenerateName)
			if by := s.taken(name); by != "" {
				errs = append(errs, pod.Origin.Error("metadata.name", messageTaken(name, by)))
				continue
			}
			s.pods[name] = pod.Object
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.document.Scenarios)) {
		if by := s.taken(name); by != "" {
			errs = append(errs, s.origin.Error(manifest.FieldOfKey("scenarios", name), messageTaken(name, by)))
		}
	}
	return errors.Join(errs...)
}

// taken describes what already uses a name. It returns "" if the name is free.
func (s *Suite) taken(name string) string {
	switch {
	case scenarios.Find(name) != nil:
		return "a scenario that is built in"
	case s.pods[name] != nil:
		return "a Pod of the suite"
	}
	return ""
}
