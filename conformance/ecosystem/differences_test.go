package ecosystem

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// A difference is one that is known between Jobs of the two controllers, by its heading in docs/interoperation.md. It is removed
// from the objects of a kind before they are compared.
type difference struct {
	heading string
	kind    string
	remove  func(object map[string]any)
}

var differences = []difference{
	{"The manager", "Job", func(o map[string]any) { unstructured.RemoveNestedField(o, "spec", "managedBy") }},
	{"The manager", "CronJob", func(o map[string]any) { unstructured.RemoveNestedField(o, "spec", "jobTemplate", "spec", "managedBy") }},
	{"The manager", "JobSet", func(o map[string]any) {
		for _, replicated := range items(o, "spec", "replicatedJobs") {
			unstructured.RemoveNestedField(replicated, "template", "spec", "managedBy")
		}
	}},
	{"A condition of its own", "Job", func(o map[string]any) { removeConditions(o, ours) }},
	{"A suspension that nobody saw", "Job", func(o map[string]any) {
		if holds(&unstructured.Unstructured{Object: o}, "Suspended") != nil {
			removeConditions(o, func(name string) bool { return name == "Suspended" })
		}
	}},
	{"The last moments of a Job", "Workload", func(o map[string]any) {
		if holds(&unstructured.Unstructured{Object: o}, "Finished") == nil {
			removeConditions(o, func(name string) bool { return name == "PodsReady" })
			unstructured.RemoveNestedField(o, "status", "reclaimablePods")
		}
	}},
	{"The last moments of a Job", "JobSet", func(o map[string]any) {
		set := &unstructured.Unstructured{Object: o}
		if holds(set, ".spec.managedBy=kueue.x-k8s.io/multikueue") == nil && holds(set, "Failed") == nil {
			for _, replicated := range items(o, "status", "replicatedJobsStatus") {
				delete(replicated, "active")
				delete(replicated, "ready")
			}
		}
	}},
	{"Labels and annotations of its own", "Pod", func(o map[string]any) {
		for _, field := range []string{"labels", "annotations"} {
			keys, _, _ := unstructured.NestedMap(o, "metadata", field)
			maps.DeleteFunc(keys, func(key string, _ any) bool { return ours(key) })
			if keys != nil {
				_ = unstructured.SetNestedMap(o, keys, "metadata", field) // it was there
			}
		}
	}},
}

// removeConditions removes the conditions whose types are such as is said.
func removeConditions(object map[string]any, such func(string) bool) {
	conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return such(fmt.Sprint(condition["type"]))
	})
	if len(conditions) == 0 {
		unstructured.RemoveNestedField(object, "status", "conditions")
		return
	}
	_ = unstructured.SetNestedSlice(object, conditions, "status", "conditions") // it was there
}

// ours reports whether a name is in podverdict's domain.
func ours(name string) bool { return strings.HasPrefix(name, v1alpha1.GroupVersion.Group+"/") }

// items returns those of a list that are maps; to change one changes the object.
func items(object map[string]any, path ...string) (all []map[string]any) {
	list, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	elements, _ := list.([]any)
	for _, element := range elements {
		if element, ok := element.(map[string]any); ok {
			all = append(all, element)
		}
	}
	return all
}

