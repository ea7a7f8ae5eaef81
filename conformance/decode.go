package conformance

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"
)

// wireRequest is one line of the protocol.
type wireRequest struct {
	id         []byte // JSON string or number, as it was written; nil when there is none
	op         string
	kubernetes string
	policy     *batchv1.PodFailurePolicy
	pod        *corev1.Pod
	job        []byte // as it was written; nil when there is none, or null
	oldJob     []byte
}

// decoder reads requests. It is JSON text strictly (RFC 7493): names that repeat in
// any object, invalid UTF-8 and anything after the value are errors; names are
// compared with their case, and null is as good as absent, as in Kubernetes.
//
// Of the pod only what a policy can look at is read, and held to its types; the
// rest must be JSON. Reading corev1.Pod whole would cost ten times as much. The
// pod's memory is used again for the next line.
type decoder struct {
	json     *jsontext.Decoder
	buffer   bytes.Buffer
	policies cache[*batchv1.PodFailurePolicy] // by their text
	strings  map[string]string                // the last short strings, to be shared
	unquoted []byte

	line       []byte
	request    wireRequest
	pod        corev1.Pod
	terminated []corev1.ContainerStateTerminated
}

func newDecoder() *decoder {
	return &decoder{json: jsontext.NewDecoder(new(bytes.Buffer)), strings: map[string]string{}}
}

// decode reads one line. Of a request that is wrong only the id is returned, when
// it can be read. The request is valid until the next call.
func (d *decoder) decode(line []byte) (wireRequest, error) {
	d.reset(line)
	err := d.object(d.envelope)
	if err == nil {
		err = d.end()
	}
	if err == nil && d.request.pod == nil && d.request.op == opVerdict {
		err = errNoPod
	}
	if err != nil {
		return wireRequest{id: readableID(line)}, errNotJSON(line, err)
	}
	return d.request, nil
}

// maxReused is how many conditions and containers the memory is kept for.
const maxReused = 1 << 12

func (d *decoder) reset(line []byte) {
	if s := &d.pod.Status; len(d.line) > 16*bufferSize || cap(s.Conditions)+cap(s.ContainerStatuses)+cap(s.InitContainerStatuses) > maxReused {
		// One huge line does not make all later ones cost its memory.
		d.json, d.pod, d.terminated, d.unquoted = jsontext.NewDecoder(&d.buffer), corev1.Pod{}, nil, nil
	}
	status := &d.pod.Status
	clear(status.Conditions)
	clear(status.ContainerStatuses)
	clear(status.InitContainerStatuses)
	d.pod = corev1.Pod{Status: corev1.PodStatus{
		Conditions:            status.Conditions[:0],
		ContainerStatuses:     status.ContainerStatuses[:0],
		InitContainerStatuses: status.InitContainerStatuses[:0],
	}}
	d.line, d.request, d.terminated = line, wireRequest{}, d.terminated[:0]
	d.buffer = *bytes.NewBuffer(line)
	d.json.Reset(&d.buffer)
}

// end demands that nothing follows the request.
func (d *decoder) end() error {
	switch _, err := d.json.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return errAfterRequest
	}
}

func (d *decoder) envelope(name string) error {
	switch name {
	case "id":
		return d.id()
	case "op":
		return d.text(&d.request.op)
	case "kubernetes":
		return d.text(&d.request.kubernetes)
	case "policy":
		return d.policy()
	case "pod":
		if d.json.PeekKind() == '{' {
			d.request.pod = &d.pod
		}
		return d.object(d.podField)
	case "job":
		return d.written(&d.request.job)
	case "oldJob":
		return d.written(&d.request.oldJob)
	default:
		return errUnknownField(name)
	}
}

func (d *decoder) id() error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case 'n':
		return nil
	case '"', '0':
		d.request.id = d.own(raw)
		return nil
	default:
		return d.wrongType("a string")
	}
}

// written keeps a value for the operation that wants it. Null is as good as absent.
func (d *decoder) written(into *[]byte) error {
	raw, err := d.json.ReadValue()
	if err == nil && raw.Kind() != 'n' {
		*into = d.own(raw)
	}
	return err
}

// own is the same bytes in the line, where they stay valid when the decoder reads
// on.
func (d *decoder) own(last jsontext.Value) []byte {
	end := int(d.json.InputOffset())
	return d.line[end-len(last) : end]
}

// maxPolicy is the size of the longest policy that is read, in bytes of JSON: 256 KiB.
// The longest that the API server accepts takes 140 kB.
const maxPolicy = 256 << 10

func (d *decoder) policy() error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	if len(raw) > maxPolicy {
		return errLongPolicy(maxPolicy)
	}
	d.request.policy, err = d.policies.get(raw, func() (*batchv1.PodFailurePolicy, error) { return decodePolicy(raw) })
	return err
}

// decodePolicy is strict: a misspelt field must not become another verdict.
func decodePolicy(raw []byte) (*batchv1.PodFailurePolicy, error) {
	var p *batchv1.PodFailurePolicy
	strict, err := sigsjson.UnmarshalStrict(raw, &p)
	if err = errors.Join(append(strict, err)...); err != nil {
		return nil, errPolicy(err)
	}
	return p, nil
}

func (d *decoder) podField(name string) error {
	switch name {
	case "metadata":
		return d.object(d.metadata)
	case "status":
		return d.object(d.status)
	default:
		return d.json.SkipValue()
	}
}

func (d *decoder) metadata(name string) error {
	switch name {
	case "name":
		return d.text(&d.pod.Name)
	case "namespace":
		return d.text(&d.pod.Namespace)
	default:
		return d.json.SkipValue()
	}
}

func (d *decoder) status(name string) error {
	s := &d.pod.Status
	switch name {
	case "phase":
		return d.text((*string)(&s.Phase))
	case "conditions":
		return list(d, &s.Conditions, d.condition)
	case "containerStatuses":
		return list(d, &s.ContainerStatuses, d.container)
	case "initContainerStatuses":
		return list(d, &s.InitContainerStatuses, d.container)
	default:
		return d.json.SkipValue()
	}
}

func (d *decoder) condition(c *corev1.PodCondition, name string) error {
	switch name {
	case "type":
		return d.text((*string)(&c.Type))
	case "status":
		return d.text((*string)(&c.Status))
	default:
		return d.json.SkipValue()
	}
}

func (d *decoder) container(c *corev1.ContainerStatus, name string) error {
	switch name {
	case "name":
		return d.text(&c.Name)
	case "state":
		return d.object(func(name string) error {
			if name != "terminated" {
				return d.json.SkipValue()
			}
			return d.terminatedState(c)
		})
	default:
		return d.json.SkipValue()
	}
}

func (d *decoder) terminatedState(c *corev1.ContainerStatus) error {
	if d.json.PeekKind() == '{' {
		d.terminated = append(d.terminated, corev1.ContainerStateTerminated{})
		c.State.Terminated = &d.terminated[len(d.terminated)-1]
	}
	return d.object(func(name string) error {
		if name != "exitCode" {
			return d.json.SkipValue()
		}
		return d.int32(&c.State.Terminated.ExitCode)
	})
}
