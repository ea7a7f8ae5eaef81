package policies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/controller/internal/caches"
	"github.com/podverdict/podverdict/controller/metrics"
	"github.com/podverdict/podverdict/runtime"
	"github.com/podverdict/podverdict/runtime/binding"
)

// Registry holds the cluster's compiled PodFailurePolicies and their bindings. It selects the policies for a Job from an immutable set,
// which is replaced after changes.
type Registry struct {
	environment *compiler.Environment
	metrics     *metrics.Metrics
	clock       clock.WithTicker
	caches      *caches.Caches
	// policies, bindings and namespaces are caches of kinds that may be missing or not readable.
	policies, bindings, namespaces cache.SharedIndexInformer
	// dirty receives a value if a policy or binding has changed since the last build.
	dirty chan struct{}
	// listeners are called after changes.
	listeners []func(namespace string)
	statuses  *statuses

	set        atomic.Pointer[binding.Set]
	counts     counts
	selections selections
	// binds is true if the set may select something, and listed if the controller is allowed to list namespaces.
	binds, listed atomic.Bool

	mu sync.RWMutex
	// versions are the policy versions by policy name. Only build writes them.
	versions map[string]*binding.Version
}

// Options configure a Registry. All but Namespace are required.
type Options struct {
	// Client watches namespaces.
	Client kubernetes.Interface
	// Watches configures lists and watches of policies and bindings. Writes configures writes of their statuses.
	Watches, Writes *rest.Config
	// Namespace is the only namespace whose Jobs are handled. Empty means all.
	Namespace string
	// Others is true if the caches include the Jobs of other controllers.
	Others bool
	// Environment compiles the expressions.
	Environment *compiler.Environment
	// Caches are configured to keep the fields that the rules read.
	Caches   *caches.Caches
	Recorder events.EventRecorder
	Metrics  *metrics.Metrics
	Clock    clock.WithTicker
}

// New returns a registry that is empty until Start.
func New(o Options) (*Registry, error) {
	r := &Registry{environment: o.Environment, metrics: o.Metrics, clock: o.Clock, dirty: make(chan struct{}, 1), caches: o.Caches}
	r.counts.wanted = o.Namespace == "" && o.Others
	watches, watchErr := newClient(o.Watches)
	writes, writeErr := newClient(o.Writes)
	err := errors.Join(watchErr, writeErr)
	if err != nil {
		return nil, err
	}
	if r.policies, err = watches.informer(v1alpha1.ResourcePodFailurePolicies, o.Clock,
		&v1alpha1.PodFailurePolicy{}, &v1alpha1.PodFailurePolicyList{}); err != nil {
		return nil, err
	}
	if r.bindings, err = watches.informer(v1alpha1.ResourcePodFailurePolicyBindings, o.Clock,
		&v1alpha1.PodFailurePolicyBinding{}, &v1alpha1.PodFailurePolicyBindingList{}); err != nil {
		return nil, err
	}
	if r.namespaces, err = newNamespaceInformer(o.Client, o.Namespace, o.Clock); err != nil {
		return nil, err
	}
	r.statuses = newStatuses(o, writes)
	r.statuses.registry = r
	o.Caches.SubscribeNodesRefused(r.policyStatuses)
	err = r.handle()
	return r, err
}

