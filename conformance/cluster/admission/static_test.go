//go:build cluster

package admission

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
	"github.com/podverdict/podverdict/internal/testing/controlplane"
	"github.com/podverdict/podverdict/internal/testing/testcluster"
)

// static is an API server that reads the output of generate --static.
type static struct {
	*server

	program, validating, mutating, component string
}

// TestStaticPolicies tests that an API server with all rules in files reports the same as with the rules in its API, from
// its first request on, and that the rules cannot be removed.
func TestStaticPolicies(t *testing.T) { //nolint:tparallel // its subtests follow each other
	t.Parallel()
	if version.MustParseGeneric(controlplane.Start(t).Version).LessThan(kubeversion.StaticAdmission) {
		t.Skip("the API server reads no policies from files")
	}
	s := startStatic(t)
	for _, object := range []map[string]any{careless("Job"), careless("CronJob")} {
		if _, err := s.create(t.Context(), s.resource(object), object); !strings.Contains(denial(err), "G-") {
			t.Errorf("the first request for a %s: %v", object["kind"], err)
		}
	}
	s.loadedWhole(t)
	t.Run("guardrails", func(t *testing.T) {
		refused, taken := s.holdGuardrails(t, selection(t, "G-*"))
		enough(t, refused, taken)
	})
	t.Run("custom resources", s.holdWorkflows)
	t.Run("defaults", s.holdDefaults)
	t.Run("the API", s.holdAPI)
	t.Run("restart", s.holdRestart)
	t.Run("reload", s.holdReload)
}

// startStatic starts an API server with policy files and the configuration in their header comment.
func startStatic(t *testing.T) *static {
	t.Helper()
	folder := t.TempDir()
	s := &static{program: filepath.Join(testcluster.Build(t, "podverdict"), "podverdict"), validating: filepath.Join(folder, "validating"), mutating: filepath.Join(folder, "mutating")}
	defaults := filepath.Join(folder, "defaults.yaml")
	if err := os.WriteFile(defaults, []byte("apiVersion: batch/v1\nkind: Job\nspec: {ttlSecondsAfterFinished: 600}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	jobs := s.generate(t, filepath.Join(s.validating, "jobs.yaml"), "vap", "--rules", "*")
	s.generate(t, filepath.Join(s.validating, "workflows.yaml"), "vap", "--rules", "[A-FH-Z]*", "--crd", workflowFile, "--at", pathOfJobs)
	mutating := s.generate(t, filepath.Join(s.mutating, "defaults.yaml"), "map", "-f", defaults, "--namespace-selector", "defaults=ours")
	configuration := configurationAbove(t, jobs, s.validating)
	configuration["plugins"] = append(configuration["plugins"].([]any), configurationAbove(t, mutating, s.mutating)["plugins"].([]any)...)
	text, err := yaml.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "admission.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.component = string(controlplane.APIServer.With("--admission-control-config-file=" + file))
	begin := time.Now()
	cluster := controlplane.StartNamed(t, "static", controlplane.Component(s.component))
	t.Logf("etcd and the API server started in %s", time.Since(begin).Round(100*time.Millisecond))
	s.server = serverOf(t, cluster)
	return s
}

// generate moves the output of generate --static into place.
func (s *static) generate(t *testing.T, file string, verb ...string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), s.program, append(append([]string{"generate"}, verb...), "--static")...).Output()
	if err != nil {
		t.Fatal(verb, err)
	}
	s.put(t, file, string(text))
	return string(text)
}

func (s *static) put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// configurationAbove returns the configuration in the comment at the top of policies, with another folder. The
// documentation has it, too.
func configurationAbove(t *testing.T, text, folder string) map[string]any {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "#   "); ok {
			lines = append(lines, rest)
		}
	}
	document, err := os.ReadFile(moduleRoot + "/docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, plugin, _ := strings.Cut(strings.Join(lines, ""), "plugins:\n"); plugin == "" || !strings.Contains(string(document), plugin) {
		t.Errorf("docs/admission.md does not have\n%s", plugin)
	}
	var configuration map[string]any
	if err := yaml.UnmarshalStrict([]byte(strings.Join(lines, "")), &configuration); err != nil {
		t.Fatal(err)
	}
	plugins, _ := configuration["plugins"].([]any)
	if len(plugins) != 1 {
		t.Fatalf("a configuration of %d plugins:\n%s", len(plugins), text[:min(1000, len(text))])
	}
	plugins[0].(map[string]any)["configuration"].(map[string]any)["staticManifestsDir"] = folder
	return configuration
}

