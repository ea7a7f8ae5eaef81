package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	strictjson "sigs.k8s.io/json"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/runtime"
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

type content struct {
	Set

	errs []error
	// waiting are Pods that are still to be decoded.
	waiting []waitingPod

	options Options
	nested  int // Lists that hold the one being read
}

// waitingPod is a Pod as it was read, in JSON.
type waitingPod struct {
	origin   Origin
	value    []byte
	recorded *runtime.Verdict // of a Pod in a Verdict
}

// empty reports whether there is nothing to read, not even something wrong.
func (c *content) empty() bool {
	return !c.keeps() && c.Lists+len(c.errs) == 0 && c.Skipped.None()
}

// keeps reports whether something of the document is kept.
func (c *content) keeps() bool {
	return len(c.Jobs)+len(c.Pods)+len(c.Policies)+len(c.Bindings)+len(c.Namespaces)+len(c.Nodes)+len(c.waiting)+len(c.trainJobs) > 0
}

func (c *content) fail(o Origin, field, message string) {
	c.errs = append(c.errs, o.Error(field, message))
}

// read reads a document, and leaves its Pods waiting. What can be read of it is returned also when some of it cannot.
func read(d *Document, options Options) content {
	c := content{options: options}
	value := c.document(d)
	switch {
	case !options.Strict && len(c.errs) > 0 && d.isTorn():
		return content{Set: Set{Skipped: Skipped{Torn: []Position{d.begin(1)}}}}
	case options.Strict && len(c.errs) == 0 && c.isPatch(d):
		return content{errs: []error{Origin{Document: d}.Error("", messagePatch)}}
	case options.Strict:
	case c.isTemplate(d, value != nil):
		return content{Set: Set{Skipped: Skipped{Templates: []Position{d.begin(1)}}}}
	case c.isPatch(d):
		return content{Set: Set{Skipped: Skipped{Patches: []Position{d.begin(1)}}}}
	case len(c.errs) > 0:
		if skipped := c.foreign(d, value); !skipped.None() {
			return content{Set: Set{Skipped: skipped}}
		}
	}
	c.errs = withheld(d, c.errs)
	return c
}

// document reads a document. It returns the value as JSON, or nil if the document is neither YAML nor JSON.
func (c *content) document(d *Document) []byte {
	origin := Origin{Document: d}
	if d.isItem() {
		c.nested++
	}
	if d.JSON && c.waits(origin, d.Text, d.implied()) {
		return d.Text
	}
	value, errs := d.value()
	if c.errs = errs; len(errs) > 0 {
		return nil
	}
	if !bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
		c.object(origin, value, d.implied())
	}
	return value
}

// value returns what stands in the document, as JSON. Without errors, a document in JSON may still be wrong.
func (d *Document) value() ([]byte, []error) {
	if errs := checkUTF8(d); len(errs) > 0 {
		return nil, errs
	}
	if d.JSON && (!d.Flow || json.Valid(d.Text)) {
		return d.Text, nil
	}
	return yamlToJSON(d)
}

var podType = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}

// waits leaves an object waiting, or skips it, if it is a Pod or has one. That costs little: the type stands at its beginning.
func (c *content) waits(o Origin, value []byte, implied metav1.TypeMeta) bool {
	t := quickType(value)
	if t == (metav1.TypeMeta{}) {
		t = implied
	}
	switch {
	case t != podType && t != verdictType:
		return false
	case c.options.NoPods && !c.options.Strict:
		c.Skipped.Beside++
	case t == podType:
		c.waiting = append(c.waiting, waitingPod{origin: o, value: value})
	default:
		c.verdict(o, value)
	}
	return true
}

// quickType returns the type of an object if it can be found, and reads no further.
func quickType(value []byte) (t metav1.TypeMeta) {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true))
	if begin, err := tokens.ReadToken(); err != nil || begin.Kind() != '{' {
		return t
	}
	for tokens.PeekKind() == '"' && (t.APIVersion == "" || t.Kind == "") {
		name, err := tokens.ReadToken()
		if err != nil {
			return metav1.TypeMeta{}
		}
		field := name.String()
		if field != "apiVersion" && field != "kind" || tokens.PeekKind() != '"' {
			if tokens.SkipValue() != nil {
				return metav1.TypeMeta{}
			}
			continue
		}
		text, err := tokens.ReadToken()
		switch {
		case err != nil:
			return metav1.TypeMeta{}
		case field == "kind":
			t.Kind = text.String()
		default:
			t.APIVersion = text.String()
		}
	}
	return t
}

