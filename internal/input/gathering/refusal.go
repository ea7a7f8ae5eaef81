package gathering

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// refuse returns an error with the reason why a Pod belongs to no Job of the input.
func (g *group) refuse(pod manifest.Pod) error {
	field, why := g.refusal(pod.Object)
	return pod.Origin.Error(field, fmt.Sprintf("pod %s belongs to no Job of the input: %s", pod.Reference(), why))
}

// refusal returns the reason why a Pod belongs to no Job of the input, and the Pod's field that causes it.
func (g *group) refusal(pod *corev1.Pod) (field, why string) {
	const unclaimed = "it has neither a controller nor a label job-name"
	claim, says := manifest.ClaimOf(pod)
	switch {
	case g.single:
		return "metadata.namespace", "the only Job is in namespace " + g.only.Object.Namespace
	case !says && g.Gathering.Jobs == 1:
		return "metadata.name", unclaimed + ", and other pods of the input have"
	case !says:
		return "metadata.name", fmt.Sprintf("%s, and the input has %d Jobs", unclaimed, g.Gathering.Jobs)
	}
	for i, owner := range pod.OwnerReferences {
		if owner.Controller == nil || !*owner.Controller {
			continue
		}
		field = fmt.Sprintf("metadata.ownerReferences[%d]", i)
		if n := len(g.jobs); n > 0 && claim.Name != "" {
			return field, fmt.Sprintf("its controller is Job %q with uid %s, but that of the input has uid %s", claim.Name, claim.UID, g.jobs[n-1].Object.UID)
		}
		return field, fmt.Sprintf("its controller is %s %s %q", owner.APIVersion, owner.Kind, owner.Name)
	}
	value, label := manifest.JobNameLabel(pod)
	field = "metadata.labels[" + label + "]"
	if n := len(g.jobs); n > 1 {
		return field, fmt.Sprintf("its label %s says %q, and the input has %d Jobs of that name", label, value, n)
	}
	return field, fmt.Sprintf("its label %s says %q", label, value)
}
