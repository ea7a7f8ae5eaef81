//go:build cluster

package tenants

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// attacker is a user that may edit its own namespace, and view the victim's.
type attacker struct {
	*testing.T
	*tenancy

	user      kubernetes.Interface
	namespace string
	victim    string          // the victim's namespace
	under     context.Context // ends with the attack
	loops     sync.WaitGroup
	barriers  int
}

// exitAnnotation is the exit code of an attacker's Pod. A Pod without it does not end.
const exitAnnotation = "exit"

// runsAnnotation is the index, or slot, whose Pods do not end despite exitAnnotation.
const runsAnnotation = "runs"

func exitOf(pod *corev1.Pod) (int32, bool) {
	code, err := strconv.ParseInt(pod.Annotations[exitAnnotation], 10, 32)
	if slot, _, made := plan.Place(pod); made && pod.Annotations[runsAnnotation] == strconv.Itoa(slot) {
		return 0, false
	}
	return int32(code), err == nil
}

// hangsAnnotation makes a Pod's container continue when the Pod is deleted.
const hangsAnnotation = "hangs"

// actOf returns the behaviour of the container of a Pod on a node.
func actOf(pod *corev1.Pod) testcluster.Act {
	code, ends := exitOf(pod)
	return testcluster.Act{Ends: ends, Code: code, Hangs: pod.Annotations[hangsAnnotation] != ""}
}

// withoutNode applies exit to Pods without a node, and leaves other Pods to their nodes.
func withoutNode(exit func(*corev1.Pod) (int32, bool)) func(*corev1.Pod) (int32, bool) {
	return func(pod *corev1.Pod) (int32, bool) {
		if pod.Spec.NodeName != "" {
			return 0, false
		}
		return exit(pod)
	}
}

// exits makes the Pods of a Job exit with a code.
func exits(s *batchv1.JobSpec, code int) {
	metav1.SetMetaDataAnnotation(&s.Template.ObjectMeta, exitAnnotation, strconv.Itoa(code))
}

// must fails the test if the attacker is not allowed to do what it does, unless the installation prevents it.
func (a *attacker) must(err error) {
	a.Helper()
	if err != nil && a.under.Err() == nil && !prevented(err) {
		a.Fatal(err)
	}
}

// prevented reports whether an admission policy has rejected a call. Only the installation has such policies.
func prevented(err error) bool {
	return err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
}

// again repeats do until the attack is over, at most perSecond times a second. It tolerates errors, but fails the test if
// every call fails.
func (a *attacker) again(perSecond int, do func(ctx context.Context, n int) error) {
	a.loops.Add(1)
	var worked atomic.Int32
	var last error
	a.Cleanup(func() {
		if worked.Load() == 0 {
			a.Errorf("no call of the attack had an effect: %v", last)
		}
	})
	go func() {
		defer a.loops.Done()
		ticker := time.NewTicker(time.Second / time.Duration(perSecond))
		defer ticker.Stop()
		for n := 0; a.under.Err() == nil; n++ {
			if err := do(a.under, n); err == nil || prevented(err) {
				worked.Add(1)
			} else {
				last = err
			}
			select {
			case <-ticker.C:
			case <-a.under.Done():
			}
		}
	}()
}

func (a *attacker) jobs() batchv1client.JobInterface { return a.user.BatchV1().Jobs(a.namespace) }

// create creates a Job of the attacker.
func (a *attacker) create(job *batchv1.Job) *batchv1.Job {
	a.Helper()
	made, err := a.jobs().Create(a.under, job, metav1.CreateOptions{})
	a.must(err)
	return made
}

// createPod creates a Pod of the attacker. It ends with the exit code unless that is "".
func (a *attacker) createPod(name, exit string, change func(*corev1.Pod)) *corev1.Pod {
	a.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}, Spec: testcluster.NewJob("", nil).Spec.Template.Spec}
	if exit != "" {
		pod.Annotations[exitAnnotation] = exit
	}
	if change != nil {
		change(pod)
	}
	made, err := a.user.CoreV1().Pods(a.namespace).Create(a.under, pod, metav1.CreateOptions{})
	a.must(err)
	return made
}

// patch applies a JSON merge patch to an object; the resource is "jobs" or "pods".
func (a *attacker) patch(ctx context.Context, resource, name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if resource == "jobs" {
		_, err = a.jobs().Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{})
	} else {
		_, err = a.user.CoreV1().Pods(a.namespace).Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{})
	}
	return err
}

