package charts

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helm-unittest/helm-unittest/pkg/unittest"
	"github.com/helm-unittest/helm-unittest/pkg/unittest/printer"
	loaderv3 "helm.sh/helm/v3/pkg/chart/loader"
	utilv3 "helm.sh/helm/v3/pkg/chartutil"
	enginev3 "helm.sh/helm/v3/pkg/engine"
	commonv4 "helm.sh/helm/v4/pkg/chart/common"
	utilv4 "helm.sh/helm/v4/pkg/chart/common/util"
	loaderv4 "helm.sh/helm/v4/pkg/chart/v2/loader"
	enginev4 "helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/config"
)

const (
	folder    = "podverdict"
	release   = "podverdict"
	namespace = "podverdict-system"
	image     = "registry.example.com/podverdict-controller:v1"
)

type values = map[string]any

// renderers holds the versions of Helm. Each validates the values against the schema before it renders.
var renderers = map[string]func(values) (map[string]string, error){"v3": renderV3, "v4": renderV4}

func renderV3(given values) (map[string]string, error) {
	chart, err := loaderv3.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	all, err := utilv3.ToRenderValues(chart, given, utilv3.ReleaseOptions{Name: release, Namespace: namespace}, utilv3.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return enginev3.Render(chart, all)
}

func renderV4(given values) (map[string]string, error) {
	chart, err := loaderv4.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	all, err := utilv4.ToRenderValues(chart, given, commonv4.ReleaseOptions{Name: release, Namespace: namespace}, commonv4.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return enginev4.Render(chart, all)
}

// render returns the objects rendered by a version of Helm, keyed by kind and name, without the notes.
func render(t *testing.T, version string, given values) map[string]values {
	t.Helper()
	files, err := renderers[version](given)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]values{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		for document := range strings.SplitSeq("\n"+files[name], "\n---\n") {
			object := values{}
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if len(object) > 0 {
				add(t, objects, object)
			}
		}
	}
	return objects
}

func add(t *testing.T, objects map[string]values, object values) {
	t.Helper()
	o := unstructured.Unstructured{Object: object}
	key := o.GetKind() + " " + o.GetName()
	if objects[key] != nil {
		t.Fatalf("%s is there twice", key)
	}
	objects[key] = object
}

// installation returns the output of podverdict generate install without the Namespace, which helm --create-namespace
// creates.
func installation(t *testing.T, options config.Options) map[string]values {
	t.Helper()
	options.Image = image
	all, err := config.Objects(options)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]values{}
	for _, object := range all {
		if object.GetKind() != "Namespace" {
			add(t, objects, reread(t, object.Object))
		}
	}
	return objects
}

// reread returns an object with the Go types that YAML's decoder produces.
func reread(t *testing.T, object values) (fresh values) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &fresh); err != nil {
		t.Fatal(err)
	}
	return fresh
}

// withoutHelm removes labels and annotations that Helm's conventions add.
func withoutHelm(objects map[string]values) map[string]values {
	for _, object := range objects {
		metadata := object["metadata"].(values)
		labels := metadata["labels"].(values)
		for _, name := range []string{"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"} {
			delete(labels, name)
		}
		if annotations, ok := metadata["annotations"].(values); ok {
			delete(annotations, "helm.sh/resource-policy")
		}
	}
	return objects
}

// The chart's copies equal the files in config and monitoring, and include every file of config except the files that
// Helm replaces.
func TestCopiesAreCurrent(t *testing.T) {
	copies := files(t, folder, "base/*.yaml", "base/crd/*.yaml", "monitoring/*")
	originals := files(t, "../config", "*.yaml", "crd/*.yaml")
	delete(originals, "kustomization.yaml")
	delete(originals, "namespace.yaml")
	want := files(t, "..", "monitoring/alerts.yaml", "monitoring/dashboard.json")
	maps.Copy(originals, files(t, "../config/components/nodes", "cluster-*.yaml"))
	for name, text := range originals {
		want["base/"+name] = text
	}
	if diff := cmp.Diff(want, copies); diff != "" || len(copies) < 20 {
		t.Errorf("%d files; go -C charts generate ./... makes them new (-original +chart):\n%s", len(copies), diff)
	}
}

// files returns the contents of regular files.
func files(t *testing.T, folder string, patterns ...string) map[string]string {
	t.Helper()
	contents := map[string]string{}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			info, err := os.Lstat(file)
			if err != nil || !info.Mode().IsRegular() {
				t.Fatalf("%s is no regular file: %v", file, err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(folder, file)
			contents[filepath.ToSlash(name)] = string(text)
		}
	}
	return contents
}

func TestChartIsTheInstallation(t *testing.T) {
	for name, test := range map[string]struct {
		given   values
		options config.Options
	}{
		"as it is":              {values{}, config.Options{}},
		"observing only":        {values{"observeOnly": true}, config.Options{ObserveOnly: true}},
		"for a namespace":       {values{"jobsNamespace": "team-a"}, config.Options{JobsNamespace: "team-a"}},
		"reading nodes":         {values{"nodes": true, "jobsNamespace": "team-a"}, config.Options{Nodes: true, JobsNamespace: "team-a"}},
		"observing a namespace": {values{"jobsNamespace": "team-a", "observeOnly": true}, config.Options{JobsNamespace: "team-a", ObserveOnly: true}},
	} {
		test.given["image"] = image
		for version := range renderers {
			want, got := installation(t, test.options), withoutHelm(render(t, version, test.given))
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 10 {
				t.Errorf("%s: Helm %s renders %d objects, which differ (-generate install +chart):\n%s", name, version, len(got), diff)
			}
		}
	}
}

