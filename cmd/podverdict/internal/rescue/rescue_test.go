package rescue

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/controller/plan"
)

const here = "podverdict-system"

// TestReleaseGoesOnAfterFailures checks that a Pod that cannot be released reports its error, and that the others are released.
func TestReleaseGoesOnAfterFailures(t *testing.T) {
	job := managedJob("job", nil)
	pods := podsOf(t, job, 2)
	c, objects := client(t, []runtime.Object{asMetadata("v1", "Pod", &pods[0].ObjectMeta), asMetadata("v1", "Pod", &pods[1].ObjectMeta)}, job)
	objects.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.(clienttesting.PatchAction).GetName() == pods[0].Name, nil, errors.New("refused")
	})
	held, err := c.Held(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	c.Release(t.Context(), held)
	got := map[string]string{}
	for _, p := range held {
		got[p.Name] = strings.TrimSpace(p.Result + " " + p.Message)
	}
	if diff := cmp.Diff(map[string]string{pods[0].Name: "failed refused", pods[1].Name: "released"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if left, err := c.Held(t.Context(), ""); err != nil || len(left) != 1 {
		t.Errorf("then %d Pods are held, %v", len(left), err)
	}
}

// TestStuck checks that Pods that a returning controller would count are held but not stuck.
func TestStuck(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		job    *batchv1.Job // nil if gone
		change func(*corev1.Pod)
		stuck  bool
		held   bool
	}{
		"the Job is at work":           {managedJob("job", nil), func(*corev1.Pod) {}, false, true},
		"the Job is being deleted":     {managedJob("job", &now), func(*corev1.Pod) {}, true, true},
		"the Job is gone":              {nil, func(*corev1.Pod) {}, true, true},
		"the Pod is being deleted":     {managedJob("job", nil), func(p *corev1.Pod) { p.DeletionTimestamp = &now }, true, true},
		"the Job is somebody else's":   {unmanaged(managedJob("job", nil)), func(*corev1.Pod) {}, false, true},
		"the finalizer is another one": {nil, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/other"} }, false, false},
		"the name is another one":      {nil, func(p *corev1.Pod) { p.Name = "job-x7k2p" }, false, false},
		"somebody took its labels":     {managedJob("job", &now), func(p *corev1.Pod) { p.Labels = nil }, true, true},
		"of a Job that is gone, too":   {nil, func(p *corev1.Pod) { p.Labels = nil }, false, false},
		"somebody took its owner":      {managedJob("job", nil), func(p *corev1.Pod) { p.OwnerReferences = nil }, true, true},
	} {
		pod := podsOf(t, managedJob("job", nil), 1)[0]
		test.change(pod)
		var jobs []runtime.Object
		if test.job != nil {
			jobs = append(jobs, test.job)
		}
		c, _ := client(t, []runtime.Object{asMetadata("v1", "Pod", &pod.ObjectMeta)}, jobs...)
		stuck, err := c.Stuck(t.Context(), "")
		if err != nil || (len(stuck) == 1) != test.stuck {
			t.Errorf("%s: stuck are %+v, %v", name, stuck, err)
		}
		if held, err := c.Held(t.Context(), ""); err != nil || (len(held) == 1) != test.held {
			t.Errorf("%s: held are %+v, %v", name, held, err)
		}
	}
}

func TestIdle(t *testing.T) {
	start := time.Now()
	for name, test := range map[string]struct {
		holder  string
		renewed time.Time
		renews  bool
		live    bool
	}{
		"released":                         {"", start, false, false},
		"of long ago":                      {"one", start.Add(-time.Hour), false, false},
		"held, and not renewed":            {"one", start, false, false},
		"held, and renewed":                {"one", start, true, true},
		"by a clock that is ahead":         {"one", start.Add(time.Minute), true, true},
		"by a clock that is far behind us": {"one", start.Add(-time.Minute), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := client(t, nil)
			kubernetes := clientset.NewClientset(lease(test.holder, test.renewed))
			reads := 0
			kubernetes.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				if reads++; test.renews {
					return true, lease(test.holder, test.renewed.Add(time.Duration(reads)*time.Second)), nil
				}
				return false, nil, nil
			})
			serve(t, c, kubernetes)
			live, ok := errors.AsType[*LiveError](c.Idle(t.Context()))
			if ok != test.live || ok && live.Holder != test.holder {
				t.Errorf("a controller is at work: %v", ok)
			}
		})
	}
}

