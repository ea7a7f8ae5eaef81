//go:build cluster

package living

import (
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// Parts of the names of Jobs and nodes that select the behaviour of containers.
const (
	// neverPulled is part of the names of Jobs that never get their image.
	neverPulled = "never-pulled"
	// doomed is the suffix of nodes whose containers continue to run after the node is lost.
	doomed = "-doomed"
)

// restartCode is the exit code on which containers with restart rules restart in place.
const restartCode = 42

// troubleAnnotation is the annotation of a Pod with the trouble of its Job's first Pod.
const troubleAnnotation = "trouble"

// containers tracks the first Pods of Jobs.
type containers struct {
	mu    sync.Mutex
	first map[types.UID]types.UID // by Job UID
	free  map[string]bool         // Jobs whose containers no longer hang
}

// isFirst reports whether a Pod is the first of its Job that a kubelet has seen.
func (c *containers) isFirst(pod *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = map[types.UID]types.UID{}
	}
	job := metav1.GetControllerOf(pod).UID
	if c.first[job] == "" {
		c.first[job] = pod.UID
	}
	return c.first[job] == pod.UID
}

// release lets the containers of a Job end when they are deleted.
func (c *containers) release(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free == nil {
		c.free = map[string]bool{}
	}
	c.free[job] = true
}

// act gives the first Pod of a Job its trouble. The other Pods exit with 0 immediately.
func (c *containers) act(pod *corev1.Pod) testcluster.Act {
	owner := metav1.GetControllerOf(pod)
	first := c.isFirst(pod)
	switch pod.Annotations[troubleAnnotation] {
	case string(noImage):
		if first || strings.Contains(owner.Name, neverPulled) {
			return testcluster.Act{Waiting: "ImagePullBackOff"}
		}
	case string(restarting):
		if first {
			return testcluster.Act{Ends: true, Code: restartCode}
		}
	case string(lost):
		if strings.HasSuffix(pod.Spec.NodeName, doomed) {
			return testcluster.Act{}
		}
	case string(hanging):
		c.mu.Lock()
		defer c.mu.Unlock()
		if strings.HasSuffix(pod.Spec.NodeName, doomed) {
			return testcluster.Act{Hangs: !c.free[owner.Name]}
		}
	}
	return testcluster.Act{Ends: true}
}
