package jobset

import (
	"fmt"
	"maps"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Child returns the Job that a JobSet creates from a replicatedJob for an index, including the
// identifying labels.
func Child(set *v1alpha2.JobSet, of *v1alpha2.ReplicatedJob, index int) *batchv1.Job {
	labels := maps.Clone(of.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha2.JobSetNameKey] = set.Name
	labels[v1alpha2.ReplicatedJobNameKey] = of.Name
	labels[v1alpha2.JobIndexKey] = strconv.Itoa(index)
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%s-%d", set.Name, of.Name, index), Namespace: set.Namespace,
			Labels: labels, Annotations: maps.Clone(of.Template.Annotations),
		},
		Spec: *of.Template.Spec.DeepCopy(),
	}
}
