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

// Election is how one of several replicas is chosen to work: it holds a lease, and renews it.
type Election struct {
	// Config is for the API server. The lease does not wait for the calls of others: its QPS is not used.
	Config *rest.Config
	// Namespace and Name are those of the lease.
	Namespace, Name string
	// Identity is this replica's, and no other's, also not that of one before it.
	Identity string
	// LeaseDuration is how long the others wait for a leader that does not renew; in whole seconds.
	LeaseDuration time.Duration
	// RenewDeadline is how long the leader tries to renew before it gives up. It is shorter than LeaseDuration.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two tries. It is shorter than RenewDeadline by a fifth at least.
	RetryPeriod time.Duration
	// Watchdog, if there is one, is given the elector, so that it notices a leader that does not end with its lease.
	Watchdog *leaderelection.HealthzAdaptor
}

// Elect waits for the lease and calls run while it is held. When ctx is done, or run returns, the lease is released, but
// only after run has returned: two of them never work at a time. When the lease is lost, because it could not be renewed or
// somebody else has it, the context of run is cancelled, and the error says so after run has returned.
func Elect(ctx context.Context, e Election, run func(context.Context) error) error {
	// The lease is renewed until run has returned, so ctx does not end the candidacy.
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
		return nil // as was asked for
	}
	return err
}

// lead calls run until ctx or the lease is done.
func lead(ctx, lease context.Context, run func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(lease, stop)()
	return run(ctx)
}

// elector returns a candidate, who sends a context once, which is done when the lease that it has taken is not renewed any more.
func (e Election) elector(withdraw func(), leases chan<- context.Context) (*leaderelection.LeaderElector, resourcelock.Interface, error) {
	config := rest.CopyConfig(e.Config)
	config.QPS, config.Burst, config.RateLimiter = 0, 0, nil // the library's, for this client alone
	config.Timeout = max(e.RenewDeadline/2, time.Second)     // a second try must fit in
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

// release gives the lease back if it is still this replica's. The library would do so before run has returned. A renewal that
// was cancelled may still arrive, so the lease is read again when it has changed.
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

// observedLock calls observe with the holder of the lease whenever it is read. The elector itself would try for RenewDeadline to renew a lease
// that somebody else has.
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