// Start reads the existing policies, and watches the cluster until ctx is done. It returns false if ctx is done before all policies are
// read.
func (r *Registry) Start(ctx context.Context, running *sync.WaitGroup) (filled bool) {
	informers := []cache.SharedIndexInformer{r.policies, r.bindings, r.namespaces}
	synced := make([]cache.InformerSynced, len(informers))
	for i, informer := range informers {
		synced[i] = informer.HasSynced
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	if filled = cache.WaitForCacheSync(ctx.Done(), synced...); filled {
		r.build(ctx) // before the first lookup
	}
	running.Go(func() { r.follow(ctx) }) // returns as soon as ctx is done
	return filled
}

// debounce is the time to wait for more changes after the first one. It is longer if a build is slow.
const debounce = 100 * time.Millisecond

// Subscribe registers a function that is called when the result of Selection may have changed for the Jobs of a namespace, or for all Jobs
// if the namespace is empty. It must be called before Start.
func (r *Registry) Subscribe(changed func(namespace string)) {
	r.listeners = append(r.listeners, changed)
}

func (r *Registry) changed(namespace string) {
	for _, listener := range r.listeners {
		listener(namespace)
	}
}

// labelsOf returns the labels and the version of a namespace. If the controller is not allowed to read namespaces, it returns the label
// that every namespace has, and no version. Otherwise an unknown namespace is an error, because its Jobs may be seen before it.
func (r *Registry) labelsOf(namespace string) (of labels.Set, version string, err error) {
	object, _, _ := r.namespaces.GetIndexer().GetByKey(namespace) // an indexer returns no errors
	if known, ok := object.(*corev1.Namespace); ok {
		return known.Labels, known.ResourceVersion, nil
	}
	if r.listed.Load() {
		return nil, "", fmt.Errorf("namespace %s is %w", namespace, caches.ErrNotKnownYet)
	}
	return labels.Set{corev1.LabelMetadataName: namespace}, "", nil
}

// touch triggers a build of the set.
func (r *Registry) touch() {
	select {
	case r.dirty <- struct{}{}:
	default:
	}
}

// follow builds the set after changes, and writes statuses, until ctx is done. It combines changes in quick succession.
func (r *Registry) follow(ctx context.Context) {
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() { r.statuses.run(ctx) })
	rest := debounce
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.clock.After(countPeriod):
			r.guarded(ctx, r.count)
			continue
		case <-r.dirty:
		}
		select {
		case <-ctx.Done():
			return
		case <-r.clock.After(rest):
		}
		select { // the build sees all changes so far
		case <-r.dirty:
		default:
		}
		start := r.clock.Now()
		r.guarded(ctx, func() {
			r.build(ctx)
			r.changed("")
		})
		rest = max(debounce, 4*r.clock.Since(start))
	}
}

// guarded recovers from a panic over one policy, so that the others are still handled.
func (r *Registry) guarded(ctx context.Context, do func()) {
	_ = r.metrics.Guard(ctx, metrics.HandlingPolicy, func() error { // Guard has logged it
		do()
		return nil
	})
}

// build compiles changed policies and replaces the set.
func (r *Registry) build(ctx context.Context) {
	policies := cached[*v1alpha1.PodFailurePolicy](r.policies)
	bindings := cached[*v1alpha1.PodFailurePolicyBinding](r.bindings)
	r.compileAll(ctx, policies)
	compiled := make(map[string]*runtime.Policy, len(r.versions))
	for name, v := range r.versions {
		if v.InForce != nil {
			compiled[name] = v.InForce
		}
	}
	set, err := binding.NewSet(compiled, bindings)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Some bindings bind nothing")
	}
	binds := len(compiled) > 0 && len(bindings) > 0
	reads, phases := custom.NewReads(), map[corev1.PodPhase]bool{}
	for _, b := range bindings {
		if p := compiled[b.Spec.PolicyName]; p != nil {
			reads.Add(p.Compiled.Reads)
			for _, rule := range p.Compiled.Rules {
				phases[rule.Phase] = true
			}
		}
	}
	r.caches.Keep(reads, slices.Collect(maps.Keys(phases))...) // before any rule is evaluated
	r.set.Store(set)
	r.selections.cache().Clear()
	r.binds.Store(binds)
	r.measure(bindings)
	r.count()
	r.policyStatuses()
	for _, b := range bindings {
		r.statuses.add(b)
	}
}

// policyStatuses queues the statuses of all policies.
func (r *Registry) policyStatuses() {
	for _, p := range cached[*v1alpha1.PodFailurePolicy](r.policies) {
		r.statuses.add(p)
	}
}

// measure sets the gauges.
func (r *Registry) measure(bindings []*v1alpha1.PodFailurePolicyBinding) {
	ready, bound := map[bool]int{}, map[bool]int{}
	for _, v := range r.versions {
		ready[v.Err == nil]++
	}
	for _, b := range bindings {
		v := r.versions[b.Spec.PolicyName]
		bound[v != nil && v.Err == nil]++
	}
	r.metrics.PoliciesRegistered(ready, bound)
}