// varying are texts that differ from run to run: moments, identities, what is made of the name of a namespace or at random.
var varying = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b[0-9a-f]{40}\b|\b[0-9a-f]{64}\b`), "HASH"},
	{regexp.MustCompile(`pod NAMESPACE/\S+`), "pod NAMESPACE/POD"},
	{regexp.MustCompile(`was \d+s`), "was SECONDS"},
	{regexp.MustCompile(`Previously: (Ready|Retry)\b`), "Previously: STATE"},        // see normal
	{regexp.MustCompile(`\b(jobset|job)-([a-z0-9-]+)-[0-9a-f]{5}\b`), "$1-$2-CODE"}, // a Workload
	{regexp.MustCompile(`-\d{8}\b`), "-MINUTE"},
	{regexp.MustCompile(`NAMESPACE-rack-[ab]`), "RACK"},
}

// describe returns what a namespace has of the kinds that are compared, in both clusters if there are two, without what varies
// and the known differences.
func (a *arm) describe() string {
	var texts []string
	if a.worker != nil {
		texts = append(texts, "worker: true\n---\n"+a.worker.describe())
	}
	for _, kind := range watchedKinds {
		for _, object := range a.list(kind.Kind, a.namespace) {
			text, err := yaml.Marshal(unvaried(normal(object.DeepCopy()), a.namespace))
			if err != nil {
				return err.Error()
			}
			texts = append(texts, string(text))
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, "---\n")
}

// unvaried returns a value without what varies in its texts.
func unvaried(value any, namespace string) any {
	switch value := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for key, element := range value {
			all[key] = unvaried(element, namespace)
		}
		delete(all, "resourceVersion") // in references
		return all
	case []any:
		var all []any
		for _, element := range value {
			all = append(all, unvaried(element, namespace))
		}
		return all
	case string:
		value = strings.ReplaceAll(value, namespace, "NAMESPACE")
		for _, v := range varying {
			value = v.pattern.ReplaceAllString(value, v.is)
		}
		return value
	}
	return value
}

// normal returns what is compared of an object.
func normal(object *unstructured.Unstructured) map[string]any {
	for _, d := range differences {
		if d.kind == object.GetKind() {
			d.remove(object.Object)
		}
	}
	metadata := map[string]any{"name": nameOf(object), "deleted": object.GetDeletionTimestamp() != nil}
	for _, field := range []string{"labels", "annotations"} {
		if keys, ok, _ := unstructured.NestedMap(object.Object, "metadata", field); ok && len(keys) > 0 {
			metadata[field] = keys
		}
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	status, _, _ := unstructured.NestedMap(object.Object, "status")
	delete(status, "accumulatedPastExecutionTimeSeconds") // a moment may be in either of two seconds
	delete(spec, "nodeName")                              // the scheduler takes any of those that are equally good
	for _, check := range items(status, "admissionChecks") {
		delete(check, "retryCount") // when a Workload is deactivated, MultiKueue may have it retried before Kueue evicts it
	}
	byType := func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
	for _, field := range []string{"conditions", "replicatedJobsStatus"} {
		if list, ok := status[field].([]any); ok {
			for _, element := range list {
				if element, ok := element.(map[string]any); ok {
					delete(element, "lastTransitionTime")
					delete(element, "lastProbeTime")
				}
			}
			slices.SortFunc(list, byType)
		}
	}
	return map[string]any{"kind": object.GetKind(), "metadata": metadata, "spec": spec, "status": status}
}

// nameOf returns the name of an object: that of a Pod and of a Workload ends in what is random, so it is named after its owner.
func nameOf(object *unstructured.Unstructured) string {
	owners := object.GetOwnerReferences()
	if kind := object.GetKind(); (kind == "Pod" || kind == "Workload") && len(owners) > 0 {
		return fmt.Sprintf("%s of %s %s", kind, owners[0].Kind, owners[0].Name)
	}
	return object.GetName()
}

// Each known difference is explained to users, and what is said of the scenarios is so.
func TestDocumentation(t *testing.T) {
	scenarios, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	count, checks, allChecks := map[string]int{}, map[string]int{}, 0
	for _, scenario := range scenarios {
		folder, n := filepath.Base(filepath.Dir(scenario)), strings.Count(read(t, scenario), "\ncheck\n")
		count[folder]++
		checks[folder] += n
		allChecks += n
	}
	interoperation, headings := read(t, "../../docs/interoperation.md"), map[string]bool{}
	for folder := range count {
		if row := fmt.Sprintf("\n| %s | %d | %d |", folder, count[folder], checks[folder]); !strings.Contains(interoperation, row) {
			t.Errorf("docs/interoperation.md has no row%s", row)
		}
	}
	for _, d := range differences {
		headings[d.heading] = true
		if !strings.Contains(interoperation, "### "+d.heading+"\n") {
			t.Errorf("docs/interoperation.md has no heading %q", d.heading)
		}
	}
	for _, figures := range []string{
		fmt.Sprintf("in %d scenarios with %d checks", len(scenarios), allChecks),
		fmt.Sprintf("[%d named differences](interoperation.md#what-differs)", len(headings)),
	} {
		if !strings.Contains(read(t, "../../docs/status.md"), figures) {
			t.Errorf("docs/status.md does not say %q", figures)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
