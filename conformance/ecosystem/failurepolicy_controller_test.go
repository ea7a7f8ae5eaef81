package ecosystem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/yaml"

	decided "github.com/podverdict/podverdict/internal/kube/jobset"
)

// A story is a failurePolicy and what fails, time after time. Each line of fails is what fails at once: Jobs with their reasons,
// those that failed first in front. A Job of index 1 is a:1.
type story struct {
	policy string // "" is no policy
	fails  []string
	want   string // the reasons of the conditions and the counts in the end, as a check that the story is about something
}

const (
	byCode   = "PodFailurePolicy/Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0"
	byLimit  = "BackoffLimitExceeded/Job has reached the specified backoff limit"
	byTime   = "DeadlineExceeded/Job was active longer than specified deadline"
	byIndex  = "FailedIndexes/Job has failed indexes"
	byMany   = "MaxFailedIndexesExceeded/Job has exceeded the specified maximal number of failed indexes"
	aLimit   = "a:0 " + byLimit
	aCode    = "a:0 " + byCode
	ignoring = "{action: RestartJobSetAndIgnoreMaxRestarts, name: "
)

// Each JobSet has the replicatedJobs a, with two replicas, and b, with one.
var stories = map[bool][]story{
	false: {
		{"", []string{aLimit}, "FailedJobs 0/0"},
		{"", []string{"b:0 " + byTime + ", a:1 " + byCode}, "FailedJobs 0/0"},
		{"{}", []string{aLimit}, "ReachedMaxRestarts 0/0"},
		{"{maxRestarts: 1}", []string{aLimit}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 1}", []string{aLimit, "b:0 " + byLimit}, "ReachedMaxRestarts 1/1"},
		{"{maxRestarts: 3}", []string{aLimit, aCode, "b:0 " + byTime}, "DefaultFailurePolicy 3/3"},
		{"{maxRestarts: 2, restartStrategy: BlockingRecreate}", []string{aLimit, aLimit, aLimit}, "ReachedMaxRestarts 2/2"},
		{"{maxRestarts: 2, restartStrategy: Recreate}", []string{aLimit + ", a:1 " + byLimit + ", b:0 " + byLimit}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 2, rules: [{action: FailJobSet}]}", []string{aLimit}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 2, rules: [{action: RestartJobSet}]}", []string{aLimit}, "FailurePolicy_failurePolicyRule0 1/1"},
		{"{maxRestarts: 1, rules: [{action: RestartJobSet}]}", []string{aLimit, aLimit}, "ReachedMaxRestarts 1/1"},
		{"{rules: [" + ignoring + "x}]}", []string{aLimit, aLimit}, "FailurePolicy_x 2/0"},
		{"{maxRestarts: 1, rules: [" + ignoring + "x, onJobFailureReasons: [PodFailurePolicy]}]}", []string{aCode, aLimit, aCode}, "FailurePolicy_x 3/1"},
		{"{maxRestarts: 1, rules: [" + ignoring + "x, onJobFailureReasons: [PodFailurePolicy]}]}", []string{aCode, aLimit, aCode, aLimit}, "ReachedMaxRestarts 3/1"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}", []string{aLimit}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}", []string{aCode}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [FailedIndexes, MaxFailedIndexesExceeded]}]}", []string{"b:0 " + byMany}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [FailedIndexes]}]}", []string{"b:0 " + byMany}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [FailedIndexes]}]}", []string{"b:0 " + byIndex}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [DeadlineExceeded]}]}", []string{"a:1 " + byLimit + ", b:0 " + byTime}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, targetReplicatedJobs: [b]}]}", []string{aLimit}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, targetReplicatedJobs: [b]}]}", []string{aLimit + ", b:0 " + byLimit}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, targetReplicatedJobs: [a, b]}]}", []string{"b:0 " + byLimit + ", a:1 " + byLimit}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['exit code 42 ']}]}", []string{aCode}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['exit code 4 ']}]}", []string{aCode}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['(', '^Job has']}]}", []string{aLimit}, "FailJobSetFailurePolicyAction 0/0"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['(']}]}", []string{aLimit}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 1, rules: [{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy], onJobFailureMessagePatterns: ['^Job has']}]}", []string{aCode + ", b:0 " + byLimit}, "DefaultFailurePolicy 1/1"},
		{"{maxRestarts: 5, rules: [{action: RestartJobSet, name: first}, {action: FailJobSet, name: second}]}", []string{aLimit, aLimit}, "FailurePolicy_first 2/2"},
		{"{maxRestarts: 5, rules: [{action: FailJobSet, name: first, targetReplicatedJobs: [b]}, " + ignoring + "second}]}", []string{aLimit, aLimit, "b:0 " + byLimit}, "FailJobSetFailurePolicyAction 2/0"},
		{"{maxRestarts: 5, rules: [{action: RestartJob, name: first}]}", []string{aLimit}, " 0/0"},
		{"{maxRestarts: 5, rules: [{action: RestartJob, name: first, targetReplicatedJobs: [b]}]}", []string{aLimit}, "DefaultFailurePolicy 1/1"},
	},
	true: {
		{"{maxRestarts: 2, rules: [{action: RestartJob, name: x}]}", []string{aLimit}, " 0/0 a 1 0 1 0"},
		{"{maxRestarts: 2, rules: [{action: RestartJob, name: x}]}", []string{aLimit, "a:1 " + byLimit}, " 0/0 a 1 1 1 1"},
		{"{maxRestarts: 2, rules: [{action: RestartJob, name: x}]}", []string{aLimit, "b:0 " + byLimit, "a:1 " + byLimit}, "ReachedMaxRestarts 0/0 a 1 0 1 0 b 1 1"},
		{"{rules: [{action: RestartJobAndIgnoreMaxRestarts, name: x}]}", []string{aLimit, aLimit, "b:0 " + byLimit}, " 0/0 a 2 0 b 1"},
		{"{maxRestarts: 2, rules: [{action: RestartJob, name: x, targetReplicatedJobs: [a]}]}", []string{aLimit, "b:0 " + byLimit, aLimit}, "ReachedMaxRestarts 1/1 a 1 0 1 0"},
		{"{maxRestarts: 2, rules: [{action: RestartJob, name: x, targetReplicatedJobs: [a]}]}", []string{"b:0 " + byLimit, aLimit}, " 1/1 a 1 0 1 0"},
		{"{maxRestarts: 1, rules: [{action: RestartJob, name: x, targetReplicatedJobs: [a]}]}", []string{aLimit, "b:0 " + byLimit}, "ReachedMaxRestarts 0/0 a 1 0 1 0"},
		{"{maxRestarts: 9, rules: [{action: RestartJob, name: x}]}", []string{"a:1 " + byLimit + ", b:0 " + byLimit}, " 0/0 a 0 1 0 1 b 1 1"},
	},
}

