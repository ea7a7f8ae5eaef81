package plan

import "github.com/podverdict/podverdict/compiler/cel"

// PodFields selects the fields that identify a pod and its attempt, that show whether and since when it is active, that a
// podFailurePolicy reads, and that the explanation of a verdict cites. The set must not be changed.
var PodFields = cel.NewFields(
	"Pod.metadata", "ObjectMeta.name", "ObjectMeta.namespace", "ObjectMeta.uid", "ObjectMeta.resourceVersion", "ObjectMeta.generation",
	"ObjectMeta.creationTimestamp", "ObjectMeta.deletionTimestamp", "ObjectMeta.deletionGracePeriodSeconds", "ObjectMeta.labels",
	"ObjectMeta.annotations", "ObjectMeta.ownerReferences", "ObjectMeta.finalizers", "OwnerReference.*",
	"Pod.spec", "PodSpec.restartPolicy", "PodSpec.nodeName", "PodSpec.initContainers", "Container.name", "Container.restartPolicy",
	"Pod.status", "PodStatus.phase", "PodStatus.reason",
	"PodStatus.conditions", "PodCondition.type", "PodCondition.status", "PodCondition.lastTransitionTime",
	"PodCondition.reason", "PodCondition.message",
	"PodStatus.initContainerStatuses", "PodStatus.containerStatuses",
	"ContainerStatus.name", "ContainerStatus.restartCount", "ContainerStatus.state",
	"ContainerState.waiting", "ContainerStateWaiting.reason",
	"ContainerState.running", "ContainerStateRunning.startedAt",
	"ContainerState.terminated", "ContainerStateTerminated.exitCode", "ContainerStateTerminated.signal", "ContainerStateTerminated.reason",
	"ContainerStateTerminated.startedAt", "ContainerStateTerminated.finishedAt",
)
