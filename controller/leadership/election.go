package leadership

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

// Election configures how a replica becomes leader by acquiring and renewing a lease.
type Election struct {
	// Config is the client configuration for the API server. Its QPS is ignored, so that renewals never wait for other calls.
	Config *rest.Config
	// Namespace and Name identify the lease.
	Namespace, Name string
	// Identity is unique to this replica; a restarted replica needs a new one.
	Identity string
	// LeaseDuration is the time that other replicas wait for a leader that does not renew, in whole seconds.
	LeaseDuration time.Duration
	// RenewDeadline is the time for which the leader retries a renewal before it gives up. It must be shorter than
	// LeaseDuration.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two attempts. RenewDeadline must be longer than 1.2 times RetryPeriod.
	RetryPeriod time.Duration
	// Watchdog, if not nil, detects a leader that keeps working after its lease has expired.
	Watchdog *leaderelection.HealthzAdaptor
}

// Elect waits for the lease and calls run while it holds it. When ctx is done or run returns, Elect releases the lease, but
// only after run has returned: two replicas never work at the same time. If the lease is lost, because it could not be renewed
// or another replica holds it, Elect cancels the context of run, waits for run and returns an error.
func Elect(ctx context.Context, e Election, run func(context.Context) error) error {
	// The lease is renewed until run has returned, so ctx must not end the candidacy.
	candidacy, withdraw := context.WithCancel(context.WithoutCancel(ctx))
	defer withdraw()
	leases := make(chan context.Context, 1)
	elector, lock, err := e.elector(withdraw, leases)
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		elector.Run(candidacy)
	}()

	lost := false
	select {
	case <-ctx.Done():
	case lease := <-leases:
		err = lead(ctx, lease, run)
		lost = lease.Err() != nil
	}
	withdraw()
	<-over
	if lost {
		return errLeaseLost(e, err)
	}
	if elector.IsLeader() {
		e.release(ctx, lock)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // ctx is done: the caller stopped the election
	}
	return err
}

// lead calls run until ctx or the lease's context is done.
func lead(ctx, lease context.Context, run func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(lease, stop)()
	return run(ctx)
}

// elector returns a candidate for the lease. When elected, it sends a context on leases, which is done when the lease is no
// longer renewed.
func (e Election) elector(withdraw func(), leases chan<- context.Context) (*leaderelection.LeaderElector, resourcelock.Interface, error) {
	config := rest.CopyConfig(e.Config)
	config.QPS, config.Burst, config.RateLimiter = 0, 0, nil // client-go's defaults, separate from other clients
	config.Timeout = max(e.RenewDeadline/2, time.Second)     // leaves time for a second try
	client, err := coordinationclient.NewForConfig(rest.AddUserAgent(config, "leader-election"))
	if err != nil {
		return nil, nil, err
	}
	lock := &observedLock{Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: e.LeaseDuration,
		RenewDeadline: e.RenewDeadline,
		RetryPeriod:   e.RetryPeriod,
		WatchDog:      e.Watchdog,
		Name:          e.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lease context.Context) { leases <- lease },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	lock.observe = func(holder string) {
		if elector.IsLeader() && holder != e.Identity && holder != "" {
			withdraw()
		}
	}
	if e.Watchdog != nil {
		e.Watchdog.SetLeaderElection(elector)
	}
	return elector, lock, nil
}

// release releases the lease if this replica still holds it. The library would release it before run has returned. A cancelled
// renewal may still arrive, so release retries with a fresh read when the lease has changed.
func (e Election) release(ctx context.Context, lock resourcelock.Interface) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), e.RenewDeadline)
	defer stop()
	logger := klog.FromContext(ctx).WithValues("lease", lock.Describe())
	var released bool
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		released, err = e.tryRelease(ctx, lock)
		return err
	})
	switch {
	case err != nil:
		logger.Error(err, "The lease is not released, and has to expire")
	case released:
		logger.Info("Released the lease")
	}
}

func (e Election) tryRelease(ctx context.Context, lock resourcelock.Interface) (released bool, err error) {
	record, _, err := lock.Get(ctx)
	if err != nil || record.HolderIdentity != e.Identity {
		return false, err
	}
	now := metav1.Now()
	err = lock.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now,
	})
	return err == nil, err
}

// observedLock calls observe with the holder's identity whenever the lease is read. Without it, the elector would try until
// RenewDeadline to renew a lease that another replica holds.
type observedLock struct {
	resourcelock.Interface

	observe func(holder string)
}

// Get reads the lease.
func (l *observedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.observe(record.HolderIdentity)
	}
	return record, raw, err
}

func errLeaseLost(e Election, err error) error {
	lost := fmt.Errorf("the lease %s/%s is lost: it was not renewed for %s, or another replica has it", e.Namespace, e.Name, e.RenewDeadline)
	if err == nil || errors.Is(err, context.Canceled) {
		return lost
	}
	return fmt.Errorf("%w; %w", lost, err)
}
