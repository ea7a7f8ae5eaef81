package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"
)

// wireRequest is one line of the protocol. It is strict JSON (RFC 7493): repeated names, invalid UTF-8 and anything after the
// value are errors. Names are case-sensitive, and null means absent, as in Kubernetes. The package json is version 2 of Go's
// encoding/json, which decodes like this by default; version 1 ignores case and accepts repeated names.
type wireRequest struct {
	ID         jsontext.Value `json:"id"` // a string or a number in its original form
	Op         string         `json:"op"`
	Kubernetes string         `json:"kubernetes"`
	Policy     jsontext.Value `json:"policy"`
	Pod        wirePod        `json:"pod"`
	Job        jsontext.Value `json:"job"`
	OldJob     jsontext.Value `json:"oldJob"`
}

// wirePod has the fields of a pod that a policy can read. The rest is checked as JSON but not decoded: decoding all of
// corev1.Pod would cost several times as much.
type wirePod struct {
	given bool

	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Status struct {
		Phase                 corev1.PodPhase     `json:"phase"`
		Conditions            list[wireCondition] `json:"conditions"`
		ContainerStatuses     list[wireContainer] `json:"containerStatuses"`
		InitContainerStatuses list[wireContainer] `json:"initContainerStatuses"`
	} `json:"status"`
}

type wireCondition struct {
	Type   corev1.PodConditionType `json:"type"`
	Status corev1.ConditionStatus  `json:"status"`
}

type wireContainer struct {
	Name  string `json:"name"`
	State struct {
		Terminated *struct {
			ExitCode int32 `json:"exitCode"`
		} `json:"terminated"`
	} `json:"state"`
}

// UnmarshalJSONFrom ignores unknown fields of a pod. In a request they would be errors.
func (p *wirePod) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type fields wirePod
	p.given = d.PeekKind() != 'n'
	return json.UnmarshalDecode(d, (*fields)(p), json.RejectUnknownMembers(false))
}

// maxElements is the maximum number of containers or conditions of a pod. An object in the API server has room for fewer.
const maxElements = 1 << 16

// list is a JSON array of at most maxElements. A longer one is rejected before it takes memory.
type list[T any] []T

// UnmarshalJSONFrom decodes the array into the list's existing memory.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return json.UnmarshalDecode(d, (*[]T)(l)) // null, or a wrong type
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if len(*l) == maxElements {
			return errLongList
		}
		var element T
		*l = append(*l, element)
		if err := json.UnmarshalDecode(d, &(*l)[len(*l)-1]); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// reader decodes requests. It reuses its memory for the next line, because otherwise garbage collection would take half of
// the time.
type reader struct {
	request wireRequest
	pod     corev1.Pod
}

// read decodes a line. The request is valid until reset. If there is an error, the request contains only the id, if that can
// be read.
func (r *reader) read(line []byte) (*wireRequest, error) {
	request := &r.request
	err := json.Unmarshal(line, request, json.RejectUnknownMembers(true))
	for _, value := range []*jsontext.Value{&request.ID, &request.Policy, &request.Job, &request.OldJob} {
		if value.Kind() == 'n' {
			*value = nil
		}
	}
	switch {
	case err != nil:
		err = requestError(line, err)
	case request.ID != nil && !isID(request.ID):
		err = errWrongType("/id", "a string")
	case request.Op == opVerdict && !request.Pod.given:
		err = errNoPod
	default:
		return request, nil
	}
	return &wireRequest{ID: readableID(line)}, err
}

// maxReused is the maximum number of conditions and containers whose memory is reused, so that one huge pod does not occupy
// memory forever.
const maxReused = 1 << 12

// reset clears the request.
func (r *reader) reset() {
	status := r.request.Pod.Status
	r.request = wireRequest{}
	if cap(status.Conditions)+cap(status.ContainerStatuses)+cap(status.InitContainerStatuses) > maxReused {
		r.pod = corev1.Pod{}
		return
	}
	kept := &r.request.Pod.Status
	kept.Conditions, kept.ContainerStatuses = status.Conditions[:0], status.ContainerStatuses[:0]
	kept.InitContainerStatuses = status.InitContainerStatuses[:0]
}

// judged returns the pod for the engine. It is valid until reset.
func (r *reader) judged() *corev1.Pod {
	from, memory := &r.request.Pod, r.pod.Status
	r.pod = corev1.Pod{}
	r.pod.Name, r.pod.Namespace = from.Metadata.Name, from.Metadata.Namespace
	status := &r.pod.Status
	status.Phase, status.Conditions = from.Status.Phase, memory.Conditions[:0]
	for _, c := range from.Status.Conditions {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
	}
	status.ContainerStatuses = appendContainers(memory.ContainerStatuses[:0], from.Status.ContainerStatuses)
	status.InitContainerStatuses = appendContainers(memory.InitContainerStatuses[:0], from.Status.InitContainerStatuses)
	return &r.pod
}

func appendContainers(statuses []corev1.ContainerStatus, from list[wireContainer]) []corev1.ContainerStatus {
	for i := range from {
		statuses = append(statuses, corev1.ContainerStatus{})
		status := &statuses[len(statuses)-1]
		status.Name = from[i].Name
		if t := from[i].State.Terminated; t != nil {
			status.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: t.ExitCode}
		}
	}
	return statuses
}

// maxPolicy is the maximum size of a policy, in bytes of JSON: 256 KiB. The longest that the API server accepts takes 140 kB.
const maxPolicy = 256 << 10

// decodePolicy decodes strictly: a misspelt field must not change the verdict.
func decodePolicy(raw []byte) (*batchv1.PodFailurePolicy, error) {
	if len(raw) > maxPolicy {
		return nil, fmt.Errorf("policy: longer than %d bytes", maxPolicy)
	}
	p := new(batchv1.PodFailurePolicy)
	strict, err := sigsjson.UnmarshalStrict(raw, p)
	if err = errors.Join(append(strict, err)...); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return p, nil
}

var (
	errNoPod    = errors.New("pod is required")
	errLongList = fmt.Errorf("more than %d elements", maxElements)
)

// requestError translates an error of decoding a line into the terms of the protocol.
func requestError(line []byte, err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return errors.New("the line is empty")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
	case !errors.As(err, &semantic):
		return err
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown field %q", semantic.JSONPointer.LastToken())
	case errors.Is(err, errLongList):
		return fmt.Errorf("%s: %w", semantic.JSONPointer, errLongList)
	default:
		return errWrongType(semantic.JSONPointer, wanted(semantic.GoType))
	}
}

func errWrongType(at jsontext.Pointer, want string) error {
	if at == "" {
		return fmt.Errorf("the request is not %s", want)
	}
	return fmt.Errorf("%s is not %s", at, want)
}

// wanted names the JSON type that a type of wireRequest is decoded from.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Int32:
		return "a whole number of 32 bits"
	default:
		return "an object"
	}
}

func isID(v jsontext.Value) bool { return v.Kind() == '"' || v.Kind() == '0' }

// readableID returns the id of an invalid line, if it can be found.
func readableID(line []byte) jsontext.Value {
	var r struct {
		ID jsontext.Value `json:"id"`
	}
	// An error here is the one already found, or comes after the id.
	_ = json.Unmarshal(line, &r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if !isID(r.ID) || !r.ID.IsValid() {
		return nil
	}
	return r.ID
}
