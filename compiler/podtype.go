package compiler

import (
	"github.com/google/cel-go/common/types"
	corev1 "k8s.io/api/core/v1"
)

// PodVariable is the name of the one variable of a rule's expression.
const PodVariable = "pod"

var (
	podType        = types.NewObjectType("Pod")
	statusType     = types.NewObjectType("PodStatus")
	containerType  = types.NewObjectType("ContainerStatus")
	stateType      = types.NewObjectType("ContainerState")
	terminatedType = types.NewObjectType("ContainerStateTerminated")
	conditionType  = types.NewObjectType("PodCondition")
)

// podFields are the fields that an expression can select, read straight from
// the typed pod: nothing is converted to a map. A field is set when its JSON form
// is present, so that has() answers as it does in the API server.
var podFields = map[string]map[string]*types.FieldType{
	podType.TypeName(): {
		"status": fieldOf(statusType,
			func(p *corev1.Pod) any { return &p.Status }, always),
	},
	statusType.TypeName(): {
		"containerStatuses": fieldOf(types.NewListType(containerType),
			func(s *corev1.PodStatus) any { return objectList(containerType, s.ContainerStatuses) },
			func(s *corev1.PodStatus) bool { return len(s.ContainerStatuses) > 0 }),
		"initContainerStatuses": fieldOf(types.NewListType(containerType),
			func(s *corev1.PodStatus) any { return objectList(containerType, s.InitContainerStatuses) },
			func(s *corev1.PodStatus) bool { return len(s.InitContainerStatuses) > 0 }),
		"conditions": fieldOf(types.NewListType(conditionType),
			func(s *corev1.PodStatus) any { return objectList(conditionType, s.Conditions) },
			func(s *corev1.PodStatus) bool { return len(s.Conditions) > 0 }),
	},
	containerType.TypeName(): {
		"name": fieldOf(types.StringType,
			func(c *corev1.ContainerStatus) any { return c.Name }, always),
		"state": fieldOf(stateType,
			func(c *corev1.ContainerStatus) any { return &c.State }, always),
	},
	stateType.TypeName(): {
		"terminated": fieldOf(terminatedType,
			func(s *corev1.ContainerState) any { return s.Terminated },
			func(s *corev1.ContainerState) bool { return s.Terminated != nil }),
	},
	terminatedType.TypeName(): {
		"exitCode": fieldOf(types.IntType,
			func(t *corev1.ContainerStateTerminated) any { return int64(t.ExitCode) }, always),
	},
	conditionType.TypeName(): {
		"type": fieldOf(types.StringType,
			func(c *corev1.PodCondition) any { return string(c.Type) }, always),
		"status": fieldOf(types.StringType,
			func(c *corev1.PodCondition) any { return string(c.Status) }, always),
	},
}

func always[T any](*T) bool { return true }

func fieldOf[T any](t *types.Type, get func(*T) any, isSet func(*T) bool) *types.FieldType {
	return &types.FieldType{
		Type:    t,
		IsSet:   func(obj any) bool { o, ok := obj.(*T); return ok && o != nil && isSet(o) },
		GetFrom: func(obj any) (any, error) { return getFrom(obj, get) },
	}
}

func getFrom[T any](obj any, get func(*T) any) (any, error) {
	o, ok := obj.(*T)
	if !ok || o == nil {
		return nil, errNoObject(obj)
	}
	return get(o), nil
}
