//go:build cluster && unix

package fault

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/compiler/cel"
	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

var (
	soakPods  = flag.Int("history-pods", 2000, "how many Pods TestSoak has fail, in steps of 400")
	soakKills = flag.Duration("history-kills", 5*time.Second, "time from one kill of the controller to the next")
	soakKept  = flag.Bool("history", true, "have the controller keep history; without it, only its CPU time is measured")
)

const (
	jobPods   = 20       // pods per Job
	maxBytes  = 16 << 20 // bytes of all files, if that is enough for all Pods
	lineBytes = 4 << 10
)

// soak is a controller that is repeatedly killed, and its history.
type soak struct {
	*testcluster.World

	directory string
	command   func() *exec.Cmd
	bound     int64
	cpu       time.Duration
	most      int64 // maximum size of the files in bytes at any time
	kills     int
}

// TestSoak kills the controller repeatedly while Pods fail. It has its own control plane, because it counts all Pods and
// Jobs.
func TestSoak(t *testing.T) {
	world := testcluster.NewWorld(t, controlplane.StartNamed(t, "history"))
	s := &soak{World: world, directory: filepath.Join(t.TempDir(), "history"), bound: max(maxBytes, int64(*soakPods)*lineBytes)}
	s.command = s.build(t)
	managed, native := s.Cluster.Namespace(t), s.Cluster.Namespace(t)
	testcluster.PlayKubelet(t, s.Client, managed, func(*corev1.Pod) (int32, bool) { return 1, true })
	started := time.Now()
	var done atomic.Bool
	var work errgroup.Group
	work.Go(func() error { return s.runJobs(t.Context(), managed, *soakPods/2/jobPods) })
	work.Go(func() error { return s.playJobs(t.Context(), native, *soakPods/2/jobPods) })
	var err error
	go func() {
		err = work.Wait()
		done.Store(true)
	}()
	for !done.Load() {
		s.live(t, syscall.SIGKILL, *soakKills, done.Load)
	}
	if err != nil {
		t.Fatal(err)
	}
	failed := time.Since(started)
	s.settle(t, managed)
	t.Logf("%d Pods in %v, %d kills, %v of CPU time, %.1f MB of files at most", *soakPods, failed, s.kills, s.cpu, float64(s.most)/1e6)
	if *soakKept {
		s.check(t)
	}
}

// build returns a function that returns the controller's command.
func (s *soak) build(t *testing.T) func() *exec.Cmd {
	t.Helper()
	binary := build(t)
	arguments := []string{
		"--kubeconfig=" + s.Cluster.Kubeconfig(t, "soak", "system:masters"), "--leader-elect=false", "--health-bind-address=", "--metrics-bind-address=",
		"--kube-api-qps=-1", "--pod-failure-backoff=20ms", "--pod-failure-max-backoff=100ms", "--job-batch-period=100ms",
	}
	if *soakKept {
		arguments = append(arguments, "--history="+s.directory, fmt.Sprintf("--history-size=%d", s.bound))
	}
	return func() *exec.Cmd {
		command := exec.Command(binary, arguments...)
		testcluster.DieWithTest(command)
		return command
	}
}

// live runs the controller for a while, or until it has no work, and ends it by a signal.
func (s *soak) live(t *testing.T, end syscall.Signal, period time.Duration, done func() bool) {
	t.Helper()
	command := s.command()
	var log strings.Builder
	command.Stderr = &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(period); time.Now().Before(until) && !done(); time.Sleep(100 * time.Millisecond) {
		s.measure(t)
	}
	if err := command.Process.Signal(end); err != nil {
		t.Error(err, log.String())
	}
	_ = command.Wait() // it was killed
	s.cpu += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	s.kills++
	if command.ProcessState.ExitCode() > 0 {
		t.Fatalf("the controller ended by itself:\n%s", log.String())
	}
}

// measure checks the files against their bound.
func (s *soak) measure(t *testing.T) {
	t.Helper()
	total := int64(0)
	names, _ := filepath.Glob(filepath.Join(s.directory, "*"))
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted since
		}
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if s.most = max(s.most, total); total > s.bound {
		t.Errorf("the files have %d bytes, of %d", total, s.bound)
	}
}

