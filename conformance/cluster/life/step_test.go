package life

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Step is one event. Exactly one field is set. A step on pods waits until they exist.
type Step struct {
	// Start makes the kubelet run the pods' containers.
	Start *Start `json:"start,omitempty"`
	// Exit makes pods end by themselves.
	Exit *Exit `json:"exit,omitempty"`
	// Restart makes the kubelet restart the first container of pods, as with restartPolicy OnFailure.
	Restart *Restart `json:"restart,omitempty"`
	// Stop waits until the pods are deleted, and makes the kubelet end them. Then they are gone.
	Stop *Exit `json:"stop,omitempty"`
	// Delete makes a user delete pods, with their grace period.
	Delete *Delete `json:"delete,omitempty"`
	// Evict makes a user evict pods through the eviction API.
	Evict *Evict `json:"evict,omitempty"`
	// Edit makes a user change the Job.
	Edit *Edit `json:"edit,omitempty"`
	// DeleteJob makes a user delete the Job, with propagation policy Foreground, Background or Orphan.
	DeleteJob metav1.DeletionPropagation `json:"deleteJob,omitempty"`
	// CreateJob makes a user create the Job again once it is gone.
	CreateJob *struct{} `json:"createJob,omitempty"`
	// Await waits until the Job has a condition of this type with status True.
	Await batchv1.JobConditionType `json:"await,omitempty"`
	// Settle waits until the state is stable, and compares the facts.
	Settle *Settle `json:"settle,omitempty"`
}

// Start runs pods.
type Start struct {
	Pods []Pod `json:"pods"`
	// Unready sets the condition Ready to False.
	Unready bool `json:"unready,omitempty"`
}

// Exit ends pods. The phase is Succeeded if all containers exit with 0, else Failed.
type Exit struct {
	Pods []Pod `json:"pods"`
	// Code is the exit code of the first container; the others exit with 0. For Stop the default is 143.
	Code *int32 `json:"code,omitempty"`
	// Codes has exit codes of containers and init containers by name; the others exit with 0.
	Codes map[string]int32 `json:"codes,omitempty"`
	// Conditions lists the types of true conditions. Without exit codes, no container has ever run.
	Conditions []corev1.PodConditionType `json:"conditions,omitempty"`
	// Now makes the pod end now. Otherwise it has ended an hour ago, so that every back-off is over.
	Now bool `json:"now,omitempty"`
}

// Restart restarts the first container of running pods.
type Restart struct {
	Pods []Pod `json:"pods"`
	// Count is the new restartCount.
	Count int32 `json:"count"`
}

// Delete deletes pods.
type Delete struct {
	Pods []Pod `json:"pods"`
	// Force deletes them without a grace period.
	Force bool `json:"force,omitempty"`
}

// Evict evicts pods.
type Evict struct {
	Pods []Pod `json:"pods"`
}

// Edit changes fields of a Job's spec.
type Edit struct {
	Suspend               *bool                         `json:"suspend,omitempty"`
	Parallelism           *int32                        `json:"parallelism,omitempty"`
	Completions           *int32                        `json:"completions,omitempty"`
	BackoffLimit          *int32                        `json:"backoffLimit,omitempty"`
	MaxFailedIndexes      *int32                        `json:"maxFailedIndexes,omitempty"`
	ActiveDeadlineSeconds *int64                        `json:"activeDeadlineSeconds,omitempty"`
	PodReplacementPolicy  *batchv1.PodReplacementPolicy `json:"podReplacementPolicy,omitempty"`
}

// Settle is a checkpoint: the section <name>.yaml has the expected facts.
type Settle struct {
	Name string `json:"name"`
	// Details lists additional parts of each pod to compare.
	Details []Detail `json:"details,omitempty"`
}

// Detail is a part of a pod that the controller sets.
type Detail string

// The details of pods.
const (
	// DetailAnnotations are the annotations with the prefix batch.kubernetes.io.
	DetailAnnotations Detail = "annotations"
	// DetailLabels are all labels, with the Job's UID replaced.
	DetailLabels Detail = "labels"
	// DetailHostname is the pod's host name.
	DetailHostname Detail = "hostname"
	// DetailEnv is the environment of each container and init container.
	DetailEnv Detail = "env"
	// DetailOwner is the pod's controller reference.
	DetailOwner Detail = "owner"
)

// String returns the name of the step's field.
func (s Step) String() string {
	value := reflect.ValueOf(s)
	for i := range value.NumField() {
		if !value.Field(i).IsZero() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

// pods returns the step's pods, and whether the step has pods.
func (s Step) pods() ([]Pod, bool) {
	switch {
	case s.Start != nil:
		return s.Start.Pods, true
	case s.Exit != nil:
		return s.Exit.Pods, true
	case s.Restart != nil:
		return s.Restart.Pods, true
	case s.Stop != nil:
		return s.Stop.Pods, true
	case s.Delete != nil:
		return s.Delete.Pods, true
	case s.Evict != nil:
		return s.Evict.Pods, true
	default:
		return nil, false
	}
}

// check returns an error if a step sets too few or too many fields, or has no effect.
func (s Step) check() error {
	fields := map[string]json.RawMessage{}
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return errors.New("a step is exactly one of start, exit, restart, stop, delete, evict, edit, deleteJob, createJob, await and settle")
	}
	if pods, ok := s.pods(); ok && len(pods) == 0 {
		return errors.New("pods is empty")
	}
	return nil
}

// section returns the name of the checkpoint's section.
func (s Settle) section() string { return s.Name + ".yaml" }

// exception returns the name of the checkpoint's section for a controller that differs.
func (s Settle) exception(name string) string { return s.Name + "." + name + ".yaml" }

func indexed(job *batchv1.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
}
