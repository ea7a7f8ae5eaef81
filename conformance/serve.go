package conformance

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/podverdict/podverdict/runtime"
)

// The operations of the protocol.
const (
	opVerdict  = "verdict"
	opValidate = "validate"
)

// Serve speaks the engine protocol: it reads one JSON request a line and answers
// every line with one JSON response a line, in order, until the end of input.
//
//	{"id":"1","op":"verdict","policy":{"rules":[...]},"pod":{...}}
//	{"id":"1","verdict":{...}}
//
// A request may have "kubernetes", the minor version whose behaviour is asked for. The
// policy is taken as stored (see Engine) and absent when the Job has none; a field
// that policies do not have is an error. The id is a string or a number and comes
// back as it was written.
//
// A line that is no such request is answered {"id":...,"error":"..."}, with the id
// when it can be read, and so are lines longer than MaxLine; the stream goes on.
// Answers are held back only while there is more input at hand. Memory is bounded by
// the longest line, some ten times its size, whatever the number of lines.
//
// Serve returns nil at the end of input, and else the error of reading, of writing or
// of ctx. It cannot stop while it waits for input: close the input for that.
func Serve(ctx context.Context, in io.Reader, out io.Writer, engine Engine) error {
	w := bufio.NewWriterSize(out, bufferSize)
	s := server{engine: engine, decoder: newDecoder()}
	lines := newLineReader(flushReader{in, w}, MaxLine)
	for ctx.Err() == nil {
		line, tooLong, err := lines.next()
		if err != nil {
			return endOfInput(err, w.Flush())
		}
		if _, err := w.Write(s.answer(ctx, line, tooLong)); err != nil {
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

type server struct {
	engine   Engine
	decoder  *decoder
	response []byte
}

// answer is the response to a line, with its end. It is valid until the next call.
func (s *server) answer(ctx context.Context, line []byte, tooLong bool) []byte {
	if tooLong {
		return s.failure(readableID(line), errLongLine(MaxLine))
	}
	r, err := s.decoder.decode(line)
	if err != nil {
		return s.failure(r.id, err)
	}
	switch r.op {
	case opVerdict:
		v, err := s.judge(ctx, Request{Kubernetes: r.kubernetes, Policy: r.policy, Pod: r.pod})
		if err != nil {
			return s.failure(r.id, err)
		}
		return s.verdict(r.id, v)
	case opValidate:
		return s.failure(r.id, errNoValidate)
	default:
		return s.failure(r.id, errUnknownOp(r.op))
	}
}

// judge asks the engine, which may panic without ending the stream.
func (s *server) judge(ctx context.Context, r Request) (v runtime.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errPanic(p)
		}
	}()
	return s.engine(ctx, r)
}

func (s *server) verdict(id []byte, v runtime.Verdict) []byte {
	data, err := v.MarshalJSON()
	if err != nil {
		return s.failure(id, err)
	}
	s.open(id)
	s.response = append(s.response, `"verdict":`...)
	s.response = append(s.response, data...)
	s.response = append(s.response, '}', '\n')
	return s.response
}

func (s *server) failure(id []byte, err error) []byte {
	s.open(id)
	s.response = append(s.response, `"error":`...)
	// What is no UTF-8 in the message is replaced; the error says no more than that.
	s.response, _ = jsontext.AppendQuote(s.response, strings.TrimSpace(err.Error()))
	s.response = append(s.response, '}', '\n')
	return s.response
}

// open begins a response.
func (s *server) open(id []byte) {
	if cap(s.response) > 16*bufferSize {
		s.response = nil // one huge answer does not make all later ones cost its memory
	}
	s.response = append(s.response[:0], '{')
	if id != nil {
		s.response = append(s.response, `"id":`...)
		s.response = append(s.response, id...)
		s.response = append(s.response, ',')
	}
}

// readableID finds the id of a line that is no request, as far as it is JSON: a
// string or number.
func readableID(line []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return nil
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return nil
		}
		if name.String() != "id" {
			if d.SkipValue() != nil {
				return nil
			}
			continue
		}
		id, err := d.ReadValue()
		if err != nil || id.Kind() != '"' && id.Kind() != '0' || !id.IsValid() {
			return nil
		}
		return bytes.Clone(id)
	}
}
