package testcluster

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// A World is a control plane with an administrator's client and a namespace for the test.
type World struct {
	Cluster   *controlplane.Cluster
	Client    *kubernetes.Clientset
	Namespace string
}

// Start returns the control plane shared by the tests of a package, with these components.
func Start(t testing.TB, components ...controlplane.Component) *World {
	t.Helper()
	return NewWorld(t, controlplane.Start(t, components...))
}

// NewWorld returns a world in a running control plane.
func NewWorld(t testing.TB, cluster *controlplane.Cluster) *World {
	t.Helper()
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	return &World{Cluster: cluster, Client: client, Namespace: cluster.Namespace(t)}
}

// Kubectl runs kubectl as an administrator, and returns its output. The test fails on a warning.
func (w *World) Kubectl(t testing.TB, stdin []byte, arguments ...string) string {
	t.Helper()
	return Kubectl(t, w.Cluster, stdin, arguments...)
}

// InstallKinds applies the folder with the definitions of custom policies, and waits until they are served.
func (w *World) InstallKinds(t testing.TB, definitions string) {
	t.Helper()
	w.Kubectl(t, nil, "apply", "-f", definitions)
	w.Kubectl(t, nil, "wait", "--for=condition=Established", "-f", definitions, "--timeout=1m")
}

// CreateJob creates a Job in a namespace.
func (w *World) CreateJob(t testing.TB, namespace string, job *batchv1.Job) *batchv1.Job {
	t.Helper()
	created, err := w.Client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// UntilJob waits until wanted returns true for a Job, and returns it.
func (w *World) UntilJob(t testing.TB, namespace, name, what string, wanted func(*batchv1.Job) bool) (job *batchv1.Job) {
	t.Helper()
	Eventually(t, "Job "+name+" "+what, func(ctx context.Context) (_ bool, err error) {
		if job, err = w.Client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		return wanted(job), fmt.Errorf("status %+v", job.Status)
	})
	return job
}

// UntilFinished waits until a Job is Complete or Failed, and returns it with that condition.
func (w *World) UntilFinished(t testing.TB, namespace, name string) (*batchv1.Job, batchv1.JobCondition) {
	t.Helper()
	job := w.UntilJob(t, namespace, name, "finishes", func(job *batchv1.Job) bool { return Finished(job) != nil })
	return job, *Finished(job)
}

// UntilEvent waits for an event with a reason about an object whose note has all the words, and returns the note. An
// empty reason or object matches any.
func (w *World) UntilEvent(t testing.TB, namespace, object, reason string, words ...string) string {
	t.Helper()
	var found eventsv1.Event
	Eventually(t, "there is an event "+reason+" of "+object+" with "+strings.Join(words, ", "), func(ctx context.Context) (bool, error) {
		events, err := w.Client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		var notes strings.Builder
		for _, found = range events.Items {
			has := (object == "" || found.Regarding.Name == object) && (reason == "" || found.Reason == reason)
			for _, word := range words {
				has = has && strings.Contains(found.Note, word)
			}
			if has {
				return true, nil
			}
			fmt.Fprintf(&notes, "\n%s %s: %s", found.Regarding.Name, found.Reason, found.Note)
		}
		return false, fmt.Errorf("want it among %s", &notes)
	})
	return found.Note
}

// Dynamic is an administrator's client for all kinds that records the warnings of responses. It is for one goroutine at a
// time.
type Dynamic struct {
	dynamic.Interface

	Warned []string
}

// NewDynamic returns a client without a rate limit.
func NewDynamic(t testing.TB, cluster *controlplane.Cluster) *Dynamic {
	t.Helper()
	d := &Dynamic{}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler, config.QPS = d, -1
	var err error
	if d.Interface, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return d
}

// HandleWarningHeader appends the warning of a response.
func (d *Dynamic) HandleWarningHeader(_ int, _, text string) { d.Warned = append(d.Warned, text) }

// RunController runs podverdict's controller in this process until stop is called or the test ends. The test fails if the
// controller ends with an error.
func RunController(t testing.TB, options controller.Options) (running *controller.Controller, stop func()) {
	t.Helper()
	running, err := controller.New(options)
	if err != nil {
		t.Fatal(err)
	}
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(0)))
	ctx, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(t.Context()), logger))
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the controller: %v", err)
		}
	})
	t.Cleanup(stop)
	return running, stop
}

// Build builds programs of the repository, such as podverdict, and returns their folder.
func Build(t testing.TB, programs ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	arguments := []string{"build", "-o", folder + string(filepath.Separator)}
	for _, program := range programs {
		arguments = append(arguments, "github.com/podverdict/podverdict/cmd/"+program)
	}
	build := exec.CommandContext(t.Context(), "go", arguments...) //nolint:gosec // programs of this repository
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	return folder
}
