//go:build cluster

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podverdict/podverdict/internal/input/cluster"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

func TestMain(m *testing.M) { testscript.Main(withControlPlane{m}, programs) }

// withControlPlane runs tests, some of which start a control plane.
type withControlPlane struct{ tests *testing.M }

func (w withControlPlane) Run() int { return controlplane.Run(w.tests) }

// TestClusterScript runs the scripts of testdata/cluster against a real API server. Each script has its own namespace, $NS, which is the
// default namespace of its $KUBECONFIG. There are no nodes and no controllers: the scripts act in their place.
func TestClusterScript(t *testing.T) {
	plane := controlplane.Start(t)
	client := newClient(t, plane)
	defineJobSets(t, client)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/cluster",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			one := env.T().(testing.TB)
			p := player{client: client, namespace: plane.Namespace(one)}
			env.Values["player"] = p
			env.Setenv("NS", p.namespace)
			env.Setenv("SERVER", plane.Config.Host)
			env.Setenv("KUBECONFIG", inNamespace(one, plane.Kubeconfig(one, "admin", "system:masters"), p.namespace))
			env.Setenv("NOBODY", inNamespace(one, plane.Kubeconfig(one, "nobody"), p.namespace))
			env.Setenv("VIEWER", inNamespace(one, plane.Kubeconfig(one, "viewer-of-jobs"), p.namespace))
			env.Setenv("READER", inNamespace(one, plane.Kubeconfig(one, "reader"), p.namespace))
			return errors.Join(p.letSeeJobs(one.Context(), "viewer-of-jobs"), p.letSeeJobs(one.Context(), "reader", "pods"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":       exitCode,
			"create":     create,
			"eventually": eventually,
			"jobset":     createJobSet,
			"remove":     remove,
			"status":     status,
		},
	})
}

// newClient returns an administrator's client that ignores warnings.
func newClient(t *testing.T, plane *controlplane.Cluster) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(plane.Config)
	config.WarningHandler, config.QPS = rest.NoWarnings{}, -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// inNamespace sets the namespace of all contexts in a kubeconfig.
func inNamespace(t testing.TB, file, namespace string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, context := range config.Contexts {
		context.Namespace = namespace
	}
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// player acts as the users, the Job controller and the kubelets of a namespace.
type player struct {
	client    kubernetes.Interface
	namespace string
}

// letSeeJobs allows a user to read Jobs and the other given core resources. It does not include Pods unless they are given.
func (p player) letSeeJobs(ctx context.Context, user string, others ...string) error {
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"batch", ""}, Resources: append(others, "jobs"), Verbs: []string{"get", "list"}}},
	}
	if _, err := p.client.RbacV1().Roles(p.namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
	}
	_, err := p.client.RbacV1().RoleBindings(p.namespace).Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// create implements the script command "create FILE...", which creates the objects in the files, including the status of Pods. A Pod with a
// label job-name is created like the Job controller does, with the Job's labels and the Job as its controller.
func create(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: create FILE...")
	}
	p := ts.Value("player").(player)
	ts.Check(p.createAll(readScript(ts, args)))
}

// defineJobSets installs the JobSet CustomResourceDefinition.
func defineJobSets(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/jobset").Output()
	if err != nil {
		t.Fatal(err)
	}
	install(t, client, strings.TrimSpace(string(folder))+"/config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml")
	await(t, client, jobSetsPath, "jobsets")
}

const jobSetsPath = "/apis/jobset.x-k8s.io/v1alpha2"

// createJobSet implements the script command "jobset FILE", which creates a JobSet. No controller creates its Jobs.
func createJobSet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jobset FILE")
	}
	p := ts.Value("player").(player)
	ts.Check(post(p.client, jobSetsPath+"/namespaces/"+p.namespace+"/jobsets", []byte(ts.ReadFile(args[0]))))
}