// loadedWhole checks that the API server has loaded the unchanged files, and logs the number of expressions.
func (s *static) loadedWhole(t *testing.T) {
	t.Helper()
	if got, want := s.metrics(t.Context(), t, `last_config_info{`, `plugin="ValidatingAdmissionPolicy"`), hashOf(t, s.validating); !strings.Contains(got, want) {
		t.Errorf("loaded %q, want the hash %s", got, want)
	}
	var policies, expressions int
	for _, file := range []string{"jobs.yaml", "workflows.yaml"} {
		text, err := os.ReadFile(filepath.Join(s.validating, file))
		if err != nil {
			t.Fatal(err)
		}
		policies += strings.Count(string(text), "\nkind: ValidatingAdmissionPolicy\n")
		for _, field := range []string{" expression: ", " messageExpression: ", " valueExpression: "} {
			expressions += strings.Count(string(text), field)
		}
	}
	t.Logf("%d policies with %d expressions", policies, expressions)
	if expressions < 149 {
		t.Errorf("%d expressions", expressions)
	}
}

// hashOf returns the hash of a folder in the API server's metrics.
func hashOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	for _, file := range files { // sorted by name
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(append(text, 0))
	}
	return fmt.Sprintf("sha256:%x", hash.Sum(nil))
}

// metrics returns the API server's lines about its files that contain all the words.
func (s *static) metrics(ctx context.Context, t *testing.T, words ...string) string {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(s.Cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	text, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		lacks := func(word string) bool { return !strings.Contains(line, word) }
		if strings.HasPrefix(line, "apiserver_manifest_admission_config_controller_") && !slices.ContainsFunc(words, lacks) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// holdWorkflows checks the constraints for a kind that the API server learns about after it has loaded them.
func (s *static) holdWorkflows(t *testing.T) {
	s.apply(t, decodeFile[map[string]any](t, workflowFile))
	workflows := s.client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "workflows"}).Namespace(s.Namespace)
	testcluster.Eventually(t, "workflows", func(ctx context.Context) (bool, error) {
		_, err := workflows.List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	all, err := vectors.Constraints()
	if err != nil {
		t.Fatal(err)
	}
	var refused, taken int
	for _, v := range all {
		spec := embeddable(v)
		if spec == nil {
			continue
		}
		isError := func(f vectors.Finding) bool { return f.Type != vectors.TypeWarning }
		_, err := s.create(t.Context(), workflows, workflow(spec))
		if (err != nil) != slices.ContainsFunc(v.Want, isError) || err != nil && !apierrors.IsInvalid(err) {
			t.Errorf("%s: %s: %v, want %v", v.Name, v.Sentence, err, v.Want)
		}
		if err != nil {
			refused++
		} else {
			taken++
		}
	}
	enough(t, refused, taken)
}

// enough logs how many vectors were rejected and accepted, and checks that there are enough of each.
func enough(t *testing.T, refused, taken int) {
	t.Helper()
	t.Logf("%d refused, %d taken", refused, taken)
	if min(refused, taken) < 35 {
		t.Errorf("%d refused and %d taken, want 35 of each", refused, taken)
	}
}

// holdDefaults checks that Jobs in the selected namespaces get the defaults.
func (s *static) holdDefaults(t *testing.T) {
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "defaulted-", "labels": map[string]any{"defaults": "ours"}},
	}}
	made, err := s.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ttl := func(in string) int64 {
		job := trainingJob(nil, nil, nil)
		created, err := s.client.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}).Namespace(in).
			Create(t.Context(), &unstructured.Unstructured{Object: job}, metav1.CreateOptions{DryRun: dryRun})
		if err != nil {
			t.Fatal(err)
		}
		seconds, _, _ := unstructured.NestedInt64(created.Object, "spec", "ttlSecondsAfterFinished")
		return seconds
	}
	if got, other := ttl(made.GetName()), ttl(s.Namespace); got != 600 || other != 0 {
		t.Errorf("ttlSecondsAfterFinished is %d, and %d elsewhere, want 600 and none", got, other)
	}
}

