package admission

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/findings"
	"github.com/podverdict/podverdict/compiler/admission/apiserver"
	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
	"github.com/podverdict/podverdict/internal/kube/jobset"
)

// judgedKinds are the kinds of objects to evaluate.
var judgedKinds = []kind.Kind{
	{GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), Resource: "jobs"},
	{GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"), Resource: "cronjobs"},
	{GroupVersionKind: v1alpha2.GroupVersion.WithKind("JobSet"), Resource: "jobsets"},
}

// judge returns the objects in the cluster that would be rejected, with their findings. JobSets need not be installed in the cluster.
func (s *set) judge(ctx context.Context, c *cluster.Cluster, o *options) (all []findings.Subject, err error) {
	namespaces := map[string]*corev1.Namespace{}
	var wrong error
	_, err = cluster.Objects(ctx, c, corev1.SchemeGroupVersion.WithResource("namespaces"), "", "", func(one *unstructured.Unstructured) []int {
		namespace := &corev1.Namespace{}
		wrong = cmp.Or(wrong, runtime.DefaultUnstructuredConverter.FromUnstructured(one.Object, namespace))
		namespaces[namespace.Name] = namespace
		return nil
	})
	if err == nil && o.namespace != "" && namespaces[o.namespace] == nil {
		err = fmt.Errorf("no namespace %q", o.namespace)
	}
	for _, k := range judgedKinds {
		if err := cmp.Or(err, wrong); err != nil {
			return nil, err
		}
		var judged []findings.Subject
		judged, err = cluster.Objects(ctx, c, k.GroupVersion().WithResource(k.Resource), o.namespace, o.selector, func(one *unstructured.Unstructured) []findings.Subject {
			subject := findings.Subject{Kind: k.Kind, Namespace: one.GetNamespace(), Name: one.GetName()}
			if one.GetDeletionTimestamp() == nil && wrong == nil {
				subject.Findings, wrong = s.findings(ctx, k, one, namespaces[one.GetNamespace()])
			}
			return []findings.Subject{subject}
		})
		if all = append(all, judged...); k.Kind == "JobSet" && apierrors.IsNotFound(err) {
			err = nil
		}
	}
	return all, cmp.Or(err, wrong)
}

// findings returns the reasons why an object, or a Job that it makes, would be rejected.
func (s *set) findings(ctx context.Context, k kind.Kind, object *unstructured.Unstructured, namespace *corev1.Namespace) (all []findings.Finding, err error) {
	made, err := madeBy(k, object)
	if err != nil {
		return nil, err
	}
	place := manifest.Position{File: fmt.Sprintf("%s %s/%s", k.Kind, object.GetNamespace(), object.GetName())}
	for _, at := range slices.Sorted(maps.Keys(made)) {
		review := apiserver.Review{Kind: judgedKinds[0], Operation: k8sadmission.Create, Object: made[at], Namespace: namespace}
		if at == "" {
			review.Kind = k
		}
		for _, d := range s.deciders {
			failures, err := d.Decide(ctx, review)
			if err != nil {
				return nil, err
			}
			for _, f := range failures {
				found := findingOf(f, at)
				found.At = place
				if !slices.ContainsFunc(all, func(f findings.Finding) bool { return reflect.DeepEqual(f, found) }) {
					all = append(all, found)
				}
			}
		}
	}
	return all, nil
}

// madeBy returns an object and the Jobs that it makes, with the API server's defaults. The key is the prefix of the Job's fields in the
// object.
func madeBy(k kind.Kind, object *unstructured.Unstructured) (map[string]runtime.Object, error) {
	all, jobs := map[string]runtime.Object{"": object}, map[string]*batchv1.Job{}
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	var err error
	switch k.Kind {
	case "CronJob":
		cronJob := &batchv1.CronJob{}
		err = convert(object.Object, cronJob)
		job := manifest.LiveCronJob(cronJob).Object
		job.Name += fmt.Sprintf("-%d", cronJob.CreationTimestamp.Unix()/60) // the earliest possible name
		jobs["spec.jobTemplate."] = job
	case "JobSet":
		set := &v1alpha2.JobSet{}
		err = convert(object.Object, set)
		jobset.SetDefaults(set)
		for i := range set.Spec.ReplicatedJobs {
			if of := &set.Spec.ReplicatedJobs[i]; of.Replicas > 0 {
				jobs[fmt.Sprintf("spec.replicatedJobs[%d].template.", i)] = jobset.Child(set, of, 0)
			}
		}
	}
	for at, job := range jobs {
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(object, k.GroupVersionKind)}
		jobdefaults.Set(job)
		all[at] = job
	}
	return all, err
}

// findingOf converts a failure to a finding of check. Its message does not name the rule.
func findingOf(f apiserver.Failure, at string) findings.Finding {
	rule, known := catalogue.Find(f.Rule)
	found := findings.Finding{Check: cmp.Or(rule.ID, f.Rule, "policy"), Aliases: rule.Aliases, Severity: "error", Field: at + "spec", Message: f.Message}
	if known {
		found.Hint = "see " + rule.Address()
	}
	if field, message, _ := strings.Cut(f.Message, ": "); f.Rule != "" && !strings.Contains(field, " ") {
		_, without, _ := strings.Cut(message, " "+f.Rule+": ")
		found.Field, found.Message = at+field, cmp.Or(without, message)
	}
	return found
}
