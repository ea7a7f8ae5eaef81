package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime/metrics"
	"runtime/pprof"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// childVariable is the environment variable that makes a process run only the named contender.
const childVariable = "BENCHCONTROLLER_CHILD"

// An order is the first message read by such a process.
type order struct {
	Namespace, Host string
	TLS             rest.TLSClientConfig
	QPS             float32
}

// usage is the resource usage of such a process so far. It is the answer to each question.
type usage struct {
	Calls, Events  int
	Last           time.Time // begin or end of the last call
	Work           time.Time // begin or end of the last call other than for events
	CPU            time.Duration
	Heap, Resident uint64 // bytes of the heap after the last garbage collection, and of memory that Go obtained from the system
}

// A process runs a contender, so that its CPU time and memory are measured separately.
type process struct {
	questions *json.Encoder
	answers   *json.Decoder
	stop      func()
	last      usage // last answer
}

// start returns when the controller is up. It calls fail if the controller ends before stop is called.
func (c contender) start(o order, fail context.CancelCauseFunc) (*process, error) {
	command := exec.Command(os.Args[0]) //nolint:noctx,gosec // it is this program, and ends with its standard input
	command.Env, command.Stderr = append(os.Environ(), childVariable+"="+c.name), os.Stderr
	in, inErr := command.StdinPipe()
	out, outErr := command.StdoutPipe()
	if err := errors.Join(inErr, outErr, command.Start()); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	p := &process{questions: json.NewEncoder(in), answers: json.NewDecoder(out), stop: func() { _ = in.Close(); <-ended }}
	go func() {
		defer close(ended)
		fail(fmt.Errorf("the controller: %w", cmp.Or(command.Wait(), errors.New("it ended before the Job did"))))
	}()
	return p, p.ask(o) //nolint:gocritic // it is the same p
}

// ask sends an order, or the name of the file for a CPU profile that starts now, which may be "".
func (p *process) ask(question any) (err error) {
	if err = p.questions.Encode(question); err == nil {
		err = p.answers.Decode(&p.last) //nolint:musttag // only this program reads it
	}
	if err != nil {
		p.stop() // so that fail gets a cause
	}
	return err
}

// serveChild runs such a process, and exits. In any other process it does nothing.
func serveChild(known ...contender) {
	for _, c := range known {
		if c.name == os.Getenv(childVariable) {
			if err := c.serve(os.Stdin, os.Stdout); err != nil {
				log.Fatalln("benchcontroller:", err)
			}
			os.Exit(0)
		}
	}
}

// serve runs the contender as ordered, until there are no more questions.
func (c contender) serve(in io.Reader, out io.Writer) error {
	defer pprof.StopCPUProfile()
	var o order
	questions, answers, calls := json.NewDecoder(in), json.NewEncoder(out), &meter{}
	if err := questions.Decode(&o); err != nil { //nolint:musttag // only this program writes it
		return err
	}
	config := &rest.Config{Host: o.Host, TLSClientConfig: o.TLS, QPS: o.QPS, Burst: burst}
	config.ContentType = runtime.ContentTypeProtobuf // like kube-controller-manager
	config.Wrap(calls.wrap)
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- c.run(context.Background(), config, o.Namespace, func() { close(up) }) }()
	go func() {
		<-up
		for profile := ""; ; {
			used, err := calls.usage(profile)
			if err := errors.Join(err, answers.Encode(used)); err != nil || questions.Decode(&profile) != nil { //nolint:musttag // see ask
				ended <- err
				return
			}
		}
	}()
	return <-ended
}

// usage returns the resource usage of this process.
func (m *meter) usage(profile string) (usage, error) {
	if profile != "" {
		file, err := os.Create(profile) // it stays open until the process ends
		if err := errors.Join(err, pprof.StartCPUProfile(file)); err != nil {
			return usage{}, err
		}
	}
	memory := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(memory)
	var spent syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &spent)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.CPU = time.Duration(spent.Utime.Nano() + spent.Stime.Nano())
	m.used.Heap, m.used.Resident = memory[0].Value.Uint64(), memory[1].Value.Uint64()-memory[2].Value.Uint64()
	return m.used, err
}
