package evidence

import (
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
)

// PodFields are the fields of Pods that Outcomes depend on, besides those that custom policies read. The set must not be changed.
var PodFields = func() cel.Fields {
	fields := cel.NewFields(
		"PodSpec.containers", "PodSpec.overhead", "PodSpec.resources", "Container.image", "Container.resources",
		"ResourceRequirements.requests", "ResourceRequirements.limits", "PodStatus.startTime", "ContainerStatus.lastState",
	)
	fields.AddAll(plan.PodFields)
	return fields
}()
