package policies

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/controller/internal/fair"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/runtime/binding"
)

// statuses writes the statuses of policies and bindings that have changed.
type statuses struct {
	registry *Registry
	client   *client
	recorder events.EventRecorder
	metrics  *metrics.Metrics
	queue    fair.Queue[statusKey]
}

// statusKey identifies an object whose status may have to be written.
type statusKey struct{ resource, name string }

func newStatuses(o Options, client *client) *statuses {
	const shortest, longest = 200 * time.Millisecond, time.Minute
	return &statuses{
		client: client, recorder: o.Recorder, metrics: o.Metrics,
		queue: fair.NewQueue(o.Clock, 1, shortest, longest, func(key statusKey) string { return key.resource }),
	}
}

func (s *statuses) add(o v1alpha1.Object) { s.queue.Add(statusKey{resourceOf(o), o.GetName()}) }

func resourceOf(o v1alpha1.Object) string {
	if _, ok := o.(*v1alpha1.PodFailurePolicy); ok {
		return v1alpha1.ResourcePodFailurePolicies
	}
	return v1alpha1.ResourcePodFailurePolicyBindings
}

// run writes statuses until ctx is done.
func (s *statuses) run(ctx context.Context) {
	fair.Work(ctx, s.queue, 1, func(key statusKey) {
		switch err := s.metrics.Guard(ctx, metrics.HandlingPolicy, func() error { return s.sync(ctx, key) }); {
		case err == nil, ctx.Err() != nil:
			s.queue.Forget(key)
		case apierrors.IsConflict(err): // the cache will receive the change
			s.queue.AddRateLimited(key)
		default:
			klog.FromContext(ctx).Error(err, "Will try again", "failures", s.queue.NumRequeues(key)+1)
			s.queue.AddRateLimited(key)
		}
	})
}

// sync writes a status unless it is up to date.
func (s *statuses) sync(ctx context.Context, key statusKey) error {
	if key.resource == v1alpha1.ResourcePodFailurePolicies {
		if p, found := named[*v1alpha1.PodFailurePolicy](s.registry.policies, key.name); found {
			return s.syncPolicy(ctx, p)
		}
	} else if b, found := named[*v1alpha1.PodFailurePolicyBinding](s.registry.bindings, key.name); found {
		return s.syncBinding(ctx, b)
	}
	return nil
}

func (s *statuses) syncPolicy(ctx context.Context, p *v1alpha1.PodFailurePolicy) error {
	known := s.registry.version(p.Name)
	if !known.Is(p) {
		return nil // it is queued again once it is compiled
	}
	next := p.DeepCopy()
	next.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicy))
	next.Status.ObservedGeneration = p.Generation
	next.Status.Rules = int32(len(p.Spec.Rules)) //nolint:gosec // the API allows 64
	next.Status.TypeChecking = custom.TypeChecking(known.Findings)
	if known.InForce != nil { // otherwise, the stored version is kept, because another version of the program may compile it
		next.Status.LastGood = known.LastGood
	}
	ready := s.setReady(&next.Status.Conditions, readiness(known, s.registry.caches.NodesRefused()), p.Generation)
	if equality.Semantic.DeepEqual(p.Status, next.Status) {
		return nil
	}
	if err := s.write(ctx, next); err != nil {
		return err
	}
	before := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
	again := before != nil && before.Status == ready.Status
	switch failed := ready.Status == metav1.ConditionFalse; {
	case failed && (!again || before.ObservedGeneration != p.Generation):
		s.recorder.Eventf(next, nil, corev1.EventTypeWarning, ready.Reason, "Compile", "%s", ready.Message)
	case !failed && before != nil && !again:
		s.recorder.Eventf(next, nil, corev1.EventTypeNormal, ready.Reason, "Compile", "%s", ready.Message)
	}
	return nil
}

func (s *statuses) syncBinding(ctx context.Context, b *v1alpha1.PodFailurePolicyBinding) error {
	next := b.DeepCopy()
	next.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindPodFailurePolicyBinding))
	next.Status.ObservedGeneration = b.Generation
	if jobs := s.registry.counts.of(b.Name); jobs != nil && (jobs.Selected > 0 || b.Status.Jobs != nil) {
		next.Status.Jobs = jobs
	}
	s.setReady(&next.Status.Conditions, bindingReadiness(b.Spec.PolicyName, s.registry.version(b.Spec.PolicyName)), b.Generation)
	if equality.Semantic.DeepEqual(b.Status, next.Status) {
		return nil
	}
	return s.write(ctx, next)
}

// setReady sets the Ready condition. The transition time changes only with the condition's status.
func (s *statuses) setReady(conditions *[]metav1.Condition, ready metav1.Condition, generation int64) metav1.Condition {
	ready.Type, ready.ObservedGeneration = v1alpha1.ConditionReady, generation
	ready.LastTransitionTime = metav1.NewTime(s.registry.clock.Now()).Rfc3339Copy()
	meta.SetStatusCondition(conditions, ready)
	return ready
}

func (s *statuses) write(ctx context.Context, o v1alpha1.Object) error {
	err := s.client.updateStatus(ctx, resourceOf(o), o)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the status of %s %s: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
	}
	return nil
}

// readiness returns the Ready condition of a policy. Refused reports that the controller is not allowed to read nodes.
func readiness(v *binding.Version, refused bool) metav1.Condition {
	if v.Err == nil && refused && v.InForce != nil && len(v.InForce.Compiled.Reads.Node) > 0 {
		return metav1.Condition{
			Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNodesNotReadable,
			Message: "in force, but rules read nodes, which the controller may not: node is absent for them; podverdict generate install --nodes grants the right",
		}
	}
	if v.Err == nil {
		message := "every expression compiles"
		if n := len(v.Findings); n > 0 {
			message += fmt.Sprintf("; there are %d warnings", n)
		}
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompiled, Message: message}
	}
	return metav1.Condition{
		Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidExpressions, Message: remains(v) + ": " + firstError(v),
	}
}

// remains describes the version that is in effect although the policy does not compile.
func remains(v *binding.Version) string {
	if v.InForce == nil {
		return "not in force"
	}
	return fmt.Sprintf("generation %d stays in force", v.InForceGeneration)
}

// firstError returns the first line of the first error among the findings, and the number of other errors.
func firstError(v *binding.Version) string {
	text, more := "", -1
	for _, f := range v.Findings {
		if f.Severity != compiler.Error {
			continue
		}
		if more++; more == 0 {
			text, _, _ = strings.Cut(f.String(), "\n")
		}
	}
	if more > 0 {
		text += fmt.Sprintf(", and %d more errors", more)
	}
	return text
}

// bindingReadiness returns the Ready condition of a binding to the named policy. The version is nil if the policy does not exist.
func bindingReadiness(name string, v *binding.Version) metav1.Condition {
	switch {
	case v == nil:
		return metav1.Condition{
			Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPolicyNotFound, Message: "there is no PodFailurePolicy " + name,
		}
	case v.Err != nil:
		return metav1.Condition{
			Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPolicyInvalid,
			Message: "PodFailurePolicy " + name + " does not compile: " + remains(v),
		}
	}
	return metav1.Condition{
		Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPolicyFound, Message: "PodFailurePolicy " + name + " compiles",
	}
}
