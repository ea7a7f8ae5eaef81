package controllerbench

import (
	"context"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A Limit bounds a controller's calls.
type Limit struct {
	QPS   float32
	Burst int
}

// DefaultLimit is that of upstream's benchmarks.
var DefaultLimit = Limit{QPS: 100, Burst: 100}

// batch is the period at which upstream looks at a Job whose pods change.
const batch = time.Second

// refill returns the time without calls after which a controller can make a burst again, and has nothing left that it put off.
func (l Limit) refill() time.Duration {
	return max(batch, time.Duration(float64(l.Burst)/float64(l.QPS)*float64(time.Second))) + batch/5
}

// A Trial is one Job, run by one controller.
type Trial struct {
	Config    *rest.Config // of an administrator
	Contender Contender
	Limit     Limit
	Shape     Shape
	Pods      int       // that the Job runs at a time
	Last      Milestone // where the trial ends; the end of the Job if it is empty
	Log       io.Writer // for the progress of phases that take long
}

// A Phase is what happens on the way to a milestone, and until the next phase.
type Phase struct {
	Milestone Milestone
	Reached   time.Duration // when the milestone was reached, since the phase began
	Worked    time.Duration // when the controller last did something for the Job; it may be later
	Calls     Calls
}

// Run runs the Job in a new namespace, and removes its pods.
func (t Trial) Run(ctx context.Context) ([]Phase, error) {
	phases, err := t.run(ctx)
	if err != nil {
		return nil, errTrial(t, err)
	}
	return phases, nil
}

func (t Trial) run(ctx context.Context) ([]Phase, error) {
	client, err := newClient(t.Config)
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
	scene := scene{
		Trial: t, namespace: namespace.Name, jobs: client.BatchV1().Jobs(namespace.Name),
		kubelet: kubelet{client: client, log: t.Log}, observer: observer, meter: newMeter(),
	}
	phases, err := scene.play(ctx)
	if err != nil {
		return nil, err
	}
	return phases, scene.clear(ctx)
}

// newClient makes the client that is not measured.
func newClient(config *rest.Config) (*kubernetes.Clientset, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 10_000, 10_000
	config.ContentType = runtime.ContentTypeProtobuf
	return kubernetes.NewForConfig(config)
}
