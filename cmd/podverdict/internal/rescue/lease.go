package rescue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/podverdict/podverdict/internal/input/cluster"
)

// maxSkew is the maximum assumed difference between the clocks of this machine and the controller's. A lease renewed longer ago has
// expired. A lease renewed since then is held if it is renewed again.
const maxSkew = 5 * time.Minute

const (
	// leaseName is the default name of the lease, used if the Deployment does not set one.
	leaseName = "podverdict-controller"
	// partOf selects the objects of installations.
	partOf = "app.kubernetes.io/part-of=podverdict"
)

// A LiveError means that a controller holds a lease.
type LiveError struct{ Namespace, Lease, Holder string }

func (e *LiveError) Error() string {
	return fmt.Sprintf("a controller is at work: %s has the lease %s/%s", e.Holder, e.Namespace, e.Lease)
}

// Idle returns nil if no controller in the cluster holds a lease, and a LiveError if one renews it. It may wait for the duration of the
// lease to find out whether a controller that did not release the lease is alive.
func (c *Client) Idle(ctx context.Context) error {
	named, err := c.findLeases(ctx)
	if err != nil {
		return err
	}
	for _, name := range named {
		found, err := cluster.List[coordinationv1.LeaseList](c.coordination, leases.Resource, name.Namespace)(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name.Name).String(),
		})
		if err != nil {
			return errList(leases, name.Namespace, err)
		}
		for i := range found.Items {
			if err := c.idle(ctx, &found.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// findLeases returns the leases named by Deployments, and leases with the default name in any namespace.
func (c *Client) findLeases(ctx context.Context) ([]types.NamespacedName, error) {
	deployed, err := cluster.List[appsv1.DeploymentList](c.apps, deployments.Resource, "")(ctx, metav1.ListOptions{LabelSelector: partOf})
	if err != nil {
		return nil, errList(deployments, "", err)
	}
	named := []types.NamespacedName{{Name: leaseName}}
	for i := range deployed.Items {
		if lease := leaseOf(&deployed.Items[i]); lease.Name != leaseName {
			named = append(named, lease)
		}
	}
	return named, nil
}

// leaseOf returns the lease named by the arguments of a Deployment. It defaults to the lease of the installation.
func leaseOf(deployment *appsv1.Deployment) types.NamespacedName {
	lease := types.NamespacedName{Namespace: deployment.Namespace, Name: leaseName}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.StringVar(&lease.Namespace, "leader-elect-resource-namespace", lease.Namespace, "")
	flags.StringVar(&lease.Name, "leader-elect-resource-name", lease.Name, "")
	for _, container := range deployment.Spec.Template.Spec.Containers {
		_ = flags.Parse(slices.Concat(container.Command, container.Args)) // a controller that cannot parse them does not run
	}
	lease.Namespace = strings.ReplaceAll(lease.Namespace, "$(NAMESPACE)", deployment.Namespace)
	return lease
}

// idle watches one lease for up to its duration.
func (c *Client) idle(ctx context.Context, lease *coordinationv1.Lease) error {
	if !c.taken(lease) {
		return nil
	}
	first := lease
	period := time.Duration(ptr.Deref(first.Spec.LeaseDurationSeconds, 0)) * time.Second
	err := wait.PollUntilContextTimeout(ctx, pollPeriod, period+pollPeriod, false, func(ctx context.Context) (bool, error) {
		now, err := cluster.Get[coordinationv1.Lease](ctx, c.coordination, leases.Resource, first.Namespace, first.Name)
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, err
		case !c.taken(now):
			return true, nil
		case !now.Spec.RenewTime.Equal(first.Spec.RenewTime):
			return false, &LiveError{now.Namespace, now.Name, *now.Spec.HolderIdentity}
		}
		return false, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // not renewed
	}
	return err
}

// taken reports whether the lease may be held.
func (c *Client) taken(lease *coordinationv1.Lease) bool {
	s := &lease.Spec
	return s.HolderIdentity != nil && *s.HolderIdentity != "" && s.RenewTime != nil && c.now().Sub(s.RenewTime.Time) < maxSkew
}
