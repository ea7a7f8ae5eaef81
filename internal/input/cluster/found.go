//go:build !js

package cluster

import (
	"context"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// maxValues is the maximum number of Job UIDs in a label selector. With more, the URL gets too long for some proxies, so the Pods
// of all Jobs are listed.
const maxValues = 50

// JobsWithPods reads the Jobs of a query, their Pods, and the JobSets that created them.
func (c *Cluster) JobsWithPods(ctx context.Context, q Query) (found Found, err error) {
	s, err := c.resolve(ctx, q)
	if err != nil {
		return found, err
	}
	pods, err := c.podsOf(ctx, q, s)
	if err != nil {
		return found, err
	}
	for _, pod := range s.pods {
		if claim, _ := manifest.ClaimOf(pod); claim.Name == "" {
			found.Bare = append(found.Bare, manifest.LivePod(pod))
		}
	}
	for _, job := range s.jobs {
		found.Jobs = append(found.Jobs, manifest.LiveJob(job))
	}
	found.Pods = s.wanted(pods)
	found.Unread, err = c.joinJobSets(ctx, found.Jobs)
	return found, err
}

// wanted filters Pods by the query, because a list request can return Pods of other Jobs.
func (s *selection) wanted(pods []*corev1.Pod) (wanted []manifest.Pod) {
	index := newIndex(s.jobs)
	for _, pod := range pods {
		if job := index.jobOf(pod); job != nil && s.wants(job, pod) {
			wanted = append(wanted, manifest.LivePod(pod))
		}
	}
	return wanted
}

// podsOf reads the Pods of a selection, each once.
func (c *Cluster) podsOf(ctx context.Context, q Query, s *selection) ([]*corev1.Pod, error) {
	pods, seen := slices.Clone(s.pods), maps.Clone(s.single)
	for _, selector := range podSelectors(s) {
		found, _, err := c.listPods(ctx, c.scope(q), metav1.ListOptions{LabelSelector: selector.String()})
		if err != nil {
			return nil, err
		}
		for _, pod := range found {
			if !seen[pod.UID] {
				seen[pod.UID] = true
				pods = append(pods, pod)
			}
		}
	}
	return pods, nil
}

// podSelectors returns as few selectors as possible that together match the selected Jobs' Pods. They may match other Pods, too.
func podSelectors(s *selection) []labels.Selector {
	var selectors []labels.Selector
	var keys []string
	values := map[string][]string{}
	for _, job := range s.jobs {
		if !s.whole[job.UID] {
			continue
		}
		key, value, ok := onlyLabel(job.Spec.Selector)
		if !ok {
			if own, err := metav1.LabelSelectorAsSelector(job.Spec.Selector); err == nil {
				selectors = append(selectors, own)
			}
			continue
		}
		if values[key] == nil {
			keys = append(keys, key)
		}
		values[key] = append(values[key], value)
	}
	for _, key := range keys {
		selectors = append(selectors, anyOf(key, values[key]))
	}
	return selectors
}

// onlyLabel returns the label and value of a selector that matches exactly one label.
func onlyLabel(s *metav1.LabelSelector) (key, value string, ok bool) {
	if s == nil || len(s.MatchLabels) != 1 || len(s.MatchExpressions) > 0 {
		return "", "", false
	}
	for key, value = range s.MatchLabels {
		ok = true
	}
	return key, value, ok
}

func anyOf(key string, values []string) labels.Selector {
	requirement := metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values}
	if len(values) > maxValues {
		requirement.Operator, requirement.Values = metav1.LabelSelectorOpExists, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{requirement},
	})
	if err != nil {
		return labels.Everything() // cannot come from an API server; Pods are filtered by controller anyway
	}
	return selector
}

// index maps namespaced names to Jobs.
type index map[types.NamespacedName]*batchv1.Job

func newIndex(jobs []*batchv1.Job) index {
	x := make(index, len(jobs))
	for _, job := range jobs {
		x[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}] = job
	}
	return x
}

// jobOf returns the Job that a Pod belongs to, or nil if it is not in the index.
func (x index) jobOf(pod *corev1.Pod) *batchv1.Job {
	claim, _ := manifest.ClaimOf(pod)
	job := x[types.NamespacedName{Namespace: pod.Namespace, Name: claim.Name}]
	if job == nil || !claim.Fits(job) {
		return nil
	}
	return job
}