// status implements the script command "status FILE...", which sets the status of Pods to the status in the files.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: status FILE...")
	}
	p := ts.Value("player").(player)
	for _, pod := range readScript(ts, args).Pods {
		ts.Check(p.setStatus(pod.Object))
	}
}

// remove implements the script command "remove TYPE/NAME...", which deletes Pods and Jobs immediately, without waiting for a kubelet.
func remove(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: remove TYPE/NAME...")
	}
	p := ts.Value("player").(player)
	targets, err := cluster.ParseTargets(args, cluster.Job, cluster.Pod)
	ts.Check(err)
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), PropagationPolicy: new(metav1.DeletePropagationBackground)}
	for _, target := range targets {
		if target.Kind == cluster.Job {
			ts.Check(p.client.BatchV1().Jobs(p.namespace).Delete(context.Background(), target.Name, now))
		} else {
			ts.Check(p.client.CoreV1().Pods(p.namespace).Delete(context.Background(), target.Name, now))
		}
	}
}

// eventually implements the script command "eventually FILE REGEXP", which waits until FILE matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: eventually FILE REGEXP")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	var text []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		text, err = os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && want.Match(text) {
			return
		}
	}
	ts.Fatalf("no match for %s in %s: %s", args[1], args[0], text)
}

func readScript(ts *testscript.TestScript, files []string) *manifest.Set {
	var options manifest.Options
	for _, file := range files {
		options.Filenames = append(options.Filenames, ts.MkAbs(file))
	}
	set, err := manifest.Read(context.Background(), options)
	ts.Check(err)
	return set
}

func (p player) createAll(set *manifest.Set) error {
	for _, job := range set.Jobs {
		if err := p.createJob(job); err != nil {
			return err
		}
	}
	for _, pod := range set.Pods {
		if err := p.createPod(pod.Object); err != nil {
			return err
		}
	}
	for _, node := range set.Nodes {
		if _, err := p.client.CoreV1().Nodes().Create(context.Background(), node, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (p player) createJob(j manifest.Job) error {
	if j.CronJob != nil {
		_, err := p.client.BatchV1().CronJobs(p.namespace).Create(context.Background(), j.CronJob, metav1.CreateOptions{})
		return err
	}
	job := j.Object
	job.ObjectMeta = metav1.ObjectMeta{Name: job.Name, Labels: job.Labels} // other metadata is set by the server
	if err := p.adopt(job); err != nil {
		return err
	}
	_, err := p.client.BatchV1().Jobs(p.namespace).Create(context.Background(), job, metav1.CreateOptions{})
	return err
}

// adopt sets the CronJob named by the label cronjob as the owner of a Job.
func (p player) adopt(job *batchv1.Job) error {
	name, ok := job.Labels["cronjob"]
	if !ok {
		return nil
	}
	owner, err := p.client.BatchV1().CronJobs(p.namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err == nil {
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	}
	return err
}

func (p player) createPod(pod *corev1.Pod) error {
	pod.ObjectMeta = metav1.ObjectMeta{Name: pod.Name, Labels: pod.Labels, OwnerReferences: pod.OwnerReferences}
	job, err := p.client.BatchV1().Jobs(p.namespace).Get(context.Background(), pod.Labels["job-name"], metav1.GetOptions{})
	switch {
	case err == nil:
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		maps.Copy(pod.Labels, job.Spec.Template.Labels)
	case !apierrors.IsNotFound(err) && pod.Labels["job-name"] != "":
		return err
	}
	wanted := pod.DeepCopy()
	if _, err := p.client.CoreV1().Pods(p.namespace).Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	return p.setStatus(wanted)
}

func (p player) setStatus(wanted *corev1.Pod) error {
	pod, err := p.client.CoreV1().Pods(p.namespace).Get(context.Background(), wanted.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod.Status = wanted.Status
	_, err = p.client.CoreV1().Pods(p.namespace).UpdateStatus(context.Background(), pod, metav1.UpdateOptions{})
	return err
}
