package cel

import (
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Function is a function of the library. All functions are methods, such as pod.failedContainers().
type Function struct {
	Name string
	// Receiver is the name of the receiver's type: Pod, Job, Node or int. A Node receiver is optional.
	Receiver string
	// Signature shows the function's parameters and the type of its result.
	Signature string
	// Doc describes the result, in a sentence without a subject.
	Doc string
	// Example is a rule that uses it.
	Example string
	// Reads are the receiver's fields that the function reads, named by type as in PodStatus.phase, including those that every
	// field of its result needs.
	Reads []string

	args   []*types.Type
	result *types.Type
	call   functions.FunctionOp // nil for a macro
}

// Names of functions.
const (
	ContainersFunction       = "containers"
	FailedContainersFunction = "failedContainers"
	ConditionFunction        = "condition"
	HasConditionFunction     = "hasCondition"
	NeverStartedFunction     = "neverStarted"
	UnschedulableFunction    = "unschedulable"
	WaitingReasonsFunction   = "waitingReasons"
	PendingForFunction       = "pendingFor"
	RunningForFunction       = "runningFor"
	TerminatingForFunction   = "terminatingFor"
	NotReadyForFunction      = "notReadyFor"
	RestartsFunction         = "restarts"
	BetweenFunction          = "between"
	NodeFunction             = "node"
	ReadyFunction            = "ready"
	UnreachableFunction      = "unreachable"
	HasTaintFunction         = "hasTaint"
	LabelFunction            = "label"
	FailedIndexCountFunction = "failedIndexCount"
)

// ofContainers are the fields needed to find containers and failed containers; ofConditions and ofPhase are those for
// conditions and for the phase and its age.
var (
	ofContainers = []string{
		"Pod.spec", "PodSpec.initContainers", "Container.name", "Container.restartPolicy",
		"Pod.status", "PodStatus.containerStatuses", "PodStatus.initContainerStatuses",
		"ContainerStatus.name", "ContainerStatus.state",
		"ContainerState.waiting", "ContainerState.running", "ContainerState.terminated", "ContainerStateTerminated.exitCode",
	}
	ofPhase      = []string{"Pod.metadata", "ObjectMeta.creationTimestamp", "ObjectMeta.deletionTimestamp", "Pod.status", "PodStatus.phase"}
	ofConditions = []string{"Pod.status", "PodStatus.conditions", "PodCondition.type"}

	ofNodeConditions = []string{"Node.status", "NodeStatus.conditions", "NodeCondition.type", "NodeCondition.status"}
	ofTaints         = []string{"Node.spec", "NodeSpec.taints", "Taint.key"}
)

// Functions lists all functions in the order of the reference.
var Functions = []Function{
	{
		Name: ContainersFunction, Receiver: "Pod", Signature: "pod.containers() -> list(podverdict.Container)",
		Doc:     "all containers that have a status: containers, then init containers and sidecars",
		Example: "pod.containers().exists(c, c.restarts > 3)",
		Reads:   ofContainers,
		result:  types.NewListType(containerType.CEL), call: on(func(p *corev1.Pod) ref.Val { return containers(p, false) }),
	},
	{
		Name: FailedContainersFunction, Receiver: "Pod", Signature: "pod.failedContainers() -> list(podverdict.Container)",
		Doc:     "the containers that have terminated with an exit code other than 0, sidecars aside",
		Example: "pod.failedContainers().exists(c, c.oomKilled)",
		Reads:   ofContainers,
		result:  types.NewListType(containerType.CEL), call: on(func(p *corev1.Pod) ref.Val { return containers(p, true) }),
	},
	{
		Name: ConditionFunction, Receiver: "Pod", Signature: "pod.condition(string) -> podverdict.Condition",
		Doc:     "the pod's condition of a type, or one that is not found",
		Example: "pod.condition('DisruptionTarget').reason == 'EvictionByEvictionAPI'",
		Reads:   ofConditions,
		args:    []*types.Type{types.StringType}, result: conditionType.CEL,
		call: onPodAnd(func(p *corev1.Pod, t string) ref.Val { return record{conditionType, ConditionOf(p, t)} }),
	},
	{
		Name: HasConditionFunction, Receiver: "Pod", Signature: "pod.hasCondition(string) -> bool",
		Doc:     "whether the pod's condition of a type has status 'True'",
		Example: "pod.hasCondition('DisruptionTarget')",
		Reads:   append([]string{"PodCondition.status"}, ofConditions...),
		args:    []*types.Type{types.StringType}, result: types.BoolType,
		call: onPodAnd(func(p *corev1.Pod, t string) ref.Val { return types.Bool(HasCondition(p, t)) }),
	},
	{
		Name: NeverStartedFunction, Receiver: "Pod", Signature: "pod.neverStarted() -> bool",
		Doc:     "whether no container of the pod ever ran, init containers and sidecars included; one whose state was lost counts as one that ran",
		Example: "pod.neverStarted() && pod.status.?reason.orValue('') == 'NodeAffinity'",
		Reads:   append([]string{"ContainerStatus.lastState", "ContainerStatus.restartCount", "ContainerStateTerminated.reason"}, ofContainers...),
		result:  types.BoolType, call: on(func(p *corev1.Pod) ref.Val { return types.Bool(NeverStarted(p)) }),
	},
	{
		Name: WaitingReasonsFunction, Receiver: "Pod", Signature: "pod.waitingReasons() -> list(string)",
		Doc:     "why containers wait, each reason once, in the order of the containers",
		Example: "'ImagePullBackOff' in pod.waitingReasons()",
		Reads:   append([]string{"ContainerStateWaiting.reason"}, ofContainers...),
		result:  types.NewListType(types.StringType),
		call: on(func(p *corev1.Pod) ref.Val {
			return types.NewStringList(types.DefaultTypeAdapter, WaitingReasons(p))
		}),
	},
	{
		Name: UnschedulableFunction, Receiver: "Pod", Signature: "pod.unschedulable() -> bool",
		Doc:     "whether the scheduler has found no node for the pod",
		Example: "pod.unschedulable() && pod.pendingFor(now) > duration('30m')",
		Reads:   append([]string{"PodCondition.status", "PodCondition.reason"}, ofConditions...),
		result:  types.BoolType, call: on(func(p *corev1.Pod) ref.Val { return types.Bool(Unschedulable(p)) }),
	},
	{
		Name: PendingForFunction, Receiver: "Pod", Signature: "pod.pendingFor(timestamp) -> duration",
		Doc:     "how long the pod had been there at a moment, if it is in phase Pending, and 0 otherwise",
		Example: "pod.pendingFor(now) > duration('10m')",
		Reads:   ofPhase,
		args:    []*types.Type{types.TimestampType}, result: types.DurationType, call: ageOf(PendingForFunction),
	},
	{
		Name: RunningForFunction, Receiver: "Pod", Signature: "pod.runningFor(timestamp) -> duration",
		Doc:     "how long ago the kubelet had taken the pod at a moment, if it is in phase Running, and 0 otherwise; restarts in place do not begin anew",
		Example: "pod.restarts() > 20 && pod.runningFor(now) > duration('10m')",
		Reads:   append([]string{"PodStatus.startTime"}, ofPhase...),
		args:    []*types.Type{types.TimestampType}, result: types.DurationType, call: ageOf(RunningForFunction),
	},
	{
		Name: NotReadyForFunction, Receiver: "Pod", Signature: "pod.notReadyFor(timestamp) -> duration",
		Doc:     "how long the pod had not been ready at a moment, if it is in phase Running, and 0 otherwise",
		Example: "pod.notReadyFor(now) > duration('15m')",
		Reads:   append([]string{"PodStatus.startTime", "PodStatus.conditions", "PodCondition.type", "PodCondition.status", "PodCondition.lastTransitionTime"}, ofPhase...),
		args:    []*types.Type{types.TimestampType}, result: types.DurationType, call: ageOf(NotReadyForFunction),
	},
	{
		Name: TerminatingForFunction, Receiver: "Pod", Signature: "pod.terminatingFor(timestamp) -> duration",
		Doc:     "how long the pod had been overdue at a moment: since the end of its grace period, if it is to be deleted and has not ended, and 0 otherwise",
		Example: "pod.terminatingFor(now) > duration('5m')",
		Reads:   ofPhase,
		args:    []*types.Type{types.TimestampType}, result: types.DurationType, call: ageOf(TerminatingForFunction),
	},
	{
		Name: RestartsFunction, Receiver: "Pod", Signature: "pod.restarts() -> int",
		Doc:     "how often the kubelet has restarted the pod's containers, init containers and sidecars included",
		Example: "pod.restarts() > 20",
		Reads:   []string{"Pod.status", "PodStatus.containerStatuses", "PodStatus.initContainerStatuses", "ContainerStatus.restartCount"},
		result:  types.IntType, call: on(func(p *corev1.Pod) ref.Val { return types.Int(Restarts(p)) }),
	},
	{
		Name: NodeFunction, Receiver: "Pod", Signature: "pod.node() -> optional(Node)",
		Doc:     "the variable `node`: the Node that the pod runs on, or ran on",
		Example: "pod.node().unreachable()",
	},
	{
		Name: ReadyFunction, Receiver: "Node", Signature: "node.ready() -> bool",
		Doc:     "whether the node's condition Ready is 'True'",
		Example: "node.hasValue() && !node.ready()",
		Reads:   ofNodeConditions,
		result:  types.BoolType, call: nodeTest(ReadyFunction),
	},
	{
		Name: UnreachableFunction, Receiver: "Node", Signature: "node.unreachable() -> bool",
		Doc:     "whether the kubelet has stopped reporting: condition Ready is 'Unknown', or the taint node.kubernetes.io/unreachable is there",
		Example: "node.unreachable() || node.hasTaint('node.kubernetes.io/out-of-service')",
		Reads:   append(append([]string{}, ofTaints...), ofNodeConditions...),
		result:  types.BoolType, call: nodeTest(UnreachableFunction),
	},
	{
		Name: HasTaintFunction, Receiver: "Node", Signature: "node.hasTaint(string) -> bool",
		Doc:     "whether the node has a taint of a key, whatever its value and effect",
		Example: "node.hasTaint('ToBeDeletedByClusterAutoscaler')",
		Reads:   ofTaints,
		args:    []*types.Type{types.StringType}, result: types.BoolType, call: nodeTest(HasTaintFunction),
	},
	{
		Name: HasConditionFunction, Receiver: "Node", Signature: "node.hasCondition(string) -> bool",
		Doc:     "whether the node's condition of a type has status 'True'",
		Example: "node.hasCondition('KernelDeadlock')",
		Reads:   ofNodeConditions,
		args:    []*types.Type{types.StringType}, result: types.BoolType, call: nodeTest(HasConditionFunction),
	},
	{
		Name: LabelFunction, Receiver: "Node", Signature: "node.label(string) -> string",
		Doc:     "the value of the node's label, or '' if it has none",
		Example: "node.label('cloud.google.com/gke-spot') == 'true'",
		Reads:   []string{"Node.metadata", "ObjectMeta.labels"},
		args:    []*types.Type{types.StringType}, result: types.StringType,
		call: onNode(func(n *corev1.Node, key string) ref.Val { return types.String(NodeLabel(n, key)) }),
	},
	{
		Name: BetweenFunction, Receiver: "int", Signature: "int.between(int, int) -> bool",
		Doc:     "whether a number is in a range, both ends included",
		Example: "pod.failedContainers().exists(c, c.exitCode.between(128, 159))",
		args:    []*types.Type{types.IntType, types.IntType}, result: types.BoolType,
		call: between,
	},
	{
		Name: FailedIndexCountFunction, Receiver: "Job", Signature: "job.failedIndexCount() -> int",
		Doc:     "how many indexes the job's status lists in failedIndexes; 0 if it has no such list",
		Example: "job.failedIndexCount() * 2 > job.spec.?completions.orValue(0)",
		Reads:   []string{"Job.status", "JobStatus.failedIndexes"},
		result:  types.IntType, call: on(func(j *batchv1.Job) ref.Val { return types.Int(FailedIndexCount(j)) }),
	},
}

// Options declares the library in an environment, for receivers of the given Pod, Job and Node types. Their values are
// *corev1.Pod, *batchv1.Job and an optional *corev1.Node.
func Options(pod, job, node *types.Type) []cel.EnvOption {
	receivers := map[string]*types.Type{"Pod": pod, "Job": job, "Node": types.NewOptionalType(node), "int": types.IntType}
	options := []cel.EnvOption{cel.Macros(nodeMacro)}
	for _, f := range Functions {
		if f.call == nil {
			continue
		}
		args := append([]*types.Type{receivers[f.Receiver]}, f.args...)
		options = append(options, cel.Function(f.Name, cel.MemberOverload(f.ID(), args, f.result, cel.FunctionBinding(f.call))))
	}
	return options
}

// ID returns the function's overload id in checked expressions.
func (f Function) ID() string { return "podverdict_" + f.Receiver + "_" + f.Name }

func containers(pod *corev1.Pod, failed bool) ref.Val {
	values := make([]ref.Val, 0, Count(pod))
	for i := range Count(pod) {
		if !failed || FailedAt(pod, i) {
			values = append(values, record{containerType, At(pod, i)})
		}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values)
}

// on returns a function of an object of Go type T.
func on[T any](call func(T) ref.Val) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		object, ok := args[0].Value().(T)
		if !ok {
			return types.NewErr("no such overload: %s", args[0].Type().TypeName())
		}
		return call(object)
	}
}

// onPodAnd returns a function of a pod and an argument of Go type T.
func onPodAnd[T any](call func(*corev1.Pod, T) ref.Val) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		argument, ok := args[1].Value().(T)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[1])
		}
		return on(func(pod *corev1.Pod) ref.Val { return call(pod, argument) })(args...)
	}
}

// ageOf returns the function of a pod and a time by its name in Ages.
func ageOf(name string) functions.FunctionOp {
	return onPodAnd(func(p *corev1.Pod, now time.Time) ref.Val { return types.Duration{Duration: Ages[name].Of(p, now)} })
}

func between(args ...ref.Val) ref.Val {
	value, ok1 := args[0].(types.Int)
	low, ok2 := args[1].(types.Int)
	high, ok3 := args[2].(types.Int)
	if !ok1 || !ok2 || !ok3 {
		return types.NewErr("no such overload: %s", BetweenFunction)
	}
	return types.Bool(Between(int64(value), int64(low), int64(high)))
}
