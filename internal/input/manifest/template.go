package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inCronJob is the path of the Job in a CronJob.
const inCronJob = "spec.jobTemplate"

// templatePath returns the path of Job specs in objects of a kind, or "".
func (o Options) templatePath(t metav1.TypeMeta) string {
	group, _ := schema.ParseGroupVersion(t.APIVersion)
	if o.At[t.Kind] == "" && group.Group == "keda.sh" && t.Kind == "ScaledJob" {
		return "spec.jobTargetRef"
	}
	return o.At[t.Kind]
}

// template reads the Jobs that an object creates.
func (c *content) template(o Origin, value []byte, h header) {
	var whole struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	var tree any
	if !c.named(o, h) || !c.lenient(o, value, &whole) || !c.lenient(o, value, &tree) {
		return
	}
	path := strings.Split(strings.TrimPrefix(c.options.templatePath(h.TypeMeta), "."), ".")
	t := templates{content: c, origin: o, object: whole.Metadata}
	t.descend(tree, nil, "", path)
	if given := c.options.At[h.Kind]; !t.found && given != "" {
		c.fail(o, "", fmt.Sprintf("%s %q has nothing at %s", h.Kind, h.Metadata.Name, given))
	}
}

// templates finds the Jobs in an object that creates Jobs.
type templates struct {
	content *content
	origin  Origin
	object  metav1.ObjectMeta
	found   bool
}

// descend follows a path to Job specs. The value is at a field of parent, and the names collected on the path become part of the Jobs'
// names.
func (t *templates) descend(value, parent any, field string, path []string, names ...string) {
	if len(path) == 0 {
		t.job(value, parent, field, names)
		return
	}
	name, each := strings.CutSuffix(path[0], "[*]")
	members, _ := value.(map[string]any)
	below := FieldOfKey(field, name)
	if !each {
		if next := members[name]; next != nil {
			t.descend(next, value, below, path[1:], names...)
		}
		return
	}
	items, _ := members[name].([]any)
	for i, item := range items {
		fields, _ := item.(map[string]any)
		called, ok := fields["name"].(string)
		if !ok {
			called = strconv.Itoa(i)
		}
		t.descend(item, value, fmt.Sprintf("%s[%d]", below, i), path[1:], append(names, called)...)
	}
}

// job reads the spec of a Job. The metadata next to the spec holds the Job's labels and annotations.
func (t *templates) job(spec, parent any, field string, names []string) {
	t.found = true
	before, name := "", field
	if dot := strings.LastIndexByte(field, '.'); dot >= 0 {
		before, name = field[:dot], field[dot+1:]
	}
	if why := notJobSpec(spec); why != "" {
		t.content.fail(t.origin, field, why)
		return
	}
	o := t.origin.at(before)
	if name != "spec" {
		o.spec = name
	}
	object := map[string]any{"spec": spec}
	if beside, ok := parent.(map[string]any); ok && before != "" && name == "spec" && beside["metadata"] != nil {
		object["metadata"] = beside["metadata"]
	}
	var job batchv1.Job
	if value, err := json.Marshal(object); err != nil {
		t.content.fail(t.origin, field, err.Error())
		return
	} else if !t.content.strict(o, value, &job) {
		return
	}
	job.APIVersion, job.Kind = batchv1.SchemeGroupVersion.String(), "Job"
	job.Name, job.Namespace = strings.Join(append([]string{cmp.Or(t.object.Name, t.object.GenerateName)}, names...), "-"), t.object.Namespace
	job.GenerateName = ""
	t.content.Jobs = append(t.content.Jobs, Job{Object: &job, Origin: o, Template: before, Namespace: t.content.options.Namespace})
}

// notJobSpec returns the reason why a value is another part of a manifest and not a Job's spec, or "".
func notJobSpec(value any) string {
	fields, _ := value.(map[string]any)
	inner, isTemplate := fields["spec"].(map[string]any)
	switch {
	case inner["containers"] != nil, fields["containers"] != nil:
		return "is a Pod's template, and has no podFailurePolicy: that stands in the spec of a Job"
	case isTemplate && fields["template"] == nil:
		return "is a Job's template, not its spec: append .spec to the path"
	}
	return ""
}
