package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"
)

// header is the part of an object that tells how to read the rest, and its name for errors.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
	} `json:"metadata"`
}

// list is what Lists have in common; items are read one by one.
type list struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []json.RawMessage `json:"items"`
}

// maxErrors is how many errors of a document are enough to tell.
const maxErrors = 100

// content is what one document holds.
type content struct {
	jobs  []Job
	pods  []Pod
	lists int
	errs  []error
}

func (c *content) fail(o Origin, field, message string) {
	c.errs = append(c.errs, o.Error(field, message))
}

// decode reads a document. What can be read of it is returned also when some of it cannot.
func decode(d *Document) content {
	var c content
	value := d.data
	if !d.isJSON {
		if value, c.errs = yamlToJSON(d); len(c.errs) > 0 {
			return c
		}
	}
	if !bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
		c.object(Origin{Document: d}, value, metav1.TypeMeta{})
	}
	return c
}

// object reads one object; implied is its type when it may leave that out, as the items of a PodList do.
func (c *content) object(o Origin, value []byte, implied metav1.TypeMeta) {
	var h header
	if !c.lenient(o, value, &h) {
		return
	}
	if h.TypeMeta == (metav1.TypeMeta{}) {
		h.TypeMeta = implied
	}
	switch h.TypeMeta {
	case metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}:
		c.job(o, value, h)
	case metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}:
		c.cronJob(o, value, h)
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}:
		c.pod(o, value, h)
	case metav1.TypeMeta{APIVersion: "v1", Kind: "List"}:
		c.list(o, value, metav1.TypeMeta{})
	case metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"},
		metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJobList"}:
		c.list(o, value, metav1.TypeMeta{APIVersion: h.APIVersion, Kind: strings.TrimSuffix(h.Kind, "List")})
	default:
		c.wrongKind(o, h)
	}
}

func (c *content) wrongKind(o Origin, h header) {
	switch {
	case h.Kind == "":
		c.fail(o, "kind", messageRequired)
	case h.APIVersion == "":
		c.fail(o, "apiVersion", messageRequired)
	default:
		c.fail(o, "kind", messageWrongKind(h.APIVersion, h.Kind, h.Metadata.Name))
	}
}

func (c *content) job(o Origin, value []byte, h header) {
	var job batchv1.Job
	if c.named(o, h) && c.strict(o, value, &job) {
		c.jobs = append(c.jobs, Job{Object: &job, Origin: o})
	}
}

// cronJob reads the Job that a CronJob makes.
func (c *content) cronJob(o Origin, value []byte, h header) {
	var cron batchv1.CronJob
	if !c.named(o, h) || !c.strict(o, value, &cron) {
		return
	}
	c.jobs = append(c.jobs, Job{Object: made(&cron), Origin: o.at(templateField), CronJob: &cron})
}

func (c *content) pod(o Origin, value []byte, h header) {
	var pod corev1.Pod
	if c.named(o, h) && c.strict(o, value, &pod) {
		c.pods = append(c.pods, Pod{Object: &pod, Origin: o})
	}
}

func (c *content) named(o Origin, h header) bool {
	if h.Metadata.Name == "" && h.Metadata.GenerateName == "" {
		c.fail(o, "metadata.name", messageRequired)
		return false
	}
	return true
}

func (c *content) list(o Origin, value []byte, implied metav1.TypeMeta) {
	var l list
	if !c.strict(o, value, &l) {
		return
	}
	c.lists++
	for i, item := range l.Items {
		if len(c.errs) >= maxErrors {
			c.fail(o, "items", messageMoreUnread(len(l.Items)-i))
			return
		}
		c.object(o.at(fmt.Sprintf("items[%d]", i)), item, implied)
	}
}

// lenient decodes the fields that target has, and no others.
func (c *content) lenient(o Origin, value []byte, target any) bool {
	err := strictjson.UnmarshalCaseSensitivePreserveInts(value, target)
	if err != nil {
		c.errs = append(c.errs, decodeErrors(o, value, target, err)...)
	}
	return err == nil
}

// strict decodes value, which may have no other fields than target, and each of them once.
func (c *content) strict(o Origin, value []byte, target any) bool {
	refused, err := strictjson.UnmarshalStrict(value, target)
	if err != nil {
		c.errs = append(c.errs, decodeErrors(o, value, target, err)...)
	}
	unfit := make([]*Error, len(refused))
	for i, err := range refused {
		field := ""
		if at, ok := errors.AsType[strictjson.FieldError](err); ok {
			field = at.FieldPath()
		}
		message, _, _ := strings.Cut(err.Error(), " \"")
		unfit[i] = o.Error(field, message+didYouMean(suggestion(target, field)))
		unfit[i].name = true
	}
	c.errs = append(c.errs, inFileOrder(unfit)...)
	return err == nil && len(refused) == 0
}