// TestFailurePolicyStories has JobSet's controller live through the stories, on a real API server.
func TestFailurePolicyStories(t *testing.T) {
	w := newEcosystem(t, "")
	module := strings.TrimSpace(string(run(t, nil, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/jobset")))
	definition, err := os.ReadFile(filepath.Join(module, "config", "components", "crd", "bases", "jobset.x-k8s.io_jobsets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.kubectl(t, definition, "apply", "--server-side", "--force-conflicts", "-f", "-")
	objects, err := decode(definition)
	if err := errors.Join(err, w.awaitKinds(t.Context(), objects)); err != nil {
		t.Fatal(err)
	}
	for _, restartJob := range []bool{false, true} {
		t.Run(fmt.Sprint("RestartJob=", restartJob), func(t *testing.T) {
			gates := decided.Gates{RestartJob: restartJob}
			setGate(t, gates)
			c := w.startJobSet(t)
			t.Run("stories", func(t *testing.T) {
				for i, s := range stories[restartJob] {
					t.Run(fmt.Sprint(i), func(t *testing.T) {
						t.Parallel()
						s.play(t, c, w.Cluster.Namespace(t), gates)
					})
				}
			})
		})
	}
}

// A jobSetController is JobSet's controller in this process.
type jobSetController struct {
	client.Client
	// seeing is held while several Jobs fail at once, so that the controller does not see one without the others.
	seeing *sync.RWMutex
}

// List is what the controller sees its Jobs with.
func (c jobSetController) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c.seeing.RLock()
	defer c.seeing.RUnlock()
	return c.Client.List(ctx, list, options...)
}

func (w *ecosystem) startJobSet(t *testing.T) jobSetController {
	t.Helper()
	scheme := runtime.NewScheme()
	rest := *w.Cluster.Config
	rest.QPS, rest.Burst = 1000, 2000
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(&rest, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	for _, next := range []func() error{
		func() error { return err },
		func() error { return clientscheme.AddToScheme(scheme) },
		func() error { return v1alpha2.AddToScheme(scheme) },
		func() error { return controllers.SetupJobSetIndexes(ctx, manager.GetFieldIndexer()) },
	} {
		if err := next(); err != nil {
			t.Fatal(err)
		}
	}
	c := jobSetController{manager.GetClient(), &sync.RWMutex{}}
	reconciler := controllers.NewJobSetReconciler(c, scheme, manager.GetEventRecorder("jobset"))
	if err := reconciler.SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

const storySet = `
replicatedJobs:
- {name: a, replicas: 2, template: &job {spec: {managedBy: example.com/nobody, template: {spec: {containers: [{name: main, image: main}]}}}}}
- {name: b, replicas: 1, template: *job}
`

// play compares the status of the JobSet with what Decide says, after each of the failures.
func (s story) play(t *testing.T, c jobSetController, namespace string, gates decided.Gates) {
	t.Helper()
	set := &v1alpha2.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "set", Namespace: namespace}}
	text := storySet
	if s.policy != "" {
		text += "failurePolicy: " + s.policy
	}
	if err := yaml.UnmarshalStrict([]byte(text), &set.Spec); err != nil {
		t.Fatal(err)
	}
	decided.SetDefaults(set)
	if err := c.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	want := decided.Decision{Rule: -1}
	for n, fails := range s.fails {
		c.await(t, "the Jobs run", func(ctx context.Context) error { return c.jobsRun(ctx, set) })
		failed := c.fail(t, set, n, strings.Split(fails, ", "))
		for len(failed) > 0 {
			want = decided.Decide(set, failed, gates)
			set.Status = want.Status(set)
			if failed = failed[1:]; want.Action != v1alpha2.RestartJob { // a single Job leaves the others failed
				break
			}
		}
		c.await(t, "it has done what Decide says", func(ctx context.Context) error { return c.compare(ctx, set, want) })
	}
	if want.Restart == 0 && !want.Failed {
		time.Sleep(time.Second) // it may do something after all
	}
	if err := c.compare(t.Context(), set, want); err != nil {
		t.Error(err)
	}
	if got := inWords(set, want); got != s.want {
		t.Errorf("the story ends with %q, not %q", got, s.want)
	}
}

// inWords returns the reason and the counts in the end.
func inWords(set *v1alpha2.JobSet, d decided.Decision) string {
	reason := d.Reason
	if !d.Failed && strings.HasPrefix(string(d.Action), "RestartJob") && !strings.HasPrefix(string(d.Action), "RestartJobSet") {
		reason = ""
	}
	text := fmt.Sprintf("%s %d/%d", reason, set.Status.Restarts, set.Status.RestartsCountTowardsMax)
	for _, r := range set.Status.ReplicatedJobsStatus {
		text += " " + r.Name
		for _, n := range append(r.JobRestarts, r.JobRestartsCountTowardsMax...) {
			text += fmt.Sprint(" ", n)
		}
	}
	return text
}

func (c jobSetController) await(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	if err := await(t.Context(), what, check); err != nil {
		t.Fatal(err)
	}
}

// jobsRun returns an error as long as not all Jobs of the last restart are there, without having failed.
func (c jobSetController) jobsRun(ctx context.Context, set *v1alpha2.JobSet) error {
	var jobs batchv1.JobList
	if err := c.Client.List(ctx, &jobs, client.InNamespace(set.Namespace)); err != nil {
		return err
	}
	for _, job := range jobs.Items {
		if len(job.Status.Conditions) > 0 || job.DeletionTimestamp != nil ||
			job.Labels["jobset.sigs.k8s.io/restart-attempt"] != fmt.Sprint(set.Status.Restarts) {
			return fmt.Errorf("%s is an old one", job.Name)
		}
	}
	if len(jobs.Items) != 3 {
		return fmt.Errorf("there are %d Jobs", len(jobs.Items))
	}
	return nil
}

// fail has Jobs fail, each a second after the one before, and returns them when the controller can see them all.
func (c jobSetController) fail(t *testing.T, set *v1alpha2.JobSet, n int, fails []string) (failed []*batchv1.Job) {
	t.Helper()
	c.seeing.Lock()
	defer c.seeing.Unlock()
	start := metav1.NewTime(time.Now().Truncate(time.Second).Add(-time.Hour).Add(time.Duration(n) * time.Minute))
	for i, text := range fails {
		which, why, _ := strings.Cut(text, " ")
		name, index, _ := strings.Cut(which, ":")
		reason, message, _ := strings.Cut(why, "/")
		job := &batchv1.Job{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: set.Namespace, Name: fmt.Sprintf("set-%s-%s", name, index)}, job); err != nil {
			t.Fatal(err)
		}
		job.Status.StartTime = &start
		for _, of := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
				Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message,
				LastTransitionTime: metav1.NewTime(start.Add(time.Duration(i+1) * time.Second)),
			})
		}
		if err := c.Status().Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		failed = append(failed, job)
	}
	c.await(t, "the failures are known", func(ctx context.Context) error {
		for _, job := range failed {
			known := &batchv1.Job{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(job), known); err != nil || len(known.Status.Conditions) == 0 {
				return fmt.Errorf("%s: not failed, %w", job.Name, err)
			}
		}
		return nil
	})
	return failed
}

