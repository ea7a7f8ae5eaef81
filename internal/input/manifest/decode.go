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

// header holds the fields of an object that select its decoder, and its name for errors.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
	} `json:"metadata"`
}

// list holds the fields common to all Lists; items are read one by one.
type list struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []json.RawMessage `json:"items"`
}

// maxErrors is the maximum number of errors reported for one document.
const maxErrors = 100

type content struct {
	Set

	errs []error
	// waiting holds Pods that are not decoded yet.
	waiting []waitingPod

	options Options
	nested  int // number of Lists around the one being read
}

// waitingPod is an undecoded Pod in JSON.
type waitingPod struct {
	origin   Origin
	value    []byte
	recorded *runtime.Verdict // set for a Pod in a Verdict
}

// empty reports whether the content has neither objects nor errors.
func (c *content) empty() bool {
	return !c.keeps() && c.Lists+len(c.errs) == 0 && c.Skipped.None()
}

// keeps reports whether any object of the document is kept.
func (c *content) keeps() bool {
	return len(c.Jobs)+len(c.Pods)+len(c.Policies)+len(c.Bindings)+len(c.Namespaces)+len(c.Nodes)+len(c.waiting)+len(c.trainJobs) > 0
}

func (c *content) fail(o Origin, field, message string) {
	c.errs = append(c.errs, o.Error(field, message))
}

// read reads a document and leaves its Pods undecoded. If parts of the document are invalid, read still returns the rest.
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

// value returns the document's content as JSON. A JSON document may be invalid even if value returns no errors.
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

// waits queues an object for later decoding, or skips it, if it is a Pod or a Verdict with one. The check is cheap because the type is
// near the start of the object.
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

// quickType returns the type of an object and stops reading once it has found it.
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

// object reads one object; implied is its type if the object may omit it, as the items of a PodList do.
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

// kinds maps each supported kind, except Lists, to its reader.
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
	// Suites and simulations accompany the policies and Jobs that they refer to. The verbs that run them read them.
	{APIVersion: customVersion, Kind: "Suite"}:      nothing,
	{APIVersion: customVersion, Kind: "Simulation"}: nothing,
}

func nothing(c *content, _ Origin, _ []byte, _ header) { c.Skipped.Beside++ }

// otherKind skips an object of a kind that no verb reads. It reports an error if the type looks like a misspelled supported one.
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

// versionOf returns the supported version of a kind, or "" for other kinds. Other groups may have kinds of the same name.
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

// isClosed reports whether every kind of an API group is supported, so that an unknown kind is a mistake.
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

// cronJob reads the Job that a CronJob creates.
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

// node reads a Node. Nodes are not written by hand and may have fields of a later Kubernetes, so decoding is lenient.
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

// list reads the items of a List one by one. Nesting is limited because each level reads the inner items again.
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

// lenient decodes the fields of target and ignores all others.
func (c *content) lenient(o Origin, value []byte, target any) bool {
	err := strictjson.UnmarshalCaseSensitivePreserveInts(value, target)
	if err != nil {
		c.errs = append(c.errs, decodeErrors(o, value, target, err, false)...)
	}
	return err == nil
}

// strict decodes value and rejects unknown and duplicate fields.
func (c *content) strict(o Origin, value []byte, target any) bool {
	refused, err := strictjson.UnmarshalStrict(value, target)
	if err != nil {
		c.errs = append(c.errs, decodeErrors(o, value, target, err, true)...)
	}
	unfit := make([]*Error, len(refused)) // at most 100: the decoder stops there
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

// unfit returns an error about the name of a field of target, with a suggestion if a field has a similar name.
func (o Origin) unfit(target any, field, message string) *Error {
	if meant := suggestion(target, field); meant != "" {
		message += fmt.Sprintf(", did you mean %s?", meant)
	}
	err := o.Error(field, message)
	err.name = true
	return err
}
