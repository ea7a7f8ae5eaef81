//go:build cluster

package leadership_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/controller/leadership"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestElectHandsOver(t *testing.T) {
	e := newElectorate(t)
	first := e.candidate(t, "first")
	<-first.begun
	second := e.candidate(t, "second")

	first.cancel()
	<-first.told
	renewed := e.lease(t.Context(), t).Spec.RenewTime.Time
	e.until(t, "the lease is renewed while run is ending", func(lease *coordinationv1.Lease) bool {
		return lease.Spec.RenewTime.After(renewed)
	})
	if holder := *e.lease(t.Context(), t).Spec.HolderIdentity; holder != "first" {
		t.Errorf("the lease is of %q while the run of the first is ending", holder)
	}
	select {
	case <-second.begun:
		t.Error("the second runs while the first does")
	default:
	}

	close(first.end)
	if err := <-first.result; err != nil {
		t.Error(err)
	}
	<-second.begun
	if holder := *e.lease(t.Context(), t).Spec.HolderIdentity; holder != "second" {
		t.Errorf("the lease is of %q when the second runs", holder)
	}
	close(second.end)
	second.cancel()
	if err := <-second.result; err != nil {
		t.Error(err)
	}
	if holder := *e.lease(t.Context(), t).Spec.HolderIdentity; holder != "" {
		t.Errorf("the lease is of %q when all have ended", holder)
	}
}

func TestElectNoticesAStolenLease(t *testing.T) {
	e := newElectorate(t)
	e.LeaseDuration, e.RenewDeadline = 120*time.Second, 100*time.Second
	victim := e.candidate(t, "victim")
	<-victim.begun
	e.steal(t, "thief")
	select {
	case <-victim.told:
	case <-time.After(e.RenewDeadline / 2):
		t.Fatal("the leader goes on, and tries to renew what is not its own")
	}
	select {
	case err := <-victim.result:
		t.Errorf("Elect returns before run has: %v", err)
	default:
	}
	close(victim.end)
	if err := <-victim.result; err == nil || !strings.Contains(err.Error(), "/elected is lost") {
		t.Errorf("error %v", err)
	}
	if holder := *e.lease(t.Context(), t).Spec.HolderIdentity; holder != "thief" {
		t.Errorf("the lease is of %q, want it left to the thief", holder)
	}
}

// A stopping leader does not release a lease that another replica acquired unnoticed.
func TestElectLeavesALeaseToItsThief(t *testing.T) {
	e := newElectorate(t)
	e.LeaseDuration, e.RenewDeadline, e.RetryPeriod = 120*time.Second, 100*time.Second, 60*time.Second
	victim := e.candidate(t, "victim")
	<-victim.begun
	e.steal(t, "thief")
	victim.cancel()
	close(victim.end)
	if err := <-victim.result; err != nil {
		t.Error(err)
	}
	if holder := *e.lease(t.Context(), t).Spec.HolderIdentity; holder != "thief" {
		t.Errorf("the lease is of %q, want it left to the thief", holder)
	}
}

func TestElectGivesUpALeaseItCannotRenew(t *testing.T) {
	e := newElectorate(t)
	var cut atomic.Bool
	e.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if cut.Load() {
				return nil, errors.New("the cable is cut")
			}
			return next.RoundTrip(request)
		})
	})
	alone := e.candidate(t, "alone")
	<-alone.begun
	cut.Store(true)
	<-alone.told
	close(alone.end)
	if err := <-alone.result; err == nil || !strings.Contains(err.Error(), "/elected is lost") || strings.Contains(err.Error(), "canceled") {
		t.Errorf("error %v", err)
	}
}

func TestElectReturnsWhatRunReturns(t *testing.T) {
	e := newElectorate(t)
	e.Identity = "me"
	sorry := errors.New("sorry")
	for _, want := range []error{sorry, nil} { // the second has the lease because the first has released it
		err := leadership.Elect(t.Context(), e.Election, func(context.Context) error { return want })
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("error %v, want %v", err, want)
		}
		if holder := *e.lease(t.Context(), t).Spec.HolderIdentity; holder != "" {
			t.Errorf("the lease is of %q", holder)
		}
	}
}

func TestElectRefusesImpossibleTimes(t *testing.T) {
	e := leadership.Election{
		Config: &rest.Config{}, Namespace: "default", Name: "elected", Identity: "me",
		LeaseDuration: time.Second, RenewDeadline: time.Second, RetryPeriod: time.Second,
	}
	err := leadership.Elect(t.Context(), e, func(context.Context) error { return errors.New("called") })
	if err == nil || !strings.Contains(err.Error(), "leaseDuration must be greater than renewDeadline") {
		t.Errorf("error %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// electorate is an election on the API server.
type electorate struct {
	leadership.Election

	leases coordinationclient.LeaseInterface
}

func newElectorate(t *testing.T) *electorate {
	t.Helper()
	cluster := controlplane.Start(t)
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := cluster.Namespace(t)
	return &electorate{
		Election: leadership.Election{
			Config: rest.CopyConfig(cluster.Config), Namespace: namespace, Name: "elected",
			LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 300 * time.Millisecond,
		},
		leases: client.CoordinationV1().Leases(namespace),
	}
}

// candidate is a replica whose run returns when the test allows it.
type candidate struct {
	cancel           context.CancelFunc
	begun, told, end chan struct{} // run has begun, its context is done, and it may return
	result           chan error
}

func (e *electorate) candidate(t *testing.T, identity string) *candidate {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{cancel, make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	election := e.Election
	election.Identity = identity
	go func() {
		c.result <- leadership.Elect(ctx, election, func(ctx context.Context) error {
			close(c.begun)
			<-ctx.Done()
			close(c.told)
			<-c.end
			return ctx.Err()
		})
	}()
	return c
}

func (e *electorate) lease(ctx context.Context, t *testing.T) *coordinationv1.Lease {
	t.Helper()
	lease, err := e.leases.Get(ctx, e.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func (e *electorate) until(t *testing.T, what string, is func(*coordinationv1.Lease) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return is(e.lease(ctx, t)), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// steal gives the lease to another holder. It retries while the current holder's renewals conflict.
func (e *electorate) steal(t *testing.T, thief string) {
	t.Helper()
	e.until(t, "the lease is stolen", func(lease *coordinationv1.Lease) bool {
		now := metav1.NowMicro()
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &thief, &now
		_, err := e.leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err == nil
	})
}
