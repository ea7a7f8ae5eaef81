package controllerbench

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/client-go/rest"

	"github.com/podverdict/podverdict/conformance/upstream/internal/progress"
)

// A scene is where a trial takes place.
type scene struct {
	Trial

	namespace string
	jobs      batchclient.JobInterface
	kubelet   kubelet
	observer  *observer
	meter     *meter
}

// play runs the controller, and the Job in it.
func (s scene) play(ctx context.Context) ([]Phase, error) {
	ctx, fail := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	defer func() { fail(nil); <-ended }()
	up := make(chan struct{})
	go func() {
		defer close(ended)
		err := s.Contender.run(ctx, s.config(), s.namespace, func() { close(up) })
		fail(errContender(err))
	}()
	select {
	case <-up:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return s.phases(ctx)
}

// config returns the settings of the controller's requests.
func (s scene) config() *rest.Config {
	config := rest.CopyConfig(s.Config)
	config.QPS, config.Burst = s.Limit.QPS, s.Limit.Burst
	config.ContentType = runtime.ContentTypeProtobuf // as kube-controller-manager's
	config.Wrap(s.meter.wrap)
	return config
}

// phases returns the phases of the trial.
func (s scene) phases(ctx context.Context) ([]Phase, error) {
	var phases []Phase
	goals := s.Shape.until(s.Last)
	for i, goal := range goals {
		rests := i+1 == len(goals) || goals[i+1] != Released
		phase, err := s.phase(ctx, goal, rests)
		if err != nil {
			return nil, err
		}
		phases = append(phases, phase)
	}
	return phases, nil
}

// phase goes on to the goal, and then until the controller rests.
func (s scene) phase(ctx context.Context, goal Milestone, rests bool) (Phase, error) {
	before, _ := s.meter.read()
	start := time.Now()
	if err := s.act(ctx, goal); err != nil {
		return Phase{}, err
	}
	if err := s.await(ctx, goal); err != nil {
		return Phase{}, err
	}
	reached := time.Since(start)
	if rests {
		if err := s.rest(ctx); err != nil {
			return Phase{}, err
		}
	}
	after, work := s.meter.read()
	return Phase{Milestone: goal, Reached: reached, Worked: max(reached, work.Sub(start)), Calls: after.since(before)}, nil
}

// rest waits until the controller has not called for as long as its limiter takes to fill.
func (s scene) rest(ctx context.Context) error {
	for {
		left := s.Limit.refill() - s.meter.idle()
		if left <= 0 {
			return nil
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// act does what a phase begins with.
func (s scene) act(ctx context.Context, goal Milestone) error {
	switch {
	case goal == Created:
		_, err := s.jobs.Create(ctx, s.Shape.job(s.Pods, s.Contender.managedBy), metav1.CreateOptions{})
		return err
	case goal.ends():
		pods, err := s.observer.unfinished()
		if err != nil {
			return err
		}
		return s.kubelet.end(ctx, pods, s.Shape.end)
	default:
		return nil
	}
}

// await waits for the goal, and fails when the Job ends without it.
func (s scene) await(ctx context.Context, goal Milestone) error {
	line := progress.New(s.Log, goal.total(s.observer.sight(), s.Pods), "pods "+string(goal))
	defer line.End()
	return s.observer.await(ctx, goal, func(now sight) (bool, error) {
		if done := goal.progress(now, s.Pods); done > 0 {
			line.Show(done)
		}
		if end := now.finish(); end != nil && (end.Type != s.Shape.outcome || goal == Created || goal == Replaced) {
			return false, errFinished(end, goal)
		}
		return goal.reached(now, s.Pods), nil
	})
}

// clear removes the Job and its pods, so that the API server is as before.
func (s scene) clear(ctx context.Context) error {
	background := metav1.DeletePropagationBackground
	if err := s.jobs.Delete(ctx, jobName, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		return err
	}
	pods, err := s.observer.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	return s.kubelet.remove(ctx, pods)
}
