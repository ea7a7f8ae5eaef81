package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// burst limits the controllers' calls, as in upstream's benchmarks. QPS is limited to the same number.
	burst = 100

	// refill is the time without calls after which a controller can make a burst again, and has no postponed work left:
	// upstream syncs a Job whose pods change once a second.
	refill = 1200 * time.Millisecond

	// parallel is the number of concurrent calls by the kubelet, which keeps the API server busy.
	parallel = 64
)

// A trial is one Job, or several concurrent ones, run by one controller.
type trial struct {
	options
	config    *rest.Config // configuration of an administrator
	contender contender
	shape     shape
	pods      int
	phases    []milestone
}

// A phase is the time until a milestone, and on until the next phase.
type phase struct {
	reached time.Duration // time from the begin of the phase to the milestone
	worked  time.Duration // time of the controller's last work on the Job since the begin; may be later
	ends    int           // number of pods that ended
	used    usage         // usage in the phase; memory is measured at its end
}

// A scene is the environment of a trial.
type scene struct {
	trial

	client    *kubernetes.Clientset // not measured
	namespace string
	observer  *observer
	places    chan struct{} // limits concurrent calls of the kubelet
	process   *process
}

// run runs the Jobs in a new namespace, and leaves them there.
func (t trial) run(ctx context.Context) (phases []phase, err error) {
	config := rest.CopyConfig(t.config)
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "trial-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := scene{trial: t, client: client, namespace: namespace.Name, places: make(chan struct{}, parallel)}
	if s.observer, err = newObserver(ctx, client, namespace.Name, func(pod *corev1.Pod) { go s.startPod(ctx, pod, fail) }); err != nil {
		return nil, err
	}
	o := order{Namespace: s.namespace, Host: t.config.Host, TLS: t.config.TLSClientConfig, QPS: t.shape.qps}
	if s.process, err = t.contender.start(o, fail); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	defer s.process.stop()
	for i, goal := range s.phases {
		rests := i+1 == len(s.phases) || s.phases[i+1] != released
		phase, err := s.phase(ctx, goal, rests)
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), err) // the end of the controller is a better cause than a cancelled call
		}
		phases = append(phases, phase)
	}
	return phases, nil
}

// phase continues to the goal, and then until the controller rests.
func (s scene) phase(ctx context.Context, goal milestone, rests bool) (p phase, err error) {
	before, profile := s.process.last, strings.ReplaceAll(s.profile, "*", fmt.Sprintf("%s-%d", s.contender.name, s.pods))
	if err := s.process.ask(map[milestone]string{streamed: profile}[goal]); err != nil {
		return p, err
	}
	start := time.Now()
	if p.ends, err = s.act(ctx, goal); err != nil {
		return p, err
	}
	if err := s.await(ctx, goal); err != nil {
		return p, err
	}
	p.reached = time.Since(start)
	for err = s.process.ask(""); rests && err == nil && time.Since(s.process.last.Last) < refill; err = s.process.ask("") {
		time.Sleep(refill - time.Since(s.process.last.Last))
	}
	p.used = s.process.last
	p.worked = max(p.reached, p.used.Work.Sub(start))
	p.used.Calls -= before.Calls
	p.used.Events -= before.Events
	p.used.CPU -= before.CPU
	return p, err
}

// act starts a phase, and returns the number of pods that end in it.
func (s scene) act(ctx context.Context, goal milestone) (ends int, err error) {
	switch {
	case goal == created || goal == ready:
		return 0, s.createJobs(ctx)
	case goal == streamed:
		return s.endPods(ctx, min(int(s.length/s.shape.beat), s.pods/2))
	case goal == finished && s.shape.podsOf > 0:
		return s.pods, s.createJobs(ctx)
	case goal == released:
		return 0, nil
	default:
		return s.endPods(ctx, s.pods)
	}
}

func (s scene) createJobs(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for range s.shape.jobs(s.pods) {
		group.Go(func() error {
			_, err := s.client.BatchV1().Jobs(s.namespace).Create(ctx, s.shape.job(s.pods, s.contender.managedBy), metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}

// startPod writes the kubelet's statuses to a new pod.
func (s scene) startPod(ctx context.Context, pod *corev1.Pod, fail context.CancelCauseFunc) {
	s.places <- struct{}{}
	defer func() { <-s.places }()
	for _, status := range s.shape.starts {
		if err := s.write(ctx, pod, status); err != nil {
			fail(err)
		}
	}
}

// endPods ends this number of pods in random order, one at each beat of the shape.
func (s scene) endPods(ctx context.Context, number int) (int, error) {
	var pods []*corev1.Pod
	done := sets.New[string]()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for ; len(done) < number && ctx.Err() == nil; time.Sleep(s.shape.beat) {
		if len(pods) == 0 {
			all, err := s.observer.unfinished()
			if err != nil {
				return 0, err
			}
			pods = slices.DeleteFunc(all, func(p *corev1.Pod) bool {
				return done.Has(p.Name) || p.Status.Phase == corev1.PodPending && s.shape.starts != nil
			})
			rand.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] }) //nolint:gosec // any order will do
			continue
		}
		pod, status := pods[0], s.shape.ends[len(done)%len(s.shape.ends)]
		pods = pods[1:]
		done.Insert(pod.Name)
		group.Go(func() error { return s.write(ctx, pod, status) })
	}
	return number, group.Wait()
}

// write writes a status to a pod, like its kubelet.
func (s scene) write(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	status = *status.DeepCopy()
	if end := status.ContainerStatuses[0].State.Terminated; end != nil {
		end.FinishedAt = metav1.Now()
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Pods(s.namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// await waits for the goal, and fails if the Job ends without reaching it.
func (s scene) await(ctx context.Context, goal milestone) error {
	return s.observer.await(ctx, func(now sight) (bool, error) {
		if end := now.finish(); end != nil && (end.Type != s.shape.outcome || goal == created || goal == replaced) {
			return false, fmt.Errorf("the Job is %s before its pods are %s: %s: %s", end.Type, goal, end.Reason, end.Message)
		}
		return now.reached(goal, s.shape.active(s.pods), s.shape.jobs(s.pods)), nil
	})
}
