package protocol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// The operations of the protocol.
const (
	opVerdict  = "verdict"
	opValidate = "validate"
)

// Serve calls Server.Serve for an engine that returns only verdicts.
func Serve(ctx context.Context, in io.Reader, out io.Writer, engine conformance.Engine) error {
	return Server{Verdict: engine}.Serve(ctx, in, out)
}

// Server implements the engine protocol.
type Server struct {
	// Verdict answers the operation verdict.
	Verdict conformance.Engine
	// Validate answers the operation validate. If it is nil, that operation returns an error.
	Validate Validator
}

// Serve reads one JSON request per line and answers each line with one JSON response, in order, until the end of input.
//
//	{"id":"1","op":"verdict","policy":{"rules":[...]},"pod":{...}}
//	{"id":"1","verdict":{...}}
//	{"id":"2","op":"validate","job":{...},"oldJob":{...}}
//	{"id":"2","errors":[{"field":"spec.completions","type":"FieldValueInvalid","detail":"field is immutable"}]}
//
// A request for a verdict may have "kubernetes", the minor version whose behaviour is requested. The policy is treated as
// stored (see conformance.Engine) and absent if the Job has none; unknown fields of policies or Jobs are errors. Without an
// oldJob the job is being created. The id is a string or a number, and is returned unchanged.
//
// An invalid line, or one longer than MaxLine, gets the response {"id":...,"error":"..."}, with the id if it can be read, and
// processing continues. Responses are buffered only while more input is available.
//
// Memory use does not depend on the number of lines. Between two lines it is below 128 MiB for any policies: policies longer
// than 256 KiB, twice the API server's limit, are rejected, and the caches are limited in bytes. While a line is processed,
// its text and the decoded request take additional memory.
//
// Serve returns nil at the end of input, and otherwise the error of reading, of writing or of ctx. It does not stop while it
// waits for input; close the input to stop it.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, bufferSize)
	c := conversation{server: s}
	lines := newLineReader(flushReader{in, w}, MaxLine)
	for ctx.Err() == nil {
		line, tooLong, err := lines.next()
		if err != nil {
			return endOfInput(err, w.Flush())
		}
		if _, err := w.Write(c.answer(ctx, line, tooLong)); err != nil {
			return err
		}
	}
	return errors.Join(ctx.Err(), w.Flush())
}

func endOfInput(read, write error) error {
	if errors.Is(read, io.EOF) {
		read = nil
	}
	return errors.Join(read, write)
}

type conversation struct {
	server   Server
	reader   reader
	policies cache[*batchv1.PodFailurePolicy] // keyed by JSON
	response []byte
}

// answer returns the response to a line, with its line end. It is valid until the next call.
func (c *conversation) answer(ctx context.Context, line []byte, tooLong bool) []byte {
	if tooLong {
		return c.failure(readableID(line), errLongLine)
	}
	r, err := c.reader.read(line)
	defer c.reader.reset()
	if err != nil {
		return c.failure(r.ID, err)
	}
	switch r.Op {
	case opVerdict:
		v, err := c.judge(ctx, r)
		if err != nil {
			return c.failure(r.ID, err)
		}
		return c.verdict(r.ID, v)
	case opValidate:
		errs, err := c.validate(ctx, r)
		if err != nil {
			return c.failure(r.ID, err)
		}
		return c.errors(r.ID, errs)
	default:
		if r.Op == "" {
			return c.failure(r.ID, errors.New("op is required: verdict or validate"))
		}
		return c.failure(r.ID, fmt.Errorf("unknown op %q: want verdict or validate", r.Op))
	}
}

// judge calls the engine, and converts a panic to an error.
func (c *conversation) judge(ctx context.Context, r *wireRequest) (v runtime.Verdict, err error) {
	var policy *batchv1.PodFailurePolicy
	if r.Policy != nil {
		policy, err = c.policies.get(r.Policy, func() (*batchv1.PodFailurePolicy, error) { return decodePolicy(r.Policy) })
		if err != nil {
			return runtime.Verdict{}, err
		}
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.server.Verdict(ctx, conformance.Request{Kubernetes: r.Kubernetes, Policy: policy, Pod: c.reader.judged()})
}

func (c *conversation) verdict(id []byte, v runtime.Verdict) []byte {
	data, err := v.MarshalJSON()
	if err != nil {
		return c.failure(id, err)
	}
	c.open(id)
	c.response = append(c.response, `"verdict":`...)
	c.response = append(c.response, data...)
	c.response = append(c.response, '}', '\n')
	return c.response
}

func (c *conversation) failure(id []byte, err error) []byte {
	c.open(id)
	c.response = append(c.response, `"error":`...)
	// AppendQuote replaces invalid UTF-8, which is its only error.
	c.response, _ = jsontext.AppendQuote(c.response, strings.TrimSpace(err.Error()))
	c.response = append(c.response, '}', '\n')
	return c.response
}

// open begins a response.
func (c *conversation) open(id []byte) {
	if cap(c.response) > 16*bufferSize {
		c.response = nil // do not retain the memory of one huge response
	}
	c.response = append(c.response[:0], '{')
	if id != nil {
		c.response = append(c.response, `"id":`...)
		c.response = append(c.response, id...)
		c.response = append(c.response, ',')
	}
}
