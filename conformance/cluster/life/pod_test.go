package life

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A Pod identifies a pod by its role, because controllers choose names freely. It is written 2 or 2/1.
type Pod struct {
	// Slot is the completion index. In a Job without indexes, it is the pod's number in the order of creation, from 0.
	Slot int
	// Attempt is the pod's number among the pods of its index, from 0.
	Attempt int
}

func (p Pod) String() string {
	if p.Attempt == 0 {
		return strconv.Itoa(p.Slot)
	}
	return strconv.Itoa(p.Slot) + "/" + strconv.Itoa(p.Attempt)
}

// UnmarshalJSON parses a number, or a string in the form of String.
func (p *Pod) UnmarshalJSON(data []byte) error {
	reference := string(data)
	if data[0] == '"' {
		if err := json.Unmarshal(data, &reference); err != nil {
			return err
		}
	}
	slot, attempt, again := strings.Cut(reference, "/")
	if !again {
		attempt = "0"
	}
	var errSlot, errAttempt error
	p.Slot, errSlot = strconv.Atoi(slot)
	p.Attempt, errAttempt = strconv.Atoi(attempt)
	if errors.Join(errSlot, errAttempt) != nil || p.Slot < 0 || p.Attempt < 0 {
		return fmt.Errorf("%s is no pod: want a number, or index/attempt as in 2/1", reference)
	}
	return nil
}

// MarshalJSON writes the string that UnmarshalJSON parses.
func (p Pod) MarshalJSON() ([]byte, error) { return json.Marshal(p.String()) }

// observedPod is an observed pod, and its identity.
type observedPod struct {
	*corev1.Pod

	of      Pod
	gone    bool
	job     types.UID // the Job that it was created for
	created string    // the resource version at which it was first seen
}

// slotOf returns the completion index of an Indexed Job's pod. It returns -1, which no step uses, for a pod without one.
func slotOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || index < 0 {
		return -1
	}
	return index
}
