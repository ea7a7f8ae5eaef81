package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// qps and burst bound the controllers' calls, as in upstream's benchmarks.
	qps, burst = 100, 100

	// refill is the time without calls after which a controller can make a burst again, and has nothing left that it put off:
	// upstream looks at a Job whose pods change once a second.
	refill = 1200 * time.Millisecond

	// parallel is how many calls the kubelet makes at a time, which keeps the API server busy.
	parallel = 64
)

// A trial is one Job, run by one controller.
type trial struct {
	config    *rest.Config // of an administrator
	contender contender
	shape     shape
	pods      int // that the Job runs at a time
	phases    []milestone
}

// A phase is what happens on the way to a milestone, and until the next phase.
type phase struct {
	reached       time.Duration // when the milestone was reached, since the phase began
	worked        time.Duration // when the controller last did something for the Job; it may be later
	calls, events int
}

// A scene is where a trial takes place.
type scene struct {
	trial

	client    *kubernetes.Clientset // not measured
	namespace string
	observer  *observer
	meter     *meter
}

// run runs the Job in a new namespace, and removes its pods.
func (t trial) run(ctx context.Context) ([]phase, error) {
	config := rest.CopyConfig(t.config)
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "trial-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	observer, err := newObserver(watching, client, namespace.Name)
	if err != nil {
		return nil, err
	}
	s := scene{trial: t, client: client, namespace: namespace.Name, observer: observer, meter: &meter{}}
	phases, err := s.play(ctx)
	if err != nil {
		return nil, err
	}
	atOnce := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	return phases, client.CoreV1().Pods(s.namespace).DeleteCollection(ctx, atOnce, metav1.ListOptions{})
}

// play runs the controller, and the phases of the Job.
func (s scene) play(ctx context.Context) ([]phase, error) {
	config := rest.CopyConfig(s.config)
	config.QPS, config.Burst = qps, burst
	config.ContentType = runtime.ContentTypeProtobuf // as kube-controller-manager's
	config.Wrap(s.meter.wrap)
	ctx, fail := context.WithCancelCause(ctx)
	up, ended := make(chan struct{}), make(chan struct{})
	defer func() { fail(nil); <-ended }()
	go func() {
		defer close(ended)
		err := s.contender.run(ctx, config, s.namespace, func() { close(up) })
		fail(fmt.Errorf("the controller: %w", cmp.Or(err, errors.New("it ended before the Job did"))))
	}()
	select {
	case <-up:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var phases []phase
	for i, goal := range s.phases {
		rests := i+1 == len(s.phases) || s.phases[i+1] != released
		phase, err := s.phase(ctx, goal, rests)
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), err) // that the controller has ended says more than that a call was cancelled
		}
		phases = append(phases, phase)
	}
	return phases, nil
}

// phase goes on to the goal, and then until the controller rests.
func (s scene) phase(ctx context.Context, goal milestone, rests bool) (phase, error) {
	calls, events, _ := s.meter.read()
	start := time.Now()
	if err := s.act(ctx, goal); err != nil {
		return phase{}, err
	}
	if err := s.await(ctx, goal); err != nil {
		return phase{}, err
	}
	reached := time.Since(start)
	for left := refill - s.meter.idle(); rests && left > 0; left = refill - s.meter.idle() {
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return phase{}, context.Cause(ctx)
		}
	}
	allCalls, allEvents, work := s.meter.read()
	return phase{reached: reached, worked: max(reached, work.Sub(start)), calls: allCalls - calls, events: allEvents - events}, nil
}

// act does what a phase begins with.
func (s scene) act(ctx context.Context, goal milestone) error {
	switch goal {
	case created:
		_, err := s.client.BatchV1().Jobs(s.namespace).Create(ctx, s.shape.job(s.pods, s.contender.managedBy), metav1.CreateOptions{})
		return err
	case replaced, finished:
		return s.endPods(ctx)
	default:
		return nil
	}
}

// endPods writes the shape's status to all pods that run, as their kubelets would.
func (s scene) endPods(ctx context.Context) error {
	status := *s.shape.end.DeepCopy()
	status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.Now()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	pods, err := s.observer.unfinished()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, pod := range pods {
		group.Go(func() error {
			_, err := s.client.CoreV1().Pods(s.namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		})
	}
	return group.Wait()
}

// await waits for the goal, and fails when the Job ends without it.
func (s scene) await(ctx context.Context, goal milestone) error {
	return s.observer.await(ctx, func(now sight) (bool, error) {
		if end := now.finish(); end != nil && (end.Type != s.shape.outcome || goal == created || goal == replaced) {
			return false, fmt.Errorf("the Job is %s before its pods are %s: %s: %s", end.Type, goal, end.Reason, end.Message)
		}
		return now.reached(goal, s.pods), nil
	})
}
