package uninstall

import (
	"context"
	"errors"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// maxSkew is by how much the clocks of this machine and of the controller's may differ. A lease that was renewed longer ago is not
// held any more; one that was renewed later is, if it is renewed again.
const maxSkew = 5 * time.Minute

// Idle returns nil when no controller has a lease, in a namespace or in any, and a LiveError when one renews it. It takes up to
// the duration of the lease to tell whether a controller that did not release it is alive.
func (c *Client) Idle(ctx context.Context, namespace string) error {
	leases, err := c.leases.Leases(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, leaseName).String(),
	})
	if err != nil {
		return errList(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, namespace, err)
	}
	for i := range leases.Items {
		if err := c.idle(ctx, &leases.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// idle watches one lease for as long as it lasts.
func (c *Client) idle(ctx context.Context, lease *coordinationv1.Lease) error {
	if !c.taken(lease) {
		return nil
	}
	first := lease
	period := time.Duration(deref(first.Spec.LeaseDurationSeconds)) * time.Second
	err := wait.PollUntilContextTimeout(ctx, pollPeriod, period+pollPeriod, false, func(ctx context.Context) (bool, error) {
		now, err := c.leases.Leases(first.Namespace).Get(ctx, first.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, err
		case !c.taken(now):
			return true, nil
		case !now.Spec.RenewTime.Equal(first.Spec.RenewTime):
			return false, errLive(now)
		}
		return false, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // nobody has renewed it
	}
	return err
}

// taken tells whether somebody may have the lease.
func (c *Client) taken(lease *coordinationv1.Lease) bool {
	s := &lease.Spec
	return s.HolderIdentity != nil && *s.HolderIdentity != "" && s.RenewTime != nil && c.now().Sub(s.RenewTime.Time) < maxSkew
}

func deref(seconds *int32) int32 {
	if seconds == nil {
		return 0
	}
	return *seconds
}
