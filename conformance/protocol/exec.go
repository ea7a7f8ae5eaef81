package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"time"

	sigsjson "sigs.k8s.io/json"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// DefaultTimeout is the maximum time that Exec waits for one response.
const DefaultTimeout = 30 * time.Second

// timeToEnd is the time in which a child must exit after closing its output. With Go's race detector it takes a second.
const timeToEnd = 5 * time.Second

var (
	errNoCommand = errors.New("no command")
	errClosed    = errors.New("engine: closed")
)

// Process is an engine in a child process that speaks the protocol of Serve. It is safe for concurrent use: requests are sent
// without waiting for earlier responses, and responses may arrive in any order.
//
// If the child exits, sends an invalid response or does not respond in time, the process has failed, and every waiting and
// later request gets the same error. A verdict that violates the contract, for example with a field that does not apply, is
// an error of its request only.
type Process struct {
	command *exec.Cmd
	timeout time.Duration
	out     io.ReadCloser
	stderr  tail
	send    chan []byte

	ended chan struct{} // closed when the child has exited and exit is set
	exit  error

	failed chan struct{} // closed when reason is set
	mu     sync.Mutex
	reason error
	last   uint64
	wait   map[string]chan response
}

// response is one line from the child.
type response struct {
	ID      string          `json:"id"`
	Verdict json.RawMessage `json:"verdict,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// Exec starts a command as an engine. A timeout of 0 means DefaultTimeout. The child is killed when ctx is done; Close always
// stops it. Process.Verdict is the Engine.
func Exec(ctx context.Context, command []string, timeout time.Duration) (*Process, error) {
	if len(command) == 0 {
		return nil, errNoCommand
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	p := &Process{
		//nolint:gosec // starting what the user names is the purpose
		command: exec.CommandContext(ctx, command[0], command[1:]...), timeout: timeout,
		send: make(chan []byte), failed: make(chan struct{}), ended: make(chan struct{}), wait: map[string]chan response{},
	}
	p.command.Stderr = &p.stderr
	p.command.WaitDelay = time.Second
	in, err := p.command.StdinPipe()
	if err != nil {
		return nil, errStart(command[0], err)
	}
	if p.out, err = p.command.StdoutPipe(); err != nil {
		return nil, errStart(command[0], err)
	}
	if err := p.command.Start(); err != nil {
		return nil, errStart(command[0], err)
	}
	go p.write(in)
	go p.read()
	return p, nil
}

// Verdict sends the request to the child and returns its verdict.
func (p *Process) Verdict(ctx context.Context, r conformance.Request) (runtime.Verdict, error) {
	id, answer := p.register()
	defer p.forget(id)
	line, err := json.Marshal(struct {
		ID string `json:"id"`
		Op string `json:"op"`
		conformance.Request
	}{id, opVerdict, r})
	if err != nil {
		return runtime.Verdict{}, err
	}
	line = append(line, '\n')
	timeout := time.NewTimer(p.timeout)
	defer timeout.Stop()
	send := p.send
	for {
		select {
		case send <- line:
			send = nil // sent; only wait for the response from now on
		case a := <-answer:
			return a.verdict()
		case <-p.failed:
			return p.lastAnswer(answer)
		case <-timeout.C:
			p.fail(fmt.Errorf("engine: no answer within %v", p.timeout))
		case <-ctx.Done():
			return runtime.Verdict{}, ctx.Err()
		}
	}
}

// lastAnswer returns the response if it arrived before the process failed, or the reason for the failure.
func (p *Process) lastAnswer(answer <-chan response) (runtime.Verdict, error) {
	select {
	case a := <-answer:
		return a.verdict()
	default:
		return runtime.Verdict{}, p.reason
	}
}

func (p *Process) register() (string, <-chan response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	id := strconv.FormatUint(p.last, 10)
	answer := make(chan response, 1)
	p.wait[id] = answer
	return id, answer
}

func (p *Process) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.wait, id)
}

// fail stores the first reason for a failure.
func (p *Process) fail(reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == nil {
		p.reason = reason
		close(p.failed)
	}
}

// write sends requests until the process has failed, and then closes the child's input. Write errors surface as the end of
// the child's output.
func (p *Process) write(in io.WriteCloser) {
	defer func() { _ = in.Close() }()
	for {
		select {
		case line := <-p.send:
			if _, err := in.Write(line); err != nil {
				return
			}
		case <-p.failed:
			return
		}
	}
}

// read delivers responses to the waiting requests until the output ends. The child then gets a few seconds to exit.
func (p *Process) read() {
	defer close(p.ended)
	err := p.readLines()
	kill := time.AfterFunc(timeToEnd, p.kill)
	defer kill.Stop()
	p.exit = p.command.Wait()
	p.fail(ended(errors.Join(err, p.exit), p.stderr.String()))
}

func (p *Process) readLines() error {
	lines := newLineReader(p.out, MaxLine)
	for {
		line, tooLong, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case tooLong:
			p.fail(errLongLine)
		default:
			p.deliver(line)
		}
	}
}

// kill kills the child, and closes its output, which the child's own children may hold open.
func (p *Process) kill() {
	_ = p.command.Process.Kill()
	_ = p.out.Close()
}

func (p *Process) deliver(line []byte) {
	var r response
	strict, err := sigsjson.UnmarshalStrict(line, &r)
	if err = errors.Join(append(strict, err)...); err != nil {
		p.fail(fmt.Errorf("engine: answered what is no response: %.200q: %w", line, err))
		return
	}
	answer, asked := p.take(r.ID)
	switch {
	case answer != nil:
		answer <- r
	case !asked:
		p.fail(fmt.Errorf("engine: answered an id that was not asked: %.200q", line))
	}
}

// take returns the channel of the request that waits for a response, if any, and reports whether the id was ever used.
func (p *Process) take(id string) (answer chan<- response, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer, ok := p.wait[id]; ok {
		delete(p.wait, id)
		return answer, true
	}
	n, err := strconv.ParseUint(id, 10, 64)
	return nil, err == nil && n > 0 && n <= p.last
}

func (r response) verdict() (runtime.Verdict, error) {
	switch {
	case r.Error != "":
		return runtime.Verdict{}, fmt.Errorf("engine: %s", r.Error)
	case r.Verdict == nil:
		return runtime.Verdict{}, errors.New("engine: answered neither a verdict nor an error")
	}
	v, err := conformance.ParseVerdict(r.Verdict)
	if err != nil {
		return runtime.Verdict{}, fmt.Errorf("engine: answered what is no verdict: %.200q: %w", r.Verdict, err)
	}
	return v, nil
}

// Close stops the child: it closes the input, and kills the child after the timeout, or at once if it has failed. It returns
// an error if the child did not exit normally.
func (p *Process) Close() error {
	select {
	case <-p.failed:
		p.kill()
	default:
		p.fail(errClosed)
	}
	kill := time.AfterFunc(p.timeout, p.kill)
	defer kill.Stop()
	<-p.ended
	if p.exit != nil {
		return ended(p.exit, p.stderr.String())
	}
	return nil
}

func errStart(command string, err error) error {
	return fmt.Errorf("engine %q does not start: %w", command, err)
}

// ended returns the error for a child that has exited; err is nil for exit code 0.
func ended(err error, stderr string) error {
	text := "engine: ended"
	if stderr != "" {
		text += ": " + stderr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return errors.New(text)
}

// tail keeps the end of the data written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	if n := len(t.last) - maxTail; n > 0 {
		t.last = append(t.last[:0], t.last[n:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.last))
}
