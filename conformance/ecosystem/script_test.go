package ecosystem

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/jsonpath"

	"github.com/podverdict/podverdict/controller"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// commands are those of scenarios. Each does the same in both namespaces.
//
//	create FILE...            create the objects of files, in which $NAMESPACE is the namespace
//	patch KIND NAME JSON      patch an object by a merge patch, or by a JSON patch if it is a list
//	status KIND NAME JSON     patch its status
//	delete KIND NAME          delete an object, as kubectl does
//	end JOB INDEX CODE        end the running Pod of an index with an exit code; INDEX can be any and all
//	evict JOB INDEX           evict Pods through the API, as kubectl drain does
//	release JOB INDEX         remove the scheduling gates of Pods
//	until KIND NAME CONDITION wait until a condition is true
//	until KIND NAME PATH=VALUE wait until a JSON path has a value
//	until KIND NAME gone      wait until an object is gone
//	until KIND NAME exists    wait until an object is there
//	node NAME                 make a node, labelled with the namespace as its arm, whose kubelet can stop
//	lose NAME                 stop the kubelet of a node, and wait until its Pods are deleted
//	resume NAME               start it again
//	gone NAME                 wait until no Pods are on a node
//	created N                 hold that so many Pods have been created
//	pods JOB N [PHASE]        wait until a Job has so many Pods that are not being deleted, in a phase
//	check                     wait until both namespaces are equal and stay so
//	due CRONJOB MINUTES       have the schedule of a CronJob be once a year, the last time so many minutes ago
//	worker COMMAND...         do it in the worker cluster, in scenarios of two clusters
//
// JOB is the name of a Job, or a label with its value.
var commands = map[string]command{
	"create": both(1, 9, (*arm).create),
	"patch":  both(3, 3, func(a *arm, _ *testscript.TestScript, args []string) error { return a.patch(args[0], args[1], args[2]) }),
	"status": both(3, 3, func(a *arm, _ *testscript.TestScript, args []string) error {
		return a.patch(args[0], args[1], args[2], "status")
	}),
	"delete":  both(2, 2, (*arm).remove),
	"end":     both(3, 3, (*arm).end),
	"evict":   both(2, 2, (*arm).evict),
	"release": both(2, 2, (*arm).release),
	"until":   both(3, 3, (*arm).until),
	"pods":    both(2, 3, (*arm).pods),
	"node":    both(1, 1, (*arm).node),
	"lose":    both(1, 1, (*arm).lose),
	"resume":  both(1, 1, (*arm).resume),
	"gone":    both(1, 1, (*arm).gone),
	"created": both(1, 1, (*arm).created),
	"check":   check,
	"due":     due,
}

// A command of scenarios does something in both namespaces.
type command func(arms []*arm, script *testscript.TestScript, args []string)

// scripted returns the commands as scripts call them.
func scripted() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for name, do := range commands {
		all[name] = func(script *testscript.TestScript, negated bool, args []string) {
			if negated {
				script.Fatalf("a scenario has no negations")
			}
			do(script.Value(armsKey).([]*arm), script, args)
		}
	}
	all["worker"] = func(script *testscript.TestScript, _ bool, args []string) {
		if len(args) == 0 || commands[args[0]] == nil {
			script.Fatalf("worker is followed by a command")
		}
		var workers []*arm
		for _, a := range script.Value(armsKey).([]*arm) {
			workers = append(workers, a.worker)
		}
		commands[args[0]](workers, script, args[1:])
	}
	return all
}

// An arm is one of the two runs of a scenario.
type arm struct {
	*ecosystem

	namespace string
	managed   bool // podverdict's controller runs the Jobs
	policy    bool // because of a policy of the cluster, not of what the scenario creates
	context   context.Context
	test      testing.TB
	nodes     map[string]*testcluster.Node // that the scenario has made
	worker    *arm                         // the same namespace in a second cluster, in scenarios of two
}

func (a *arm) String() string {
	if a.managed {
		return "managed"
	}
	return "native"
}

const armsKey = "arms"

