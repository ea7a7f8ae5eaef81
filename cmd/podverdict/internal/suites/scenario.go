package suites

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

// defaultScenario is the scenario of cases that do not name one.
const defaultScenario = "failed"

// buildScenarios builds the Pods of all scenarios for the suite's Job.
func (s *Suite) buildScenarios() error {
	b := builder{suite: s, job: s.base.job, built: map[string]*corev1.Pod{}}
	for _, name := range scenarios.Names() {
		b.pod(name, "")
	}
	maps.Copy(b.built, s.pods)
	for _, name := range slices.Sorted(maps.Keys(s.document.Scenarios)) {
		b.pod(name, "")
	}
	s.scenarios = b.built
	return b.error()
}

// builder builds the Pods of scenarios for one Job.
type builder struct {
	suite *Suite
	job   *batchv1.Job
	built map[string]*corev1.Pod
	// under is the chain of scenarios being built, each based on the next.
	under []string
	errs  []error
}

func (b *builder) fail(field, message string) {
	b.errs = append(b.errs, b.suite.origin.Error(field, message))
}

// error joins the recorded errors.
func (b *builder) error() error { return errors.Join(b.errs...) }

// pod returns the Pod of a scenario, which must not be modified. The field is the position reported in errors. If the scenario does
// not exist, pod records an error and returns nil.
func (b *builder) pod(name, field string) *corev1.Pod {
	if pod := b.built[name]; pod != nil {
		return pod
	}
	if known := scenarios.Find(name); known != nil {
		pod := known.Pod(b.job, b.suite.rulebook.gates)
		b.built[name] = pod
		return pod
	}
	if pod := b.suite.pods[name]; pod != nil {
		return pod
	}
	written, ok := b.suite.document.Scenarios[name]
	switch {
	case !ok:
		b.fail(field, cli.UnknownName("scenario", name, b.suite.scenarioNames()))
		return nil
	case slices.Contains(b.under, name):
		b.fail(field, "comes from itself: "+strings.Join(append(b.under, name), " from "))
		return nil
	}
	b.under = append(b.under, name)
	defer func() { b.under = b.under[:len(b.under)-1] }()
	at := manifest.FieldOfKey("scenarios", name)
	tree, _ := b.suite.tree["scenarios"].(map[string]any)
	pod := b.build(&written, tree[name], at)
	b.built[name] = pod
	return pod
}

// build builds the Pod of a scenario. If this fails, it records an error and returns nil.
func (b *builder) build(written *scenario, tree any, field string) *corev1.Pod {
	base := b.pod(cmp.Or(written.From, defaultScenario), field+".from")
	if base == nil {
		return nil
	}
	pod := base.DeepCopy()
	b.containers(pod, written, field)
	members, _ := tree.(map[string]any)
	delta{members["pod"], field + ".pod"}.apply(pod, b.fail)
	return pod
}

// node returns the node of a case's Pod: the scenario's node with the changes of the case. It returns nil if the node was deleted.
func (b *builder) node(written *scenario, pod *corev1.Pod, tree map[string]any, field string) *corev1.Node {
	change, given := tree["node"]
	node := b.scenarioNode(*written, pod)
	switch {
	case pod.Spec.NodeName == "" || given && change == nil || !given && node == nil:
		return nil
	case node == nil:
		node = scenarios.Node(pod.Spec.NodeName, pod.CreationTimestamp)
	}
	node.Name = pod.Spec.NodeName
	delta{change, field + ".node"}.apply(node, b.fail)
	return node
}

// scenarioNode returns the node of the built-in scenario on which a scenario is based. Nodes of Pods read from files are ready.
func (b *builder) scenarioNode(written scenario, pod *corev1.Pod) *corev1.Node {
	for {
		name := cmp.Or(written.From, defaultScenario)
		if known := scenarios.Find(name); known != nil {
			return known.Node(b.job)
		}
		from, found := b.suite.document.Scenarios[name]
		if !found {
			return scenarios.Node(pod.Spec.NodeName, pod.CreationTimestamp)
		}
		written = from
	}
}

// scenarioNames returns the names of all scenarios, starting with the suite's own.
func (s *Suite) scenarioNames() []string {
	names := slices.Sorted(maps.Keys(s.document.Scenarios))
	names = append(names, slices.Sorted(maps.Keys(s.pods))...)
	return append(names, scenarios.Names()...)
}

func (b *builder) containers(pod *corev1.Pod, written *scenario, field string) {
	if written.ExitCode != nil {
		if len(pod.Status.ContainerStatuses) == 0 {
			b.fail(field+".exitCode", "no container of the Pod has a status")
			return
		}
		containerEnds{ExitCode: written.ExitCode}.apply(&pod.Status.ContainerStatuses[0])
	}
	exits := written.ExitCode != nil
	for _, name := range slices.Sorted(maps.Keys(written.Containers)) {
		status := statusOf(pod, name)
		if status == nil {
			b.fail(manifest.FieldOfKey(field+".containers", name), cli.UnknownName("status of a container", name, statusNames(pod)))
			continue
		}
		written.Containers[name].apply(status)
		exits = exits || written.Containers[name].ExitCode != nil
	}
	if exits {
		scenarios.Settle(pod, b.suite.rulebook.gates)
	}
}

func statusOf(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		if i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == name }); i >= 0 {
			return &statuses[i]
		}
	}
	return nil
}

func statusNames(pod *corev1.Pod) []string {
	var names []string
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		names = append(names, s.Name)
	}
	return names
}

// apply changes a container status. A container that has terminated, or is given an exit code, becomes terminated. Any other
// becomes waiting.
func (e containerEnds) apply(s *corev1.ContainerStatus) {
	switch {
	case e.ExitCode != nil:
		s.State, s.Ready, s.Started = scenarios.Exited(*e.ExitCode), false, new(false)
	case s.State.Terminated == nil && s.State.Waiting == nil:
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
		s.Ready, s.Started = false, new(false)
	}
	var reason, message *string
	if ended := s.State.Terminated; ended != nil {
		reason, message = &ended.Reason, &ended.Message
	} else {
		reason, message = &s.State.Waiting.Reason, &s.State.Waiting.Message
	}
	if e.Reason != nil {
		*reason = *e.Reason
	}
	if e.Message != nil {
		*message = *e.Message
	}
}