// object reads one object; implied is its type when it may leave that out, as the items of a PodList do.
func (c *content) object(o Origin, value []byte, implied metav1.TypeMeta) {
	if !c.waits(o, value, implied) {
		c.decode(o, value, implied)
	}
}

func (c *content) decode(o Origin, value []byte, implied metav1.TypeMeta) {
	var h header
	if !c.lenient(o, value, &h) {
		return
	}
	if h.TypeMeta == (metav1.TypeMeta{}) {
		h.TypeMeta = implied
	}
	item := metav1.TypeMeta{APIVersion: h.APIVersion, Kind: strings.TrimSuffix(h.Kind, "List")}
	switch read := kinds[h.TypeMeta]; {
	case c.options.Parts && h.TypeMeta == metav1.TypeMeta{}:
		c.rules(o, value)
	case read != nil && c.options.At[h.Kind] == "":
		read(c, o, value, h)
	case h.TypeMeta == metav1.TypeMeta{APIVersion: "v1", Kind: "List"}:
		c.list(o, value, metav1.TypeMeta{})
	case kinds[item] != nil:
		c.list(o, value, item)
	case c.options.templatePath(h.TypeMeta) != "":
		c.template(o, value, h)
	default:
		c.otherKind(o, h)
	}
}

// kinds are the kinds that are read, besides Lists.
var kinds = map[metav1.TypeMeta]func(*content, Origin, []byte, header){
	{APIVersion: "batch/v1", Kind: "Job"}:                                   (*content).job,
	{APIVersion: "batch/v1", Kind: "CronJob"}:                               (*content).cronJob,
	{APIVersion: "v1", Kind: "Pod"}:                                         (*content).pod,
	{APIVersion: "v1", Kind: "Namespace"}:                                   (*content).namespace,
	{APIVersion: "v1", Kind: "Node"}:                                        (*content).node,
	{APIVersion: customVersion, Kind: v1alpha1.KindPodFailurePolicy}:        (*content).policy,
	{APIVersion: customVersion, Kind: v1alpha1.KindPodFailurePolicyBinding}: (*content).binding,
	{APIVersion: v1alpha2.GroupVersion.String(), Kind: "JobSet"}:            (*content).jobSet,
	{APIVersion: trainerVersion, Kind: "TrainingRuntime"}:                   (*content).runtime,
	{APIVersion: trainerVersion, Kind: "ClusterTrainingRuntime"}:            (*content).runtime,
	{APIVersion: trainerVersion, Kind: "TrainJob"}:                          (*content).trainJob,
	// Suites and simulations stand beside the policies and Jobs that they are about, and are read by the verbs that run them.
	{APIVersion: customVersion, Kind: "Suite"}:      nothing,
	{APIVersion: customVersion, Kind: "Simulation"}: nothing,
}

func nothing(c *content, _ Origin, _ []byte, _ header) { c.Skipped.Beside++ }

// otherKind skips an object of a kind that no verb is about. What is likely to be meant as one of ours is an error.
func (c *content) otherKind(o Origin, h header) {
	switch version := versionOf(h.TypeMeta); {
	case h.Kind == "":
		c.fail(o, "kind", messageRequired)
	case h.APIVersion == "":
		c.fail(o, "apiVersion", messageRequired)
	case !c.options.Strict && version == "" && !isClosed(h.APIVersion):
		c.Skipped.addObject(h.TypeMeta)
	case version != "":
		c.fail(o, "apiVersion",
			fmt.Sprintf("%s %s %q: this version is not known, did you mean %s?", h.APIVersion, h.Kind, h.Metadata.Name, version))
	default:
		c.fail(o, "kind",
			fmt.Sprintf("%s %s %q is not one of: batch/v1 Job or CronJob, v1 Pod, Node or Namespace, %s %s or %s, or a List of these",
				h.APIVersion, h.Kind, h.Metadata.Name, customVersion, v1alpha1.KindPodFailurePolicy, v1alpha1.KindPodFailurePolicyBinding))
	}
}