func (w *ecosystem) setUp(env *testscript.Env) error {
	t, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("%T is no testing.TB", env.T())
	}
	var arms []*arm
	for _, managed := range []bool{false, true} {
		arms = append(arms, &arm{
			ecosystem: w, namespace: w.Cluster.Namespace(t), managed: managed, context: t.Context(), test: t, nodes: map[string]*testcluster.Node{},
		})
	}
	env.Values[armsKey] = arms
	return nil
}

// both returns a command of scripts that does something in both namespaces.
func both(least, most int, do func(*arm, *testscript.TestScript, []string) error) command {
	return func(arms []*arm, script *testscript.TestScript, args []string) {
		if len(args) < least || len(args) > most {
			script.Fatalf("the command has %d to %d arguments", least, most)
		}
		for _, a := range arms {
			if err := do(a, script, args); err != nil {
				script.Fatalf("%s: %v\n%s", a, err, a.describe())
			}
		}
	}
}

func (a *arm) create(script *testscript.TestScript, args []string) error {
	var objects []*unstructured.Unstructured
	for _, file := range args {
		more, err := decode([]byte(strings.ReplaceAll(script.ReadFile(file), "$NAMESPACE", a.namespace)))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, more...)
	}
	if a.managed && !a.policy {
		for _, object := range objects {
			if err := manage(object); err != nil {
				return err
			}
		}
	}
	return a.ecosystem.create(a.context, a.namespace, objects...)
}

// manage has podverdict's controller run the Jobs that an object is or makes.
func manage(object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case "Job":
		return unstructured.SetNestedField(object.Object, controller.Name, "spec", "managedBy")
	case "CronJob":
		return unstructured.SetNestedField(object.Object, controller.Name, "spec", "jobTemplate", "spec", "managedBy")
	case "JobSet":
		replicated, _, err := unstructured.NestedSlice(object.Object, "spec", "replicatedJobs")
		if err != nil {
			return err
		}
		for _, r := range replicated {
			r, ok := r.(map[string]any)
			if !ok {
				return fmt.Errorf("a replicatedJob is a %T", r)
			}
			if err := unstructured.SetNestedField(r, controller.Name, "template", "spec", "managedBy"); err != nil {
				return err
			}
		}
		return unstructured.SetNestedSlice(object.Object, replicated, "spec", "replicatedJobs")
	}
	return nil
}

// client returns the client for a kind, by a name as jobs, jobset or clusterqueue.
func (a *arm) client(kind string) (dynamic.ResourceInterface, error) {
	resources, err := a.mapper.ResourcesFor(schema.GroupVersionResource{Resource: kind})
	if err != nil {
		return nil, err
	}
	of, err := a.mapper.KindFor(resources[0])
	if err != nil {
		return nil, err
	}
	resource, namespaced, err := a.resource(of)
	if err != nil || !namespaced {
		return resource, err
	}
	return resource.Namespace(a.namespace), nil
}

func (a *arm) patch(kind, name, patch string, subresources ...string) error {
	client, err := a.client(kind)
	if err != nil {
		return err
	}
	of := types.MergePatchType
	if strings.HasPrefix(patch, "[") {
		of = types.JSONPatchType
	}
	_, err = client.Patch(a.context, a.named(name), of, []byte(strings.ReplaceAll(patch, "$NAMESPACE", a.namespace)), metav1.PatchOptions{}, subresources...)
	return err
}

// named fills the namespace into a name: what is not in a namespace is named after it. The name @OWNER is that of the Workload of
// an owner, which Kueue chooses.
func (a *arm) named(name string) string {
	if owner, ok := strings.CutPrefix(name, "@"); ok {
		for _, workload := range a.list("Workload", a.namespace) {
			if owners := workload.GetOwnerReferences(); len(owners) > 0 && owners[0].Name == owner {
				return workload.GetName()
			}
		}
	}
	return strings.ReplaceAll(name, "NAMESPACE", a.namespace)
}