// Both versions of Helm render the same objects, including objects that generate install lacks.
func TestHelmVersionsAgree(t *testing.T) {
	given := values{
		"image": image, "nameSuffix": "-b", "serviceMonitor": values{"enabled": true}, "prometheusRule": values{"enabled": true},
		"dashboard": values{"enabled": true},
	}
	if diff := cmp.Diff(render(t, "v3", given), render(t, "v4", given)); diff != "" {
		t.Errorf("(-v3 +v4):\n%s", diff)
	}
}

// The examples for Argo CD and Flux name the chart's folder, and their values are valid for the chart.
func TestGitOpsExamples(t *testing.T) {
	for _, name := range []string{"argocd.yaml", "flux.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "examples", "gitops", name))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			object := values{}
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatal(err)
			}
			for _, at := range []struct{ path, given []string }{
				{[]string{"spec", "source", "path"}, []string{"spec", "source", "helm", "valuesObject"}},
				{[]string{"spec", "chart", "spec", "chart"}, []string{"spec", "values"}},
			} {
				given, ok, _ := unstructured.NestedMap(object, at.given...)
				if !ok {
					continue
				}
				found++
				if path, _, _ := unstructured.NestedString(object, at.path...); path != "charts/"+folder {
					t.Errorf("%s: the chart is in %q", name, path)
				}
				if objects := render(t, "v4", given); len(objects) < 10 {
					t.Errorf("%s: there are %d objects", name, len(objects))
				}
			}
		}
		if found != 1 {
			t.Errorf("%s has the values of %d charts", name, found)
		}
	}
}

// Two installations in a cluster share no object: in the second, all names have the suffix, and the CRDs are omitted.
func TestTwoInstallations(t *testing.T) {
	watched := values{"enabled": true, "prometheus": values{"namespace": "monitoring", "serviceAccount": "prometheus"}}
	first := render(t, "v4", values{"image": image, "serviceMonitor": watched})
	second := render(t, "v4", values{
		"image": image, "serviceMonitor": watched, "nameSuffix": "-b", "jobsNamespace": "team-b", "crds": values{"install": false},
	})
	for key, object := range second {
		if first[key] != nil {
			t.Errorf("both have %s", key)
		}
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"podverdict-controller", "podverdict-controller-manage", "podverdict-metrics-reader", "podverdict-pod-books"} {
			for _, field := range []string{"name", "policyName", "serviceAccountName", "priorityClassName"} {
				if strings.Contains(string(text), " "+field+": "+name+"\n") {
					t.Errorf("%s refers to %s of the first:\n%s", key, name, text)
				}
			}
		}
	}
	if len(second) != len(first)-2 {
		t.Errorf("the first has %d objects, the second %d", len(first), len(second))
	}
}

func TestValuesAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		given values
		want  string // part of the error, or "" for no error
	}{
		"an image with a tag":          {values{"image": "registry.example.com:5000/a/b:v1"}, ""},
		"an image with a digest":       {values{"image": "a@sha256:" + strings.Repeat("0", 64)}, ""},
		"no image":                     {values{}, "image: give the controller's image"},
		"no tag":                       {values{"image": "registry.example.com/a"}, "image"},
		"a port, but no tag":           {values{"image": "registry.example.com:5000/a"}, "image"},
		"latest":                       {values{"image": "registry.example.com/a:latest"}, "image"},
		"a short digest":               {values{"image": "registry.example.com/a@sha256:0"}, "image"},
		"a misspelt value":             {values{"image": image, "replica": 3}, "replica"},
		"a misspelt value, below":      {values{"image": image, "crds": values{"enabled": false}}, "enabled"},
		"an argument that is no flag":  {values{"image": image, "extraArgs": []any{"observe-only"}}, "extraArgs"},
		"a namespace that cannot be":   {values{"image": image, "jobsNamespace": "Team"}, "jobsNamespace"},
		"Prometheus without namespace": {values{"image": image, "serviceMonitor": values{"enabled": true, "prometheus": values{"serviceAccount": "p"}}}, "serviceMonitor.prometheus.namespace"},
	} {
		for version, render := range renderers {
			_, err := render(test.given)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, Helm %s: %v, want %q", name, version, err, test.want)
			}
		}
	}
}

func TestChartUnits(t *testing.T) {
	var out strings.Builder
	runner := unittest.TestRunner{Printer: printer.NewPrinter(&out, new(bool)), TestFiles: []string{"tests/*_test.yaml"}, Strict: true}
	if !runner.RunV3([]string{folder}) || !strings.Contains(out.String(), "passed") {
		t.Error(out.String())
	}
	_, _ = io.WriteString(t.Output(), out.String())
}