// versionOf returns the version in which a kind is read, or "" for other kinds. Other groups may have kinds of the same name.
func versionOf(t metav1.TypeMeta) string {
	if _, _, named := strings.Cut(t.APIVersion, "/"); named && !isClosed(t.APIVersion) {
		return ""
	}
	for known := range kinds {
		if known.Kind == strings.TrimSuffix(t.Kind, "List") {
			return known.APIVersion
		}
	}
	return ""
}

// isClosed reports whether all kinds of an API group are read, so that another one is a mistake.
func isClosed(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == batchv1.GroupName || group == v1alpha1.GroupVersion.Group
}

func (c *content) job(o Origin, value []byte, h header) {
	var job batchv1.Job
	if c.named(o, h) && c.strict(o, value, &job) {
		c.Jobs = append(c.Jobs, Job{Object: &job, Origin: o, Namespace: c.options.Namespace})
	}
}

// cronJob reads the Job that a CronJob makes.
func (c *content) cronJob(o Origin, value []byte, h header) {
	var cron batchv1.CronJob
	if !c.named(o, h) || !c.strict(o, value, &cron) {
		return
	}
	job := Job{Object: made(&cron), Origin: o.at(inCronJob), CronJob: &cron, Template: inCronJob, Namespace: c.options.Namespace}
	c.Jobs = append(c.Jobs, job)
}

func (c *content) pod(o Origin, value []byte, h header) {
	var pod corev1.Pod
	if c.named(o, h) && c.strict(o, value, &pod) {
		c.Pods = append(c.Pods, Pod{Object: &pod, Origin: o, Namespace: c.options.Namespace})
	}
}

// node reads a Node. It is no manifest that people write, and may have fields of a later Kubernetes.
func (c *content) node(o Origin, value []byte, h header) {
	var node corev1.Node
	switch {
	case c.options.NoPods:
		c.Skipped.Beside++
	case c.named(o, h) && c.lenient(o, value, &node):
		c.Nodes = append(c.Nodes, &node)
	}
}

func (c *content) named(o Origin, h header) bool {
	if h.Metadata.Name == "" && h.Metadata.GenerateName == "" {
		c.fail(o, "metadata.name", messageRequired)
		return false
	}
	return true
}

// list reads the items of a List one by one. The items of a List within another are read twice, so the depth has a
// limit.
func (c *content) list(o Origin, value []byte, implied metav1.TypeMeta) {
	if c.nested == maxNested {
		c.fail(o, "kind", fmt.Sprintf("a List within %d others is not read", maxNested))
		return
	}
	var l list
	if !c.strict(o, value, &l) {
		return
	}
	c.Lists++
	c.nested++
	defer func() { c.nested-- }()
	for i, item := range l.Items {
		if len(c.errs) >= maxErrors {
			c.fail(o, "items", messageMoreUnread)
			return
		}
		c.object(o.at(fmt.Sprintf("items[%d]", i)), item, implied)
	}
}

// lenient decodes the fields that target has, and no others.
func (c *content) lenient(o Origin, value []byte, target any) bool {
	err := strictjson.UnmarshalCaseSensitivePreserveInts(value, target)
	if err != nil {
		c.errs = append(c.errs, decodeErrors(o, value, target, err, false)...)
	}
	return err == nil
}

// strict decodes value, which may have no other fields than target, and each of them once.
func (c *content) strict(o Origin, value []byte, target any) bool {
	refused, err := strictjson.UnmarshalStrict(value, target)
	if err != nil {
		c.errs = append(c.errs, decodeErrors(o, value, target, err, true)...)
	}
	unfit := make([]*Error, len(refused)) // 100 at most: the decoder tells no more
	for i, err := range refused {
		field := ""
		if at, ok := errors.AsType[strictjson.FieldError](err); ok {
			field = at.FieldPath()
		}
		message, _, _ := strings.Cut(err.Error(), " \"")
		unfit[i] = o.unfit(target, field, message)
	}
	c.errs = append(c.errs, inFileOrder(unfit)...)
	return err == nil && len(refused) == 0
}

// unfit returns an error about the name of a field of target, with the one that it is likely to mean.
func (o Origin) unfit(target any, field, message string) *Error {
	if meant := suggestion(target, field); meant != "" {
		message += fmt.Sprintf(", did you mean %s?", meant)
	}
	err := o.Error(field, message)
	err.name = true
	return err
}