// TestLeases checks that the lease of a controller is read from its Deployment.
func TestLeases(t *testing.T) {
	deployment := func(namespace string, arguments ...string) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "controller", Labels: map[string]string{"app.kubernetes.io/part-of": "podverdict"}},
			Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: arguments}}}}},
		}
	}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       []types.NamespacedName
	}{
		"silent":             {deployment(here), []types.NamespacedName{{Name: leaseName}}},
		"as it is installed": {deployment(here, "--leader-elect=true", "--leader-elect-resource-namespace=$(NAMESPACE)", "--observe"), []types.NamespacedName{{Name: leaseName}}},
		"another": {
			deployment(here, "--unknown", "--leader-elect-resource-name", "other", "--leader-elect-resource-namespace=locks"),
			[]types.NamespacedName{{Name: leaseName}, {Namespace: "locks", Name: "other"}},
		},
	} {
		c, _ := client(t, nil, test.deployment)
		leases, err := c.findLeases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, leases); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func lease(holder string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: leaseName}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: new(int32(1)), RenewTime: new(metav1.NewMicroTime(renewed)),
	}}
}

// client returns a client for a cluster with the given objects and Jobs.
func client(t *testing.T, objects []runtime.Object, jobs ...runtime.Object) (*Client, *metadatafake.FakeMetadataClient) {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	known := metadatafake.NewSimpleMetadataClient(scheme, objects...)
	c := &Client{Progress: func(int) {}, objects: known, now: time.Now}
	serve(t, c, clientset.NewClientset(jobs...))
	return c, known
}

// serve makes a client read complete objects from a test server.
func serve(t *testing.T, c *Client, kubernetes *clientset.Clientset) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := answerTo(r, kubernetes)
		if refused, ok := errors.AsType[*apierrors.StatusError](err); ok {
			w.WriteHeader(int(refused.ErrStatus.Code))
			answer = refused.ErrStatus
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	if err := c.connect(&rest.Config{Host: server.URL}); err != nil {
		t.Fatal(err)
	}
}

// answerTo returns the objects at a path such as /apis/batch/v1/namespaces/NAMESPACE/jobs/NAME. The namespace and the name are optional.
func answerTo(r *http.Request, kubernetes *clientset.Clientset) (any, error) {
	path := strings.Split(r.URL.Path, "/")[4:]
	namespace := ""
	if path[0] == "namespaces" {
		namespace, path = path[1], path[2:]
	}
	options := metav1.ListOptions{LabelSelector: r.URL.Query().Get("labelSelector"), FieldSelector: r.URL.Query().Get("fieldSelector")}
	switch kind := path[0]; {
	case kind == "leases" && len(path) > 1:
		return kubernetes.CoordinationV1().Leases(namespace).Get(r.Context(), path[1], metav1.GetOptions{})
	case kind == "leases":
		return kubernetes.CoordinationV1().Leases(namespace).List(r.Context(), options)
	case kind == "jobs" && len(path) > 1:
		return kubernetes.BatchV1().Jobs(namespace).Get(r.Context(), path[1], metav1.GetOptions{})
	case kind == "jobs":
		return kubernetes.BatchV1().Jobs(namespace).List(r.Context(), options)
	default:
		return kubernetes.AppsV1().Deployments(namespace).List(r.Context(), options)
	}
}

func asMetadata(apiVersion, kind string, meta *metav1.ObjectMeta) runtime.Object {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}, ObjectMeta: *meta}
}

func managedJob(name string, deleted *metav1.Time) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: "uid-of-job", DeletionTimestamp: deleted, Finalizers: []string{"foregroundDeletion"}},
		Spec:       batchv1.JobSpec{ManagedBy: new(v1alpha1.JobController), Parallelism: new(int32(2)), Completions: new(int32(2)), BackoffLimit: new(int32(6))},
		Status:     batchv1.JobStatus{StartTime: new(metav1.Now())},
	}
}

func unmanaged(job *batchv1.Job) *batchv1.Job {
	job.Spec.ManagedBy = nil
	return job
}

// podsOf returns the Pods that the controller creates for a Job.
func podsOf(t *testing.T, job *batchv1.Job, n int) []*corev1.Pod {
	t.Helper()
	observed := plan.Next(plan.Observation{Job: job, Now: time.Now(), Current: true})
	if len(observed.Create) < n {
		t.Fatalf("%d Pods are created: %+v", len(observed.Create), observed)
	}
	pods := observed.Create[:n]
	for _, pod := range pods {
		pod.UID = types.UID(pod.Name)
	}
	return pods
}