// compare returns an error if the real JobSet has another status than the one expected after a decision.
func (c jobSetController) compare(ctx context.Context, set *v1alpha2.JobSet, d decided.Decision) error {
	var got v1alpha2.JobSet
	if err := c.Get(ctx, client.ObjectKeyFromObject(set), &got); err != nil {
		return err
	}
	counts := cmp.Options{
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(v1alpha2.JobSetStatus{}, "Conditions"),
		cmpopts.IgnoreFields(v1alpha2.ReplicatedJobStatus{}, "Ready", "Succeeded", "Failed", "Active", "Suspended"),
		cmpopts.SortSlices(func(a, b v1alpha2.ReplicatedJobStatus) bool { return a.Name < b.Name }),
		cmpopts.IgnoreSliceElements(func(r v1alpha2.ReplicatedJobStatus) bool { return len(r.JobRestarts) == 0 }),
	}
	diff := cmp.Diff(set.Status, got.Status, counts)
	condition := meta.FindStatusCondition(got.Status.Conditions, string(v1alpha2.JobSetRestarting))
	if d.Failed {
		condition = meta.FindStatusCondition(got.Status.Conditions, string(v1alpha2.JobSetFailed))
	}
	restartsSet := d.Restart > 0 && strings.HasPrefix(string(d.Action), "RestartJobSet")
	if d.Failed || restartsSet {
		if condition == nil {
			condition = &metav1.Condition{}
		}
		diff += cmp.Diff([]string{d.Reason, d.Message}, []string{condition.Reason, condition.Message})
	}
	if diff != "" {
		return fmt.Errorf("-Decide +controller:\n%s", diff)
	}
	return nil
}
