package release

import (
	"context"
	"fmt"
	"io"
	"net/rpc"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/util/compatibility"
)

// A Question is a policy with its witness, and pods, encoded as clients of the API server send them.
type Question struct {
	Policy, Witness []byte // as the only field of a JobSpec, which distinguishes no policy from an empty one
	Pods            [][]byte
}

// SetPolicy encodes the policies.
func (q *Question) SetPolicy(policy, witness *batchv1.PodFailurePolicy) (err error) {
	if q.Policy, err = (&batchv1.JobSpec{PodFailurePolicy: policy}).Marshal(); err == nil {
		q.Witness, err = (&batchv1.JobSpec{PodFailurePolicy: witness}).Marshal()
	}
	return err
}

// AddPod encodes a pod.
func (q *Question) AddPod(pod *corev1.Pod) error {
	encoded, err := pod.Marshal()
	q.Pods = append(q.Pods, encoded)
	return err
}

func (q *Question) appendAnswers(answers []Answer) ([]Answer, error) {
	var policy, witness batchv1.JobSpec
	if err := policy.Unmarshal(q.Policy); err != nil {
		return nil, err
	}
	if err := witness.Unmarshal(q.Witness); err != nil {
		return nil, err
	}
	for _, encoded := range q.Pods {
		var pod corev1.Pod
		if err := pod.Unmarshal(encoded); err != nil {
			return nil, err
		}
		answers = append(answers, Ask(policy.PodFailurePolicy, witness.PodFailurePolicy, &pod))
	}
	return answers, nil
}

// Refusal is the API server's answer to a submission.
type Refusal struct {
	Faults   []Fault
	Panicked bool
}

// Service serves the functions over net/rpc.
type Service struct{}

// Kubernetes returns the linked minor version.
func (Service) Kubernetes(_ int, minor *string) error {
	*minor = compatibility.DefaultBuildEffectiveVersion().BinaryVersion().String()
	return nil
}

// Ask answers questions.
func (Service) Ask(questions []Question, answers *[]Answer) (err error) {
	defer asError(&err)
	for _, q := range questions {
		if *answers, err = q.appendAnswers(*answers); err != nil {
			return err
		}
	}
	return nil
}

// APIServer validates a submission.
func (Service) APIServer(s Submission, said *Refusal) (err error) {
	defer asError(&err)
	said.Faults, said.Panicked, err = APIServer(context.Background(), s)
	return err
}

// asError turns a panic of upstream into an error, so that the process continues and the client learns of it.
func asError(err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("panic: %v", value)
	}
}

// Serve serves requests until the input ends.
func Serve(in io.Reader, out io.WriteCloser) error {
	server := rpc.NewServer()
	if err := server.Register(Service{}); err != nil {
		return err
	}
	server.ServeConn(stream{in, out})
	return nil
}
