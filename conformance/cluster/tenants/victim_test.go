//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// plannedJob is one of the victim's Jobs, and the fates of its Pods.
type plannedJob struct {
	name string
	spec func(*batchv1.JobSpec)
	// exit returns the exit code of an attempt at an index, or 0 and false if it does not end. Attempts count from 1.
	exit func(index, attempt int) (code int32, ends bool)
	// told is the number of verdicts reported in events: those that a rule decided.
	told int
	// loops is true if the containers of the first attempts restart in place, without end.
	loops bool
}

// victimJobs end in every possible way.
var victimJobs = []plannedJob{
	{
		name: "succeeds",
		spec: func(s *batchv1.JobSpec) { testcluster.Indexed(s, 4, 2) },
		exit: func(int, int) (int32, bool) { return 0, true },
	}, {
		name: "retries", // each second attempt succeeds
		spec: func(s *batchv1.JobSpec) {
			s.Completions, s.Parallelism, s.BackoffLimit = new(int32(2)), new(int32(2)), new(int32(6))
		},
		exit: func(_, attempt int) (int32, bool) { return int32(max(0, 2-attempt)), true },
	}, {
		name: "fails", // one Pod fails by policy, the other runs
		spec: func(s *batchv1.JobSpec) {
			testcluster.Indexed(s, 2, 2)
			s.PodFailurePolicy = failJob(42)
		},
		exit: func(index, _ int) (int32, bool) { return 42, index == 1 },
		told: 1,
	}, {
		name: "exceeds",
		spec: func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(1)) },
		exit: func(int, int) (int32, bool) { return 1, true },
	}, {
		name: "indexes", // one index fails for good
		spec: func(s *batchv1.JobSpec) {
			testcluster.Indexed(s, 3, 3)
			s.BackoffLimit, s.BackoffLimitPerIndex = nil, new(int32(1))
		},
		exit: func(index, _ int) (int32, bool) { return int32(index % 2), true },
	}, {
		name: "budget", // the platform's policy tolerates two attempts
		spec: func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(6)) },
		exit: func(int, int) (int32, bool) { return temporary, true },
		told: 3,
	}, {
		name:  "loops", // until the platform's policy ends the Pod
		spec:  func(s *batchv1.JobSpec) { restartInPlace(s, quietNode) },
		exit:  func(int, int) (int32, bool) { return restartCode, true },
		told:  1,
		loops: true,
	}, {
		name: "native", // Kubernetes runs it, and the controller observes it
		spec: func(s *batchv1.JobSpec) {
			s.ManagedBy = nil
			testcluster.Indexed(s, 1, 1)
			s.PodFailurePolicy = failJob(42)
		},
		exit: func(int, int) (int32, bool) { return 42, true },
		told: 1,
	},
}

func failJob(code int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{testcluster.OnExitCodes(batchv1.PodFailurePolicyActionFailJob, code)}}
}

// newJob returns a managed Job of one Pod.
func newJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	return testcluster.ManagedJob(name, func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism, s.BackoffLimit = new(int32(1)), new(int32(1)), new(int32(0))
		if change != nil {
			change(s)
		}
	})
}

// victim is a namespace with the victim's Jobs.
type victim struct {
	client    kubernetes.Interface
	namespace string
	running   atomic.Bool // whether the kubelet ends Pods
	begin     time.Time
}