// holdAPI checks that the policies are invisible in the API, and that their names are reserved.
func (s *static) holdAPI(t *testing.T) {
	const name = "podverdict-guardrails-job-errors.static.k8s.io"
	for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"} {
		client := s.client.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource})
		list, err := client.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 0 {
			t.Errorf("%s: %d, %v, want none", resource, len(list.Items), err)
		}
		if _, err := client.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: get: %v", resource, err)
		}
		if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: delete: %v", resource, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(s.validating, "jobs.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.SplitN(string(text), "\n---\n", 3)[:2] {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		mapping, err := s.mapper(t).RESTMapping(object.GroupVersionKind().GroupKind(), "v1")
		if err != nil {
			t.Fatal(err)
		}
		client := s.client.Resource(mapping.Resource)
		if _, err := client.Create(t.Context(), object, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "reserved for static") {
			t.Errorf("create %s: %v", object.GetKind(), err)
		}
		if _, err := client.Apply(t.Context(), name, object, metav1.ApplyOptions{FieldManager: "test"}); !apierrors.IsInvalid(err) {
			t.Errorf("apply %s: %v", object.GetKind(), err)
		}
		object.SetResourceVersion("1")
		if _, err := client.Update(t.Context(), object, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("update %s: %v", object.GetKind(), err)
		}
	}
}

// holdRestart sends requests continuously while the API server restarts: no bad Job is admitted.
func (s *static) holdRestart(t *testing.T) {
	other := serverOf(t, s.Cluster)
	if err := s.Cluster.Kill(controlplane.APIServer); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan map[string]int)
	go func() {
		answers := map[string]int{}
		for bad := careless("Job"); ctx.Err() == nil; time.Sleep(time.Millisecond) {
			switch _, err := other.create(ctx, other.resource(bad), bad); {
			case err == nil:
				answers["taken"]++
			case apierrors.IsInvalid(err):
				answers["denied"]++
			case apierrors.IsForbidden(err):
				answers["not ready"]++
			default:
				answers["no answer"]++
			}
		}
		ended <- answers
	}()
	controlplane.StartNamed(t, "static", controlplane.Component(s.component))
	time.Sleep(time.Second)
	cancel()
	answers := <-ended
	t.Log(answers)
	if answers["taken"] > 0 || answers["denied"] == 0 {
		t.Errorf("while it starts: %v", answers)
	}
}

// holdReload checks that a changed file takes effect, and that an invalid one does not. A file that is empty, as while a
// shell writes it, is not an error.
func (s *static) holdReload(t *testing.T) {
	file, bad := filepath.Join(s.validating, "jobs.yaml"), careless("Job")
	denied := func(ctx context.Context) bool {
		_, err := s.create(ctx, s.resource(bad), bad)
		return err != nil
	}
	within := func(what string, is func(context.Context) bool) {
		begin := time.Now()
		testcluster.Within(t, 90*time.Second, what, func(ctx context.Context) (bool, error) { return is(ctx), nil })
		t.Logf("%s after %s", what, time.Since(begin).Round(10*time.Millisecond))
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, file, "kind: Nothing\n")
	within("a mistake is counted", func(ctx context.Context) bool {
		return s.metrics(ctx, t, `automatic_reloads_total{`, `plugin="ValidatingAdmissionPolicy"`, `status="failure"`) != ""
	})
	if !denied(t.Context()) {
		t.Error("a mistake in a file puts its policies out of force")
	}
	s.put(t, file, "")
	within("bad Jobs are taken", func(ctx context.Context) bool { return !denied(ctx) })
	s.put(t, file, string(whole))
	within("they are denied again", denied)
}
