package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// A Process is a running cmd/release, built with some release of Kubernetes. Nil means the linked release. It is safe for
// concurrent use.
type Process struct {
	// Kubernetes is the minor version of its release, as in "1.34".
	Kubernetes string

	client  *rpc.Client
	command *exec.Cmd
}

// Start starts a program. It returns nil if program is empty.
func Start(ctx context.Context, program string) (*Process, error) {
	if program == "" {
		return nil, nil //nolint:nilnil // nil stands for the release that is linked in
	}
	command := exec.CommandContext(ctx, program)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{client: rpc.NewClient(stream{stdout, stdin}), command: command}
	if err := p.client.Call("Service.Kubernetes", 0, &p.Kubernetes); err != nil {
		return nil, fmt.Errorf("%s: %w", program, errors.Join(err, p.Close()))
	}
	return p, nil
}

// Close ends the program.
func (p *Process) Close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.client.Close(), p.command.Wait())
}

// Ask calls the function Ask of the release.
func (p *Process) Ask(policy, witness *batchv1.PodFailurePolicy, pod *corev1.Pod) (Answer, error) {
	if p == nil {
		return Ask(policy, witness, pod), nil
	}
	var q Question
	if err := errors.Join(q.SetPolicy(policy, witness), q.AddPod(pod)); err != nil {
		return Answer{}, err
	}
	answers, err := p.AskAll([]Question{q})
	if err != nil {
		return Answer{}, err
	}
	return answers[0], nil
}

// AskAll asks all questions at once, and returns the answers in the order of the pods.
func (p *Process) AskAll(questions []Question) ([]Answer, error) {
	pods := 0
	for _, q := range questions {
		pods += len(q.Pods)
	}
	var answers []Answer
	err := p.client.Call("Service.Ask", questions, &answers)
	if err == nil && len(answers) != pods {
		err = fmt.Errorf("%d answers for %d pods", len(answers), pods)
	}
	return answers, err
}

// APIServer calls the function APIServer of the release.
func (p *Process) APIServer(ctx context.Context, s Submission) (faults []Fault, panicked bool, err error) {
	if p == nil {
		return APIServer(ctx, s)
	}
	var said Refusal
	err = p.client.Call("Service.APIServer", s, &said)
	return said.Faults, said.Panicked, err
}

// stream is both pipes of a process.
type stream struct {
	io.Reader
	io.WriteCloser
}
