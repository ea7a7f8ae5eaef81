package evidence

import (
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
)

// PodFields is the set of Pod fields that Outcomes depend on, in addition to the fields that custom policies read. It must not be
// changed.
var PodFields = func() cel.Fields {
	fields := cel.NewFields(
		"PodSpec.containers", "PodSpec.overhead", "PodSpec.resources", "Container.image", "Container.resources",
		"ResourceRequirements.requests", "ResourceRequirements.limits", "PodStatus.startTime", "ContainerStatus.lastState",
	)
	fields.AddAll(plan.PodFields)
	return fields
}()