// runJobs creates Jobs for the controller, whose Pods all fail, and waits for their ends.
func (s *soak) runJobs(ctx context.Context, namespace string, jobs int) error {
	const together = 4
	for n := range jobs {
		job := testcluster.ManagedJob(fmt.Sprintf("managed-%05d", n), ignoring)
		testcluster.Indexed(&job.Spec, jobPods, jobPods)
		job.Spec.BackoffLimitPerIndex = new(int32)
		if _, err := s.Client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := s.untilFinished(ctx, namespace, n-together); err != nil {
			return err
		}
	}
	return nil
}

// untilFinished waits for the end of the nth Job.
func (s *soak) untilFinished(ctx context.Context, namespace string, n int) error {
	for ; n >= 0; time.Sleep(50 * time.Millisecond) {
		job, err := s.Client.BatchV1().Jobs(namespace).Get(ctx, fmt.Sprintf("managed-%05d", n), metav1.GetOptions{})
		if err != nil || job.Status.Failed == jobPods && len(job.Status.Conditions) > 1 {
			return err
		}
	}
	return nil
}

// playJobs creates Jobs and their Pods, and makes all of the Pods fail.
func (s *soak) playJobs(ctx context.Context, namespace string, jobs int) error {
	for n := range jobs {
		job, err := s.Client.BatchV1().Jobs(namespace).Create(ctx, testcluster.NewJob(fmt.Sprintf("native-%05d", n), ignoring), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		var pods errgroup.Group
		pods.SetLimit(4)
		for i := range jobPods {
			pods.Go(func() error {
				pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: job.Spec.Template.Spec}
				pod.Name = fmt.Sprintf("%s-%d", job.Name, i)
				pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
				created, err := s.Client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
				if err != nil {
					return err
				}
				testcluster.End(created, int32(i+1))
				_, err = s.Client.CoreV1().Pods(namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
				return err
			})
		}
		if err := pods.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// ignoring gives a Job a policy that does not match its Pods.
func ignoring(spec *batchv1.JobSpec) {
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		testcluster.OnExitCodes(batchv1.PodFailurePolicyActionIgnore, 7),
	}}
}

// settle lets the controller finish its work, and ends it as a cluster does.
func (s *soak) settle(t *testing.T, managed string) {
	t.Helper()
	idle := func() bool { return false }
	for range 60 {
		s.live(t, syscall.SIGTERM, 10*time.Second, idle)
		s.kills--
		jobs, err := s.Client.BatchV1().Jobs(managed).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		finished := 0
		for _, job := range jobs.Items {
			if len(job.Status.Conditions) > 1 {
				finished++
			}
		}
		if finished == len(jobs.Items) {
			s.live(t, syscall.SIGTERM, 10*time.Second, idle)
			return
		}
	}
	t.Fatal("Jobs do not finish")
}

// check reads the files, and compares them with the objects in the cluster.
func (s *soak) check(t *testing.T) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.directory, "*.ndjson"))
	g, err := gathering.Read(t.Context(), manifest.Options{Filenames: files}, func(*manifest.Set) cel.Fields { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	verdicts, jobs := map[string]int{}, map[string]int{}
	for family, err := range g.Families() {
		if err != nil {
			t.Fatal(err)
		}
		if family.Job != nil {
			jobs[family.Name]++
		}
		s.count(family, verdicts)
	}
	all, err := s.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	missing, twice := 0, 0
	for _, pod := range all.Items {
		if pod.Status.Phase == corev1.PodFailed && verdicts[string(pod.UID)] == 0 {
			missing++
		}
	}
	for _, n := range verdicts {
		twice += n - 1
	}
	lines := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	}
	t.Logf("%d files with %d lines: %d Pods, %d Jobs", len(files), lines, len(verdicts), len(jobs))
	if missing+twice > 0 || len(verdicts) < *soakPods || len(jobs) != *soakPods/2/jobPods {
		t.Errorf("%d verdicts, of which %d are missing and %d there twice; %d Jobs", len(verdicts), missing, twice, len(jobs))
	}
}

func (*soak) count(family gathering.Family, verdicts map[string]int) {
	for _, pod := range family.Pods {
		if pod.Recorded != nil {
			verdicts[string(pod.Object.UID)]++
		}
	}
}
