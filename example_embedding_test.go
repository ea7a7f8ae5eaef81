package podverdict_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict"
	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// oom fails a Job whose Pod ran out of memory.
var oom = &v1alpha1.PodFailurePolicy{
	ObjectMeta: metav1.ObjectMeta{Name: "oom"},
	Spec: v1alpha1.PodFailurePolicySpec{Rules: []v1alpha1.Rule{{
		Name: "killed", Action: "FailJob", When: "pod.failedContainers().exists(c, c.oomKilled)",
	}}},
}

// A custom Job controller gets verdicts on Pods from the engine, and the next step from controller/plan.
func Example_jobController() {
	engine, err := podverdict.New(oom)
	if err != nil {
		panic(err)
	}
	job, pods := jobOfCluster() // from the caches
	var wrong error
	next := plan.Next(plan.Observation{
		Job: job, Pods: pods, Now: time.Now(), Current: true, Volatile: true,
		Judge: func(pod *corev1.Pod, _ int64, _ func() []cel.Attempt) podverdict.Verdict {
			verdict, err := engine.Judge(context.Background(), job, pod)
			wrong = errors.Join(wrong, err)
			return verdict
		},
	})
	if wrong != nil {
		panic(wrong) // the plan lacks verdicts: do not carry it out
	}
	condition := next.Write.Status.Conditions[0] // to be written; next also has the Pods to create, delete and let go
	fmt.Println(condition.Type, condition.Reason, len(next.Create))
	// Output: FailureTarget PodFailurePolicy 0
}

// jobOfCluster returns a Job with a Pod that ran out of memory.
func jobOfCluster() (*batchv1.Job, []*corev1.Pod) {
	managed := job.DeepCopy()
	managed.UID = "0b2e"
	managed.Spec.ManagedBy = ptr.To(v1alpha1.JobController)
	managed.Status.StartTime = &metav1.Time{Time: time.Now()}
	jobdefaults.Set(managed)
	created := plan.Next(plan.Observation{Job: managed, Now: time.Now(), Current: true}).Create[0]
	created.UID, created.Status = "77aa", pod.Status
	return managed, []*corev1.Pod{created}
}

// A webhook rejects Jobs that would retry a Pod that ran out of memory, by judging a hypothetical Pod.
func Example_webhook() {
	engine, err := podverdict.New()
	if err != nil {
		panic(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var job batchv1.Job
		if json.NewDecoder(r.Body).Decode(&review) != nil || review.Request == nil || json.Unmarshal(review.Request.Object.Raw, &job) != nil {
			http.Error(w, "not a review of a Job", http.StatusBadRequest)
			return
		}
		verdict, err := engine.Judge(r.Context(), &job, outOfMemory, podverdict.Enforced(false))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: verdict.Action == "FailJob"}
		if !response.Allowed {
			response.Result = &metav1.Status{Message: fmt.Sprintf("a Pod that ran out of memory would get %s", verdict.Action)}
		}
		review.Request, review.Response = nil, response
		if err := json.NewEncoder(w).Encode(review); err != nil {
			panic(http.ErrAbortHandler) // the API server has gone
		}
	}
	fmt.Println(send(handler, `{"spec": {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [137]}}]}}}`))
	fmt.Println(send(handler, `{"spec": {}}`))
	// Output:
	// true
	// false a Pod that ran out of memory would get Count
}

// outOfMemory is the hypothetical Pod that the webhook judges.
var outOfMemory = pod

// send sends a Job to a webhook.
func send(handler http.HandlerFunc, job string) string {
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"request": {"uid": "1", "object": `+job+`}}`))
	recorder := httptest.NewRecorder()
	handler(recorder, request)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprint(review.Response.Allowed, " ", ptr.Deref(review.Response.Result, metav1.Status{}).Message))
}

// A batch system that has Pods but no Jobs uses only policies. It supplies the earlier attempts of a task.
func Example_batchSystem() {
	flaky := oom.DeepCopy()
	flaky.Spec.Rules[0].Action = "Ignore"
	flaky.Spec.Rules[0].Budget = &v1alpha1.Budget{Limit: 2, Then: "FailJob"} // twice for free
	engine, err := podverdict.New(flaky)
	if err != nil {
		panic(err)
	}
	attempts := attemptsOfTask() // from one's own database
	for i, pod := range attempts {
		verdict, err := engine.Judge(context.Background(), nil, pod, podverdict.Earlier(attempts[:i]...))
		if err != nil {
			panic(err)
		}
		fmt.Println(pod.Name, map[batchv1.PodFailurePolicyAction]string{
			"Ignore": "runs again for free", "Count": "costs an attempt", "FailIndex": "fails the task", "FailJob": "fails the workflow",
		}[verdict.Action])
	}
	// Output:
	// task-1 runs again for free
	// task-2 runs again for free
	// task-3 fails the workflow
}

// attemptsOfTask returns three Pods that ran one after another.
func attemptsOfTask() []*corev1.Pod {
	attempts := make([]*corev1.Pod, 3)
	for i := range attempts {
		attempts[i] = pod.DeepCopy()
		attempts[i].Name = fmt.Sprintf("task-%d", i+1)
		attempts[i].Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.Unix(int64(60*i), 0)
	}
	return attempts
}