func (a *arm) remove(_ *testscript.TestScript, args []string) error {
	client, err := a.client(args[0])
	if err != nil {
		return err
	}
	return client.Delete(a.context, a.named(args[1]), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
}

func (a *arm) until(_ *testscript.TestScript, args []string) error {
	client, err := a.client(args[0])
	if err != nil {
		return err
	}
	want := args[2]
	return await(a.context, strings.Join(args, " "), func(ctx context.Context) error {
		name := a.named(args[1])
		object, err := client.Get(ctx, name, metav1.GetOptions{})
		switch {
		case want == "gone" && apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		case want == "gone":
			return fmt.Errorf("%s is there", name)
		}
		return holds(object, want)
	})
}

// holds returns an error unless an object has the condition, or the value at the path.
func holds(object *unstructured.Unstructured, want string) error {
	if want == "exists" {
		return nil
	}
	path, value := fmt.Sprintf(".status.conditions[?(@.type==%q)].status", want), "True"
	if at := strings.LastIndex(want, "="); at >= 0 {
		path, value = want[:at], want[at+1:]
	}
	parsed := jsonpath.New("").AllowMissingKeys(true)
	if err := parsed.Parse("{" + path + "}"); err != nil {
		return err
	}
	var got strings.Builder
	if err := parsed.Execute(&got, object.Object); err != nil {
		return err
	}
	if got.String() != value {
		return fmt.Errorf("%s is %q", path, got.String())
	}
	return nil
}

// due has the controller of CronJobs find that it has missed a run: it looks at once when something but the schedule has changed.
// The last run is made up for the first one only: to move it back later could start a run twice.
func due(arms []*arm, script *testscript.TestScript, args []string) {
	if len(args) != 2 {
		script.Fatalf("the command has 2 arguments")
	}
	minutes, err := strconv.Atoi(args[1])
	if err != nil {
		script.Fatalf("%v", err)
	}
	at := time.Now().UTC().Add(-time.Duration(minutes) * time.Minute)
	schedule := fmt.Sprintf(`{"spec":{"schedule":%q,"timeZone":"Etc/UTC"}}`, at.Format("4 15 2 1 *"))
	last := fmt.Sprintf(`{"status":{"lastScheduleTime":%q}}`, at.Add(-2*time.Minute).Format(time.RFC3339))
	for _, a := range arms {
		client, err := a.client("cronjob")
		if err != nil {
			script.Fatalf("%s: %v", a, err)
		}
		cron, err := client.Get(a.context, args[0], metav1.GetOptions{})
		if err != nil {
			script.Fatalf("%s: %v", a, err)
		}
		err = a.patch("cronjob", args[0], schedule)
		if _, ran, _ := unstructured.NestedString(cron.Object, "status", "lastScheduleTime"); ran {
			err = errors.Join(err, a.patch("cronjob", args[0], fmt.Sprintf(`{"metadata":{"annotations":{"due":%q}}}`, args[1])))
		} else {
			err = errors.Join(err, a.patch("cronjob", args[0], last, "status"))
		}
		if err != nil {
			script.Fatalf("%s: %v", a, err)
		}
	}
}

// checkManager returns an error unless podverdict's controller runs all Jobs, or none.
func (a *arm) checkManager() error {
	for _, job := range a.list("Job", a.namespace) {
		manager, _, _ := unstructured.NestedString(job.Object, "spec", "managedBy")
		if (manager == controller.Name) != a.managed {
			return fmt.Errorf("%s: Job %s is managed by %q", a, job.GetName(), manager)
		}
	}
	if a.worker != nil {
		return a.worker.checkManager()
	}
	return nil
}

// check waits until both namespaces are equal, and holds that they stay so: longer than either Job controller waits with a
// write of a status.
func check(arms []*arm, script *testscript.TestScript, _ []string) {
	const calm = 2 * time.Second
	var since time.Time
	var last string
	err := await(arms[0].context, "both namespaces are equal", func(context.Context) error {
		if err := errors.Join(arms[0].checkManager(), arms[1].checkManager()); err != nil {
			return err
		}
		native, managed := arms[0].describe(), arms[1].describe()
		if diff := cmp.Diff(strings.Split(native, "\n"), strings.Split(managed, "\n")); diff != "" {
			since = time.Time{}
			return fmt.Errorf("native -, managed +:\n%s", diff)
		}
		if since.IsZero() || native != last {
			since, last = time.Now(), native
		}
		if time.Since(since) < calm {
			return fmt.Errorf("they have been equal for %v only:\n%s", time.Since(since), native)
		}
		return nil
	})
	if err != nil {
		script.Fatalf("%v", err)
	}
}
