//go:build cluster

package charts

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	actionv3 "helm.sh/helm/v3/pkg/action"
	loaderv3 "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/action"
	loaderv4 "helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podverdict/podverdict/config"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
)

// cluster is an API server and Helm's configuration for it. No controllers run, so there are no Pods to wait for.
type cluster struct {
	client.Client

	helm   *action.Configuration
	access *genericclioptions.ConfigFlags
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	plane := controlplane.Start(t)
	kubeconfig, home := plane.Kubeconfig(t, "admin", "system:masters"), namespace
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &kubeconfig, &home
	helm := action.NewConfiguration()
	if err := helm.Init(flags, namespace, "secrets"); err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(plane.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{direct, helm, flags}
}

// upgrade installs the chart, or upgrades an existing release to new values.
func (c *cluster) upgrade(t *testing.T, given values, adopt bool) {
	t.Helper()
	chart, err := loaderv4.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.helm.Releases.Last(release); err != nil {
		install := action.NewInstall(c.helm)
		install.ReleaseName, install.Namespace, install.CreateNamespace = release, namespace, true
		install.TakeOwnership, install.ServerSideApply, install.ForceConflicts = adopt, true, adopt
		install.WaitStrategy, install.Timeout = kube.HookOnlyStrategy, time.Minute
		_, err = install.RunWithContext(t.Context(), chart, given)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	upgrade := action.NewUpgrade(c.helm)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = namespace, kube.HookOnlyStrategy, time.Minute
	upgrade.ResetValues = true
	if _, err := upgrade.RunWithContext(t.Context(), release, chart, given); err != nil {
		t.Fatal(err)
	}
}

// has checks that the API server stores all rendered fields. The server may add fields to an object but must not drop
// any.
func (c *cluster) has(t *testing.T, given values) {
	t.Helper()
	objects := render(t, "v4", given)
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		want := unstructured.Unstructured{Object: objects[key]}
		got := c.get(t, &want)
		if got == nil {
			t.Errorf("%s is not there", key)
			continue
		}
		delete(want.Object, "metadata") // the server adds to it; get selects by kind, name and namespace
		if diff := cmp.Diff(want.Object, only(want.Object, reread(t, got.Object))); diff != "" {
			t.Errorf("%s (-chart +server):\n%s", key, diff)
		}
	}
}

// get returns an object as stored by the API server, or nil if it does not exist.
func (c *cluster) get(t *testing.T, of *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(of.GroupVersionKind())
	err := c.Get(t.Context(), client.ObjectKeyFromObject(of), got)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// only returns the part of got whose fields are in want as well.
func only(want, got any) any {
	switch want := want.(type) {
	case values:
		has, _ := got.(values)
		part := values{}
		for name := range want {
			if value, ok := has[name]; ok {
				part[name] = only(want[name], value)
			}
		}
		return part
	case []any:
		has, _ := got.([]any)
		part := slices.Clone(has)
		for n := range min(len(want), len(has)) {
			part[n] = only(want[n], has[n])
		}
		return part
	}
	return got
}

// An installation moves from generate install to the chart, through the values that change most often, and is
// removed.
func TestChartOnAPIServer(t *testing.T) {
	c := newCluster(t)
	c.apply(t, config.Options{Image: image})
	for _, step := range []struct {
		name  string
		given values
		gone  []string // names of ClusterRoleBindings
	}{
		{"adopts what generate install made", values{}, nil},
		{"the next version", values{"image": "registry.example.com/podverdict-controller:v2", "replicas": 3, "extraArgs": []any{"--concurrent-job-syncs=10"}}, nil},
		{"one namespace", values{"jobsNamespace": "default"}, []string{"podverdict-controller-manage", "podverdict-controller-observe"}},
		{"observing only", values{"observeOnly": true, "networkPolicy": values{"enabled": false}}, []string{"podverdict-controller-manage"}},
		{"back again", values{}, nil},
	} {
		if step.given["image"] == nil {
			step.given["image"] = image
		}
		c.upgrade(t, step.given, step.name == "adopts what generate install made")
		c.has(t, step.given)
		for _, name := range step.gone {
			binding := &unstructured.Unstructured{Object: values{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding"}}
			binding.SetName(name)
			if c.get(t, binding) != nil {
				t.Errorf("%s: the ClusterRoleBinding %s is still there", step.name, name)
			}
		}
		if t.Failed() {
			t.Fatal(step.name)
		}
	}
	c.uninstall(t)
}

// Helm 4 upgrades a release that Helm 3 installed.
func TestUpgradeFromHelm3(t *testing.T) {
	c := newCluster(t)
	chart, err := loaderv3.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	old := &actionv3.Configuration{}
	if err := old.Init(c.access, namespace, "secrets", func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	install := actionv3.NewInstall(old)
	install.ReleaseName, install.Namespace, install.CreateNamespace = release, namespace, true
	if _, err := install.RunWithContext(t.Context(), chart, values{"image": image, "observeOnly": true}); err != nil {
		t.Fatal(err)
	}
	c.has(t, values{"image": image, "observeOnly": true})
	c.upgrade(t, values{"image": image, "replicas": 3}, false)
	c.has(t, values{"image": image, "replicas": 3})
	c.uninstall(t)
}

// apply creates the objects of generate install on the API server.
func (c *cluster) apply(t *testing.T, options config.Options) {
	t.Helper()
	objects, err := config.Objects(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := c.Create(t.Context(), object.Unstructured); err != nil {
			t.Fatalf("%s: %v", object.GetName(), err)
		}
	}
}

// uninstall removes the release. The CustomResourceDefinitions remain, so that no policy is lost.
func (c *cluster) uninstall(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(c.helm)
	uninstall.WaitStrategy, uninstall.Timeout = kube.HookOnlyStrategy, time.Minute
	if _, err := uninstall.Run(release); err != nil {
		t.Fatal(err)
	}
	for key, object := range render(t, "v4", values{"image": image}) {
		o := &unstructured.Unstructured{Object: object}
		stays := o.GetKind() == "CustomResourceDefinition"
		if stays != (c.get(t, o) != nil) && !c.ends(t, o) {
			t.Errorf("%s: there is %v, want %v", key, !stays, stays)
		}
	}
}

// ends reports whether an object is being deleted: some wait for their finalizers, because no controllers run.
func (c *cluster) ends(t *testing.T, o *unstructured.Unstructured) bool {
	t.Helper()
	got := c.get(t, o)
	return got != nil && got.GetDeletionTimestamp() != nil
}