// annotate changes annotations; a nil value removes one.
func (a *attacker) annotate(ctx context.Context, resource, name string, annotations map[string]any) error {
	return a.patch(ctx, resource, name, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// ownedBy returns a patch that gives a Pod an owner, the label that the controller watches by, and a finalizer that keeps
// the Pod when the garbage collector deletes it.
func ownedBy(owner metav1.OwnerReference) map[string]any {
	return map[string]any{"metadata": map[string]any{
		"ownerReferences": []metav1.OwnerReference{owner},
		"labels":          map[string]string{batchv1.ControllerUidLabel: string(owner.UID), batchv1.JobNameLabel: owner.Name},
		"finalizers":      []string{stay, batchv1.JobTrackingFinalizer},
	}}
}

// stay is a finalizer of the attacker.
const stay = "example.com/stay"

// victimsJobs returns the victim's managed Jobs, as visible to the attacker.
func (a *attacker) victimsJobs() (jobs []*batchv1.Job) {
	a.Helper()
	for _, planned := range victimJobs {
		job, err := a.user.BatchV1().Jobs(a.victim).Get(a.under, planned.name, metav1.GetOptions{})
		a.must(err)
		if job.Spec.ManagedBy != nil {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// controls returns a controller reference to a Job.
func controls(job *batchv1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}

// untilEnded waits until the kubelet has ended Pods of the attacker.
func (a *attacker) untilEnded(names ...string) {
	a.Helper()
	for _, name := range names {
		testcluster.Within(a, patience, "Pod "+name+" has ended", func(ctx context.Context) (bool, error) {
			pod, err := a.user.CoreV1().Pods(a.namespace).Get(ctx, name, metav1.GetOptions{})
			return err == nil && pod.Status.Phase != corev1.PodPending, err
		})
	}
}

// barrier waits until the controller has processed all earlier actions of the attacker: a later Job has ended.
func (a *attacker) barrier() {
	a.Helper()
	a.barriers++
	job := a.create(newJob(fmt.Sprintf("barrier-%d", a.barriers), func(s *batchv1.JobSpec) { exits(s, 0) }))
	a.untilFinished(job.Name)
}

// untilFinished waits for the end of a Job of the attacker.
func (a *attacker) untilFinished(name string) (job *batchv1.Job) {
	a.Helper()
	testcluster.Within(a, patience, "the attacker's Job "+name+" has ended", func(ctx context.Context) (_ bool, err error) {
		if job, err = a.jobs().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		return testcluster.Finished(job) != nil, fmt.Errorf("status %+v", job.Status)
	})
	return job
}

// pods returns the attacker's Pods, only those of a Job unless job is "".
func (a *attacker) pods(ctx context.Context, job string) ([]corev1.Pod, error) {
	var o metav1.ListOptions
	if job != "" {
		o.LabelSelector = batchv1.JobNameLabel + "=" + job
	}
	pods, err := a.user.CoreV1().Pods(a.namespace).List(ctx, o)
	if err != nil {
		return nil, err
	}
	return pods.Items, nil
}

// writes returns the number of the controller's writes in the attacker's namespace.
func (a *attacker) writes() (count int) {
	return a.writesTo(func(auditv1.Event) bool { return true })
}

// ownPatches returns the number of successful patches by the attacker in its namespace.
func (a *attacker) ownPatches() (count int) {
	for _, event := range a.Cluster.AuditLog(a, a.namespace) {
		if event.User.Username == tenant && event.Verb == "patch" && event.ResponseStatus.Code == http.StatusOK {
			count++
		}
	}
	return count
}

// writesTo returns the number of the controller's writes for which such returns true.
func (a *attacker) writesTo(such func(auditv1.Event) bool) (count int) {
	for _, event := range a.Cluster.AuditLog(a, a.namespace) {
		if strings.HasSuffix(event.User.Username, ":"+testcluster.Name) && such(event) {
			count++
		}
	}
	return count
}

// podWrites returns the number of writes of a kind to Pods with a name prefix.
func (a *attacker) podWrites(verb, subresource, prefix string) int {
	return a.writesTo(func(e auditv1.Event) bool {
		o := e.ObjectRef
		return o.Resource == "pods" && e.Verb == verb && o.Subresource == subresource && strings.HasPrefix(o.Name, prefix)
	})
}

// ignoreGone returns nil for errors which mean that the object is gone, has changed or exists already.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
