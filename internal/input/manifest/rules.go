package manifest

import batchv1 "k8s.io/api/batch/v1"

// rules reads a standalone podFailurePolicy, with or without its field name.
func (c *content) rules(o Origin, value []byte) {
	var part struct {
		PodFailurePolicy *batchv1.PodFailurePolicy      `json:"podFailurePolicy"`
		Rules            []batchv1.PodFailurePolicyRule `json:"rules"`
	}
	if !c.strict(o, value, &part) {
		return
	}
	o.above = "spec"
	if part.PodFailurePolicy == nil {
		o.above, part.PodFailurePolicy = PolicyField, &batchv1.PodFailurePolicy{Rules: part.Rules}
	}
	job := &batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: part.PodFailurePolicy}}
	c.Jobs = append(c.Jobs, Job{Object: job, Origin: o, Namespace: c.options.Namespace})
}
