package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/runtime"
)

// The names in the base pod of the vectors (conformance/vectors/base.yaml).
const (
	baseNamespace = "default"
	baseName      = "p"
	baseContainer = "main"
	baseExitCode  = 1
)

// FormatVector writes a vector that asks the question and wants the verdict. Its
// sentence is for the committer to write.
func FormatVector(r conformance.Request, want runtime.Verdict) (string, error) {
	var b strings.Builder
	b.WriteString("Say here what must be true, in one sentence.\n#kep: KEP-3329 JobSpec API\n")
	fmt.Fprintf(&b, "#features: %s\n", featureList(r))
	if r.Kubernetes != "" {
		fmt.Fprintf(&b, "#kubernetes: %s\n", r.Kubernetes)
	}
	if r.Policy == nil {
		b.WriteString("#policy: nil\n")
	} else {
		rules, err := yaml.Marshal(r.Policy.Rules)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "-- rules.yaml --\n%s", rules)
	}
	b.WriteString("-- pod.patch --\n")
	if err := writePatch(&b, r.Pod); err != nil {
		return "", err
	}
	b.WriteString("-- verdict.yaml --\n")
	if err := writeVerdict(&b, want); err != nil {
		return "", err
	}
	return b.String(), nil
}

// writeVerdict writes the fields of the verdict's JSON form in the contract's
// order, a line each.
func writeVerdict(b *strings.Builder, v runtime.Verdict) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for _, name := range []string{
		"terminal", "matched", "action", "counted", "rule", "ruleName", "container", "exitCode", "condition", "message", "error",
	} {
		if value, ok := fields[name]; ok {
			fmt.Fprintf(b, "%s: %s\n", name, value)
		}
	}
	return nil
}

// featureList returns the value of the header "#features".
func featureList(r conformance.Request) string {
	var names []string
	for _, f := range vectors.Uses(r) {
		names = append(names, string(f))
	}
	if r.Policy != nil {
		if _, err := compiler.NewPolicy(r.Policy); err != nil {
			names = append(names, string(vectors.FeatureIllegalPolicy))
		}
	}
	return strings.Join(names, ", ")
}

// change is a line of a vector's patch: a value to put at a path.
type change struct {
	path  string
	value any
}

// writePatch writes the changes that make the pod of the base pod; JSON is YAML in
// flow style. A line that would change nothing is an error in a vector.
func writePatch(b *strings.Builder, pod *corev1.Pod) error {
	for _, c := range changes(pod) {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text) // ends the line
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(c.value); err != nil {
			return err
		}
		fmt.Fprintf(b, "%s: %s", c.path, text.Bytes())
	}
	return nil
}

func changes(pod *corev1.Pod) []change {
	var all []change
	if pod.Name != baseName {
		all = append(all, change{"metadata.name", pod.Name})
	}
	if pod.Namespace != baseNamespace {
		all = append(all, change{"metadata.namespace", pod.Namespace})
	}
	if pod.Status.Phase != corev1.PodFailed {
		all = append(all, change{"status.phase", pod.Status.Phase})
	}
	all = append(all, containerChanges(pod.Status.ContainerStatuses)...)
	if list := pod.Status.InitContainerStatuses; len(list) > 0 {
		all = append(all, change{"status.initContainerStatuses", newWireStatuses(list)})
	}
	if list := pod.Status.EphemeralContainerStatuses; len(list) > 0 {
		all = append(all, change{"status.ephemeralContainerStatuses", newWireStatuses(list)})
	}
	if len(pod.Status.Conditions) > 0 {
		all = append(all, change{"status.conditions", newWireConditions(pod.Status.Conditions)})
	}
	return all
}

// containerChanges changes the one list that the base pod has: its exit code, if
// nothing else differs.
func containerChanges(list []corev1.ContainerStatus) []change {
	likeBase := baseStatuses()
	if len(list) == 1 && list[0].State.Terminated != nil {
		likeBase[0].State.Terminated.ExitCode = list[0].State.Terminated.ExitCode
	}
	switch {
	case isBase(list):
		return nil
	case reflect.DeepEqual(list, likeBase):
		return []change{{"status.containerStatuses[0].state.terminated.exitCode", list[0].State.Terminated.ExitCode}}
	default:
		return []change{{"status.containerStatuses", newWireStatuses(list)}}
	}
}

// The parts of a pod that a verdict can depend on, without the zeroes that the
// API's own types write.
type (
	wireCondition struct {
		Type   corev1.PodConditionType `json:"type"`
		Status corev1.ConditionStatus  `json:"status"`
	}
	wireStatus struct {
		Name      string    `json:"name"`
		State     wireState `json:"state"`
		LastState wireState `json:"lastState,omitzero"`
	}
	wireState struct {
		Waiting    *struct{} `json:"waiting,omitempty"`
		Running    *struct{} `json:"running,omitempty"`
		Terminated *wireExit `json:"terminated,omitempty"`
	}
	wireExit struct {
		ExitCode int32 `json:"exitCode"`
	}
)

func newWireConditions(list []corev1.PodCondition) []wireCondition {
	conditions := make([]wireCondition, len(list))
	for i, c := range list {
		conditions[i] = wireCondition{c.Type, c.Status}
	}
	return conditions
}

func newWireStatuses(list []corev1.ContainerStatus) []wireStatus {
	statuses := make([]wireStatus, len(list))
	for i, c := range list {
		statuses[i] = wireStatus{c.Name, newWireState(c.State), newWireState(c.LastTerminationState)}
	}
	return statuses
}

func newWireState(s corev1.ContainerState) wireState {
	var w wireState
	if s.Waiting != nil {
		w.Waiting = &struct{}{}
	}
	if s.Running != nil {
		w.Running = &struct{}{}
	}
	if s.Terminated != nil {
		w.Terminated = &wireExit{s.Terminated.ExitCode}
	}
	return w
}