// newVictim creates the Jobs, and waits for the first Pods of all. No Pod ends before run.
func (w *tenancy) newVictim(t *testing.T, namespace string) *victim {
	t.Helper()
	client := w.Client
	v := &victim{client: client, namespace: namespace, begin: time.Now()}
	w.scripts.Store(namespace, testcluster.Script(v.act))
	testcluster.PlayKubelet(t, client, namespace, v.exit)
	for _, planned := range victimJobs {
		w.CreateJob(t, namespace, newJob(planned.name, planned.spec))
	}
	for _, planned := range victimJobs {
		v.eventually(t, "the Pods of "+planned.name+" are created", func(ctx context.Context) (bool, error) {
			job, err := client.BatchV1().Jobs(namespace).Get(ctx, planned.name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			return job.Status.Active == *job.Spec.Parallelism, fmt.Errorf("status %+v", job.Status)
		})
	}
	return v
}

// patience is the timeout for Jobs that should take seconds. It must suffice on a machine whose cores are all busy.
const patience = 45 * time.Second

// eventually is testcluster.Within with a deadline that depends on the age of the Jobs.
func (v *victim) eventually(t *testing.T, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	testcluster.Within(t, patience-time.Since(v.begin), what, is)
}

// exit returns the fate of Pods without a node.
func (v *victim) exit(pod *corev1.Pod) (int32, bool) {
	at := slices.IndexFunc(victimJobs, func(p plannedJob) bool { return p.name == pod.Labels[batchv1.JobNameLabel] })
	if at < 0 || !v.running.Load() || victimJobs[at].loops == (pod.Spec.NodeName == "") {
		return 0, false
	}
	index, attempt, _ := plan.Place(pod)
	return victimJobs[at].exit(index, attempt)
}

// act returns the fate of Pods on a node.
func (v *victim) act(pod *corev1.Pod) testcluster.Act {
	code, ends := v.exit(pod)
	return testcluster.Act{Ends: ends, Code: code}
}

// outcome has the outcomes of the victim's Jobs, by name.
type outcome map[string]jobOutcome

// jobOutcome has the facts that must not depend on an attack.
type jobOutcome struct {
	Condition, Reason, Message  string
	Succeeded, Failed           int32
	CompletedIndexes, FailedIdx string
	Left                        string // must be 0 or empty at the end
	Pods                        []string
	Verdicts                    int // number of events
}

// run lets the kubelet end the Pods, waits until all is settled, and returns the outcomes of the Jobs, and the time since
// their creation.
func (v *victim) run(t *testing.T) (all outcome, took time.Duration) {
	t.Helper()
	v.running.Store(true)
	all = outcome{}
	for _, planned := range victimJobs {
		v.eventually(t, "Job "+planned.name+" has ended, and its Pods are let go", func(ctx context.Context) (bool, error) {
			job, err := v.client.BatchV1().Jobs(v.namespace).Get(ctx, planned.name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			pods, err := v.podsOf(ctx, job)
			if err != nil {
				return false, err
			}
			held := slices.ContainsFunc(pods, func(p corev1.Pod) bool { return len(p.Finalizers) > 0 })
			all[planned.name] = v.outcomeOf(job, pods)
			return all[planned.name].Condition != "" && !held, fmt.Errorf("status %+v", job.Status)
		})
	}
	took = time.Since(v.begin)
	for _, planned := range victimJobs {
		o := all[planned.name]
		for deadline := time.Now().Add(patience / 3); time.Now().Before(deadline) && o.Verdicts < planned.told; time.Sleep(50 * time.Millisecond) {
			var err error
			if o.Verdicts, err = v.verdicts(t.Context(), planned.name); err != nil {
				t.Fatal(err)
			}
		}
		all[planned.name] = o
	}
	return all, took
}

func (v *victim) podsOf(ctx context.Context, job *batchv1.Job) ([]corev1.Pod, error) {
	pods, err := v.client.CoreV1().Pods(v.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{batchv1.JobNameLabel: job.Name}).String(),
	})
	if err != nil {
		return nil, err
	}
	return pods.Items, nil
}

func (v *victim) verdicts(ctx context.Context, job string) (told int, err error) {
	events, err := v.client.EventsV1().Events(v.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for _, e := range events.Items {
		if e.ReportingController == controller.Name && e.Regarding.Kind == "Pod" && strings.HasPrefix(e.Regarding.Name, job+"-") {
			told++
		}
	}
	return told, nil
}

func (v *victim) outcomeOf(job *batchv1.Job, pods []corev1.Pod) jobOutcome {
	s := job.Status
	o := jobOutcome{
		Succeeded: s.Succeeded, Failed: s.Failed,
		CompletedIndexes: s.CompletedIndexes, FailedIdx: ptr.Deref(s.FailedIndexes, ""),
		Left: fmt.Sprintf("active %d, terminating %d, ready %d", s.Active, ptr.Deref(s.Terminating, 0), ptr.Deref(s.Ready, 0)),
	}
	if u := s.UncountedTerminatedPods; u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
		o.Left += ", uncounted"
	}
	if end := testcluster.Finished(job); end != nil {
		o.Condition, o.Reason, o.Message = string(end.Type), end.Reason, v.anonymous(end.Message)
	}
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			continue // the kubelet is about to remove it
		}
		slot, attempt, _ := plan.Place(&pod)
		o.Pods = append(o.Pods, fmt.Sprintf("%s slot %d attempt %d %s", v.anonymous(pod.Name), slot, attempt, pod.Status.Phase))
	}
	slices.Sort(o.Pods)
	return o
}

var suffix = regexp.MustCompile(`-[a-z0-9]{5}( |$)`)

// anonymous returns a text without the parts that differ from namespace to namespace.
func (v *victim) anonymous(text string) string {
	return suffix.ReplaceAllString(strings.ReplaceAll(text, v.namespace, "NAMESPACE"), "$1")
}
