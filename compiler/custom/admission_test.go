package custom_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

// TestForAdmission checks that the name of the Job is rewritten as in an admission policy, and that
// nothing else changes.
func TestForAdmission(t *testing.T) {
	env := newEnvironment(t)
	for _, tc := range []struct{ condition, job, cronJob string }{
		{
			"job.metadata.?labels[?'team'].orValue('') == 'job.metadata' // job",
			"object.metadata.?labels[?'team'].orValue('') == 'job.metadata' // job",
			"object.spec.jobTemplate.metadata.?labels[?'team'].orValue('') == 'job.metadata' // job",
		},
		{
			"job.metadata.namespace.startsWith('gpu-') &&\n\tjob . spec.?activeDeadlineSeconds.orValue(0) > 60",
			"object.metadata.namespace.startsWith('gpu-') &&\n\tobject . spec.?activeDeadlineSeconds.orValue(0) > 60",
			"object.metadata.namespace.startsWith('gpu-') &&\n\tobject.spec.jobTemplate . spec.?activeDeadlineSeconds.orValue(0) > 60",
		},
		{
			"['ä'].exists(job, job == 'ä') || has(job.spec.podFailurePolicy)",
			"['ä'].exists(job, job == 'ä') || has(object.spec.podFailurePolicy)",
			"['ä'].exists(job, job == 'ä') || has(object.spec.jobTemplate.spec.podFailurePolicy)",
		},
		{ // the API server requires a bool, and does not know that these are bools
			"job.spec.suspend // paused", "(object.spec.suspend // paused\n) == true", "",
		},
		{
			"job.?spec.template.?metadata.labels.optMap(l, l['a'] == job.metadata.namespace).orValue(false)",
			"object.?spec.template.?metadata.labels.optMap(l, l['a'] == object.metadata.namespace).orValue(false)",
			"object.spec.jobTemplate.?spec.template.?metadata.labels.optMap(l, l['a'] == object.metadata.namespace).orValue(false)",
		},
	} {
		spec := &v1alpha1.PodFailurePolicySpec{MatchConditions: []v1alpha1.MatchCondition{{Name: "a", Expression: tc.condition}}}
		for _, to := range []struct {
			object custom.AdmittedObject
			want   string
		}{{custom.AdmittedJob, tc.job}, {custom.AdmittedCronJob, tc.cronJob}} {
			if to.want == "" {
				continue
			}
			got, err := custom.ForAdmission(env, spec, to.object)
			if err != nil {
				t.Errorf("%s: %v", tc.condition, err)
				continue
			}
			if diff := cmp.Diff([]v1alpha1.MatchCondition{{Name: "a", Expression: to.want}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
}

// TestForAdmissionRefuses checks that conditions with a different meaning are rejected.
func TestForAdmissionRefuses(t *testing.T) {
	env := newEnvironment(t)
	for _, tc := range []struct {
		to              custom.AdmittedObject
		condition, want string
	}{
		{custom.AdmittedJob, "job.status.?failed.orValue(0) < 3", `spec.matchConditions[0].expression:1:1: error: job.status is not known when a Job is created, or changes later (not-at-admission)
 | job.status.?failed.orValue(0) < 3
 | ^`},
		{custom.AdmittedJob, "job.metadata.generation == 1 || job == job", `spec.matchConditions[0].expression:1:1: error: job.metadata.generation is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.generation == 1 || job == job
 | ^
spec.matchConditions[0].expression:1:33: error: job is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.generation == 1 || job == job
 | ................................^
spec.matchConditions[0].expression:1:40: error: job is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.generation == 1 || job == job
 | .......................................^`},
		{custom.AdmittedJob, "job.metadata.creationTimestamp > timestamp(0)", `spec.matchConditions[0].expression:1:14: error: job.metadata.creationTimestamp is a string in admission policies, and not what it is here (not-at-admission)
 | job.metadata.creationTimestamp > timestamp(0)
 | .............^
spec.matchConditions[0].expression:1:1: error: job.metadata.creationTimestamp is not known when a Job is created, or changes later (not-at-admission)
 | job.metadata.creationTimestamp > timestamp(0)
 | ^`},
		{custom.AdmittedJob, "job.spec.template.metadata.?creationTimestamp.hasValue()", `spec.matchConditions[0].expression:1:29: error: job.spec.template.metadata.?creationTimestamp is a string in admission policies, and not what it is here (not-at-admission)
 | job.spec.template.metadata.?creationTimestamp.hasValue()
 | ............................^`},
		{custom.AdmittedJob, "['a'].exists(object, job.metadata.name == object)", `spec.matchConditions[0].expression:1:22: error: an admission policy calls the Job object, which is the name of a loop's variable here (not-at-admission)
 | ['a'].exists(object, job.metadata.name == object)
 | .....................^
   give that variable another name`},
		{custom.AdmittedJob, "dyn(job.spec.template) == {} || '%s'.format(job.spec.template.spec.containers) == ''", `spec.matchConditions[0].expression:1:14: error: job.spec.template is a map in admission policies, and no object as here: dyn() tells them apart (not-at-admission)
 | dyn(job.spec.template) == {} || '%s'.format(job.spec.template.spec.containers) == ''
 | .............^
spec.matchConditions[0].expression:1:68: error: job.spec.template.spec.containers is a map in admission policies, and no object as here: format() tells them apart (not-at-admission)
 | dyn(job.spec.template) == {} || '%s'.format(job.spec.template.spec.containers) == ''
 | ...................................................................^`},
		{custom.AdmittedJob, "job.?status.?active.optMap(n, n > 1).orValue(false)", `spec.matchConditions[0].expression:1:1: error: job.?status is not known when a Job is created, or changes later (not-at-admission)
 | job.?status.?active.optMap(n, n > 1).orValue(false)
 | ^`},
		{custom.AdmittedCronJob, "job.metadata.name == 'a'", `spec.matchConditions[0].expression:1:1: error: job.metadata.name is not known when a CronJob is created: its Jobs get theirs later (not-at-admission)
 | job.metadata.name == 'a'
 | ^`},
		{custom.AdmittedCronJob, "job.spec.backoffLimit > 3", `spec.matchConditions[0].expression:1:10: error: a CronJob may lack backoffLimit, which the API server sets in its Jobs (not-at-admission)
 | job.spec.backoffLimit > 3
 | .........^`},
		{custom.AdmittedJob, "job.", `spec.matchConditions[0].expression:1:5: error: "." is not expected here (expression-syntax)
 | job.
 | ....^`},
	} {
		spec := &v1alpha1.PodFailurePolicySpec{MatchConditions: []v1alpha1.MatchCondition{{Name: "a", Expression: tc.condition}}}
		_, err := custom.ForAdmission(env, spec, tc.to)
		if _, ok := errors.AsType[*custom.Error](err); !ok {
			t.Errorf("%s: %v", tc.condition, err)
			continue
		}
		if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.condition, diff)
		}
	}
}
