//go:build cluster

package fault

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/controller/leadership"
	"github.com/podverdict/podverdict/controller/plan"
)

// The lease of the replicas is short, so that many events happen during a Job's life.
const (
	leaseDuration = 5 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = 500 * time.Millisecond
	leaseName     = "podverdict-controller"
)

// Other settings of the replicas.
const (
	batchPeriod = 200 * time.Millisecond
	backoff     = 200 * time.Millisecond
	maxBackoff  = time.Second
	callsASec   = 200
)

// replicating, as its first argument, makes the test binary a replica with a wrong clock.
const replicating = "replica"

// shiftedClock is a clock that is off by a constant time.
type shiftedClock struct {
	clock.RealClock

	by time.Duration
}

// Now returns the wrong time.
func (c shiftedClock) Now() time.Time { return c.RealClock.Now().Add(c.by) }

// Since is right for times of the same clock.
func (c shiftedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// replicate is the main function of a replica with a wrong clock. It returns the exit code, like the shipped program.
func replicate(arguments []string) int {
	fs := flag.NewFlagSet(replicating, flag.ExitOnError)
	kubeconfig, namespace := fs.String("kubeconfig", "", ""), fs.String("namespace", "", "")
	shift := fs.Duration("shift", 0, "")
	_ = fs.Parse(arguments) // it exits on errors
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Background().Error(err, "No kubeconfig")
		return 2
	}
	config.QPS, config.Burst = callsASec, callsASec
	c, err := controller.New(controller.Options{
		Config: config, Namespace: *namespace, Observe: true, BatchPeriod: batchPeriod, Clock: shiftedClock{by: *shift},
		Settings: plan.Settings{Backoff: backoff, MaxBackoff: maxBackoff},
	})
	if err != nil {
		klog.Background().Error(err, "No controller")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err = leadership.Elect(ctx, leadership.Election{
		Config: config, Namespace: *namespace, Name: leaseName, Identity: string(uuid.NewUUID()),
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
	}, c.Run)
	if err != nil {
		klog.Background().Error(err, "The work cannot go on")
		return 1
	}
	return 0
}

// replica is a controller that is restarted whenever it ends, as by the kubelet. Its calls go through a wire.
type replica struct {
	*gate

	command func() *exec.Cmd
	logs    string // folder for log files

	guard   sync.Mutex
	process *os.Process // nil between two lives
	lives   int
	wrong   []string
}

// shipped returns a replica that runs the shipped program.
func (s *stage) shipped(t *testing.T, binary string, w *wire) *replica {
	t.Helper()
	g := newGate(t, s.config, w)
	kubeconfig := g.kubeconfig(t)
	return &replica{gate: g, logs: t.TempDir(), command: func() *exec.Cmd {
		return exec.Command(binary, "--kubeconfig="+kubeconfig, "--namespace="+s.Namespace, "--health-bind-address=", "--metrics-bind-address=",
			"--leader-elect-resource-namespace="+s.Namespace, "--leader-elect-resource-name="+leaseName,
			"--leader-elect-lease-duration="+leaseDuration.String(), "--leader-elect-renew-deadline="+renewDeadline.String(),
			"--leader-elect-retry-period="+retryPeriod.String(), "--kube-api-qps="+strconv.Itoa(callsASec), "--kube-api-burst="+strconv.Itoa(callsASec),
			"--pod-failure-backoff="+backoff.String(), "--pod-failure-max-backoff="+maxBackoff.String(), "--job-batch-period="+batchPeriod.String())
	}}
}

// shifted returns a replica with a wrong clock, off by another time in each life.
func (s *stage) shifted(t *testing.T, w *wire, random *rand.Rand) *replica {
	t.Helper()
	g := newGate(t, s.config, w)
	kubeconfig := g.kubeconfig(t)
	return &replica{gate: g, logs: t.TempDir(), command: func() *exec.Cmd {
		shift := time.Duration(random.IntN(2*int(maxShift)+1)) - maxShift
		return exec.Command(os.Args[0], replicating, "-kubeconfig="+kubeconfig, "-namespace="+s.Namespace, "-shift="+shift.String())
	}}
}

// maxShift is the maximum error of a replica's clock.
const maxShift = 6 * time.Second

// keep keeps the replica running until the test ends.
func (r *replica) keep(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			if err := r.live(ctx); err != nil {
				r.guard.Lock()
				r.wrong = append(r.wrong, err.Error())
				r.guard.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-over
		for _, wrong := range r.wrong {
			t.Error(wrong)
		}
	})
}

// live runs one life. It returns an error if the life ended unexpectedly.
func (r *replica) live(ctx context.Context) error {
	r.guard.Lock()
	log, err := os.Create(filepath.Join(r.logs, strconv.Itoa(r.lives)))
	if err != nil {
		r.guard.Unlock()
		return err
	}
	defer log.Close()
	command := r.command()
	command.Stderr = log
	if err := command.Start(); err != nil {
		r.guard.Unlock()
		return err
	}
	r.process = command.Process
	r.lives++
	r.guard.Unlock()

	defer context.AfterFunc(ctx, func() { _ = command.Process.Kill() })() // it may have ended
	_ = command.Wait()                                                    // the exit code is checked instead
	r.guard.Lock()
	r.process = nil
	r.guard.Unlock()
	return verdict(command, log.Name())
}

// verdict returns an error if a life ended in a wrong way. It may be killed, stop on request (0), or end itself because
// its lease is lost (1).
func verdict(command *exec.Cmd, log string) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	code := command.ProcessState.ExitCode()
	if code < 2 && !bytes.Contains(text, []byte("panic:")) && !bytes.Contains(text, []byte("DATA RACE")) {
		return nil
	}
	const most = 8000
	return fmt.Errorf("%v of %v:\n%s", command.ProcessState, command.Args, text[max(0, len(text)-most):])
}

// signal sends a signal to the replica, if it is running.
func (r *replica) signal(s syscall.Signal) {
	r.guard.Lock()
	defer r.guard.Unlock()
	if r.process != nil {
		_ = r.process.Signal(s) // it may have ended
	}
}

// lastRenewed returns the time when the replica last wrote the lease.
func (r *replica) lastRenewed() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.renewed
}