func named[T v1alpha1.Object](informer cache.SharedIndexInformer, name string) (T, bool) {
	object, _, _ := informer.GetIndexer().GetByKey(name) // an indexer returns no errors
	known, ok := object.(T)
	return known, ok
}

func cached[T v1alpha1.Object](informer cache.SharedIndexInformer) []T {
	objects := informer.GetIndexer().List()
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		if known, ok := object.(T); ok {
			all = append(all, known)
		}
	}
	return all
}

// compilers is the number of policies compiled in parallel.
const compilers = 4

// compileAll updates the versions, and removes the versions of deleted policies.
func (r *Registry) compileAll(ctx context.Context, policies []*v1alpha1.PodFailurePolicy) {
	next := make(map[string]*binding.Version, len(policies))
	var work []*v1alpha1.PodFailurePolicy
	for _, p := range policies {
		if v := r.versions[p.Name]; v.Is(p) {
			next[p.Name] = v
		} else {
			work = append(work, p)
		}
	}
	compiled := make([]*binding.Version, len(work))
	workqueue.ParallelizeUntil(context.WithoutCancel(ctx), compilers, len(work), func(i int) {
		compiled[i] = r.compile(ctx, work[i], r.versions[work[i].Name])
	})
	for i, p := range work {
		next[p.Name] = compiled[i]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, before := range r.versions {
		r.metrics.ForgetRules(name, rulesGone(before, next[name]))
	}
	r.versions = next
}

// compile returns the next version of a policy. After a panic, the previous version stays in effect.
func (r *Registry) compile(ctx context.Context, p *v1alpha1.PodFailurePolicy, before *binding.Version) *binding.Version {
	start := r.clock.Now()
	var next *binding.Version
	err := r.metrics.Guard(ctx, metrics.HandlingPolicy, func() error {
		next = binding.Compile(r.environment, p, before)
		return next.Err
	})
	if next == nil {
		next = binding.Failed(p, before, err)
	}
	r.metrics.PolicyCompiled(r.clock.Since(start), err)
	if next.LastGoodErr != nil {
		klog.FromContext(ctx).Error(next.LastGoodErr, "The last good version cannot be in force", "policy", p.Name)
	}
	return next
}

// version returns the version of the named policy, or nil.
func (r *Registry) version(name string) *binding.Version {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.versions[name]
}

// Count counts a verdict of a custom rule.
func (r *Registry) Count(v runtime.Verdict, mode string) {
	r.inForce(v, func() {
		r.metrics.CustomVerdicts.WithLabelValues(v.Policy, v.RuleName, v.Class, string(v.Action), mode).Inc()
	})
}

// CountLiving counts a living pod that a rule matched.
func (r *Registry) CountLiving(job *batchv1.Job, phase corev1.PodPhase, v runtime.Verdict, result string) {
	r.inForce(v, func() { r.metrics.LivingPod(job, phase, v, result) })
}

// inForce calls count if the rule of a verdict is still in effect, because its series are deleted with it.
func (r *Registry) inForce(v runtime.Verdict, count func()) {
	if v.Policy == "" {
		return
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if known := r.versions[v.Policy]; known != nil && hasRule(known, v.RuleName, v.Class) {
		count()
	}
}

// rulesGone returns the names of the rules in effect that are missing from the next version or have a different class there. The next
// version may be nil.
func rulesGone(v, next *binding.Version) []string {
	if v.InForce == nil || next != nil && v.InForce == next.InForce {
		return nil
	}
	var gone []string
	for _, rule := range v.InForce.Rules {
		if next == nil || !hasRule(next, rule.Name, rule.Class) {
			gone = append(gone, rule.Name)
		}
	}
	return gone
}

// hasRule reports whether a rule is in effect with the class used in its series.
func hasRule(v *binding.Version, rule, class string) bool {
	return v.InForce != nil && slices.ContainsFunc(v.InForce.Rules, func(r v1alpha1.Rule) bool { return r.Name == rule && r.Class == class })
}
