// Package restart determines what the kubelet does when a container exits: whether the container starts again in its Pod, and which phase
// the Pod has. It follows ContainerShouldRestart (pkg/api/v1/pod/util.go) and getPhase (pkg/kubelet/kubelet_pods.go) of Kubernetes, and
// implements restart rules of containers (KEP-5307) and restarts of all containers (KEP-5532). It does no I/O.
package restart

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

// Gates holds the feature gates of Kubernetes for restarts in place.
type Gates struct {
	Rules         bool // ContainerRestartRules
	AllContainers bool // RestartAllContainersOnContainerExits, which needs Rules
}

// GatesOf returns the gates that are on by default in a Kubernetes version.
func GatesOf(v *version.Version) Gates {
	return Gates{Rules: v.AtLeast(kubeversion.RestartRules), AllContainers: v.AtLeast(kubeversion.RestartAllContainers)}
}

// Action is the kubelet's action when a container exits.
type Action string

// The actions.
const (
	None                 Action = "" // the container remains stopped
	Restart              Action = "Restart"
	RestartAllContainers Action = "RestartAllContainers" // including init containers and sidecars
)

// Does describes the effect of the action as a verb phrase.
func (a Action) Does() string {
	if a == RestartAllContainers {
		return "restarts all containers in place"
	}
	return "restarts in place"
}

// By is the field that decides whether a container restarts.
type By int

// The fields.
const (
	ByPod       By = iota // the Pod's restartPolicy
	BySidecar             // the restartPolicy Always of an init container
	ByContainer           // the restartPolicy of another container
	ByRule                // a rule of the container's restartPolicyRules
)

// Possible reports whether any container of a Pod may start again in any Kubernetes version.
func Possible(pod *corev1.PodSpec) bool {
	return pod.RestartPolicy != corev1.RestartPolicyNever ||
		slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool { return c.RestartPolicy != nil })
}

// Decision is the kubelet's action when a container exits, and the reason.
type Decision struct {
	Action Action
	// Rule is the index in restartPolicyRules of the rule that decided, or -1.
	Rule int
	By   By
}

// Decide returns the kubelet's decision when a container of a Pod exits with a code. Without the gate Rules, the API server drops
// restartPolicyRules and each container's restartPolicy, except those of sidecars, and the Pod's restartPolicy decides.
func Decide(c *corev1.Container, pod *corev1.PodSpec, exitCode int32, g Gates) Decision {
	byPod := Decision{Action: byPolicy(pod.RestartPolicy, exitCode), Rule: -1, By: ByPod}
	sidecar := IsSidecar(c, pod)
	if c.RestartPolicy == nil || !g.Rules && !sidecar {
		return byPod
	}
	if g.Rules {
		if i := matchingRule(c.RestartPolicyRules, exitCode); i >= 0 {
			action := Action(c.RestartPolicyRules[i].Action)
			if action == Restart || action == RestartAllContainers && g.AllContainers {
				return Decision{Action: action, Rule: i, By: ByRule}
			}
		}
	}
	switch *c.RestartPolicy {
	case corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyOnFailure, corev1.ContainerRestartPolicyNever:
	default:
		return byPod
	}
	d := Decision{Action: byPolicy(corev1.RestartPolicy(*c.RestartPolicy), exitCode), Rule: -1, By: ByContainer}
	if sidecar {
		d.By = BySidecar
	}
	return d
}

func byPolicy(policy corev1.RestartPolicy, exitCode int32) Action {
	if policy == corev1.RestartPolicyNever || policy == corev1.RestartPolicyOnFailure && exitCode == 0 {
		return None
	}
	return Restart
}

// matchingRule returns the index of the first rule that matches an exit code, regardless of its action, or -1.
func matchingRule(rules []corev1.ContainerRestartRule, exitCode int32) int {
	return slices.IndexFunc(rules, func(rule corev1.ContainerRestartRule) bool {
		if rule.ExitCodes == nil {
			return false
		}
		listed := slices.Contains(rule.ExitCodes.Values, exitCode)
		switch rule.ExitCodes.Operator {
		case corev1.ContainerRestartRuleOnExitCodesOpIn:
			return listed
		case corev1.ContainerRestartRuleOnExitCodesOpNotIn:
			return !listed
		default:
			return false
		}
	})
}

// IsSidecar reports whether a container of a Pod is a sidecar: an init container with restartPolicy Always.
func IsSidecar(c *corev1.Container, pod *corev1.PodSpec) bool {
	return isAlways(c) && slices.ContainsFunc(pod.InitContainers, func(other corev1.Container) bool { return other.Name == c.Name })
}

func isAlways(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// Why names the field that decided, such as "by rule 0 of main".
func (d Decision) Why(container string) string {
	switch d.By {
	case ByRule:
		return fmt.Sprintf("by rule %d of %s", d.Rule, container)
	case BySidecar, ByContainer:
		return "by the restartPolicy of " + container
	default:
		return "by the Pod's restartPolicy"
	}
}

// Since returns the first Kubernetes version in which the decision applies, or nil for every version.
func (d Decision) Since() *version.Version {
	switch {
	case d.Action == RestartAllContainers:
		return kubeversion.RestartAllContainers
	case d.By == ByRule || d.By == ByContainer:
		return kubeversion.RestartRules
	default:
		return nil
	}
}
