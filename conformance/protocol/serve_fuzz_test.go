package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/vectors"
	"github.com/podverdict/podverdict/runtime"
)

// wireLine returns a vector's question as a protocol line.
func wireLine(t testing.TB, v vectors.Vector) []byte {
	t.Helper()
	line, err := json.Marshal(struct {
		ID string `json:"id"`
		Op string `json:"op"`
		conformance.Request
	}{v.Name, opVerdict, v.Request()})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// slowRequest is a decoded line for the decoder that Kubernetes uses.
type slowRequest struct {
	ID         json.RawMessage           `json:"id"`
	Op         string                    `json:"op"`
	Kubernetes string                    `json:"kubernetes"`
	Policy     *batchv1.PodFailurePolicy `json:"policy"`
	Pod        *json.RawMessage          `json:"pod"`
	Job        any                       `json:"job"`
	OldJob     any                       `json:"oldJob"`
}

// slowPod is the part of a pod that a policy can read.
type slowPod struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Status struct {
		Phase      corev1.PodPhase `json:"phase"`
		Conditions []struct {
			Type   corev1.PodConditionType `json:"type"`
			Status corev1.ConditionStatus  `json:"status"`
		} `json:"conditions"`
		ContainerStatuses     []slowContainer `json:"containerStatuses"`
		InitContainerStatuses []slowContainer `json:"initContainerStatuses"`
	} `json:"status"`
}

type slowContainer struct {
	Name  string `json:"name"`
	State struct {
		Terminated *struct {
			ExitCode int32 `json:"exitCode"`
		} `json:"terminated"`
	} `json:"state"`
}

func (s slowPod) pod() *corev1.Pod {
	p := new(corev1.Pod)
	p.Name, p.Namespace, p.Status.Phase = s.Metadata.Name, s.Metadata.Namespace, s.Status.Phase
	for _, c := range s.Status.Conditions {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
	}
	p.Status.ContainerStatuses = containers(s.Status.ContainerStatuses)
	p.Status.InitContainerStatuses = containers(s.Status.InitContainerStatuses)
	return p
}

func containers(slow []slowContainer) []corev1.ContainerStatus {
	var list []corev1.ContainerStatus
	for _, s := range slow {
		c := corev1.ContainerStatus{Name: s.Name}
		if s.State.Terminated != nil {
			c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: s.State.Terminated.ExitCode}
		}
		list = append(list, c)
	}
	return list
}

// slowly answers a line the long way: it checks the JSON, decodes it into the real types, and calls
// the definition.
func slowly(line []byte) (id string, v runtime.Verdict, err error) {
	if !jsontext.Value(line).IsValid() {
		return "", v, errors.New("not JSON")
	}
	var r slowRequest
	strict, err := sigsjson.UnmarshalStrict(line, &r)
	if err := errors.Join(append(strict, err)...); err != nil {
		return "", v, err
	}
	if id = string(r.ID); id == "null" {
		id = ""
	}
	if id != "" && id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		return "", v, errors.New("id")
	}
	if r.Op != opVerdict || r.Pod == nil {
		return id, v, errors.New("op or pod")
	}
	var pod slowPod
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(*r.Pod, &pod); err != nil {
		return id, v, err
	}
	v, err = conformance.Go(context.Background(), conformance.Request{Kubernetes: r.Kubernetes, Policy: r.Policy, Pod: pod.pod()})
	return id, v, err
}

// FuzzServe checks that every line gets exactly one answer, equal to slowly's.
func FuzzServe(f *testing.F) {
	for _, v := range all(f) {
		f.Add(wireLine(f, v))
	}
	for _, e := range exchanges {
		f.Add([]byte(e.line))
	}
	f.Add(requests(2))
	for _, line := range []string{
		`{"id":"7","op":"verdict",` + failed + `} {}`, `{"id":"7","op":"verdict",` + failed + `}}`, `{"id":"6","op":"verdict","id":"7",` + failed + `}`,
		`{"id":"7","op":"verdict","pod":{"spec":{"a":1,"\u0061":2}}}`, "{\"id\":\"\xff\",\"op\":\"verdict\"}",
		`{"op":"verdict","pod":{"metadata":{"name":"\ud800"}}}`, `{"id":"7","op":"verdict","pod":{"spec":` + strings.Repeat("[", 20000),
	} {
		f.Add([]byte(line))
	}
	for _, status := range []string{`{"conditions":[null,{"type":null}],"containerStatuses":[null]}`, `{"phase":"Failed","phase":"Running"}`, `[]`} {
		f.Add([]byte(withStatus(status) + "\n\n{}\r\n"))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		lines := bytes.Split(input, []byte("\n"))
		if last := len(lines) - 1; len(lines[last]) == 0 {
			lines = lines[:last]
		}
		answers := served(t, iotest.HalfReader(bytes.NewReader(input)), conformance.Go)
		if len(answers) != len(lines) {
			t.Fatalf("%d answers to %d lines", len(answers), len(lines))
		}
		for i, line := range lines {
			if err := compare(line, answers[i]); err != nil {
				t.Errorf("%v\n%s\n%s", err, line, answers[i])
			}
		}
	})
}

func compare(line []byte, answer string) error {
	var got struct {
		ID      json.RawMessage  `json:"id"`
		Verdict *runtime.Verdict `json:"verdict"`
		Error   string           `json:"error"`
	}
	strict, err := sigsjson.UnmarshalStrict([]byte(answer), &got)
	if err := errors.Join(append(strict, err)...); err != nil {
		return err
	}
	id, want, err := slowly(line)
	switch {
	case (err != nil) != (got.Verdict == nil) || (err != nil) != (got.Error != ""):
		return errors.Join(fmt.Errorf("the long way: %+v", want), err)
	case id != "" && id != string(got.ID):
		return fmt.Errorf("id %s, not %s", got.ID, id)
	case err == nil && !got.Verdict.Equal(want):
		return fmt.Errorf("the long way: %+v", want)
	}
	return nil
}
