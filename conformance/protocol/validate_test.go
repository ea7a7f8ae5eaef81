package protocol

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/podverdict/podverdict/conformance"
)

// naming returns field errors that identify the given Jobs.
func naming(_ context.Context, job, oldJob *batchv1.Job) ([]FieldError, error) {
	switch job.Name {
	case "panic":
		panic("at the disco") //nolint:forbidigo // what is tested
	case "error":
		return nil, errors.New("no\nidea")
	case "good":
		return nil, nil
	}
	errs := []FieldError{{Field: job.Kind + "." + job.Name, Type: "FieldValueInvalid", Detail: "\"new\" \xff"}}
	if oldJob != nil {
		errs = append(errs, FieldError{Field: oldJob.Kind + "." + oldJob.Name, Type: "FieldValueRequired"})
	}
	return errs, nil
}

func TestServeValidate(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"created", `{"id":1,"op":"validate","job":{"metadata":{"name":"a"}}}`, `{"id":1,"errors":[{"field":"Job.a","type":"FieldValueInvalid","detail":"\"new\" ` + "\uFFFD" + `"}]}`},
		{"updated", `{"oldJob":{"metadata":{"name":"b"},"apiVersion":"batch/v1","kind":"Job"},"job":{"metadata":{"name":"a"}},"op":"validate","id":"1"}`, `{"id":"1","errors":[{"field":"Job.a","type":"FieldValueInvalid","detail":"\"new\" ` + "\uFFFD" + `"},{"field":"Job.b","type":"FieldValueRequired","detail":""}]}`},
		{"null oldJob", `{"op":"validate","job":{"metadata":{"name":"good"}},"oldJob":null,"pod":{}}`, `{"errors":[]}`},
		{"no job", `{"id":"1","op":"validate"}`, `{"id":"1","error":"job is required"}`},
		{"null job", `{"op":"validate","job":null,"oldJob":{}}`, `{"error":"job is required"}`},
		{"job is no object", `{"op":"validate","job":[]}`, `{"error":"job: json: cannot unmarshal array into Go value of type v1.Job"}`},
		{"misspelt field", `{"op":"validate","job":{"spec":{"podFailurePolcy":{}}}}`, `{"error":"job: unknown field \"spec.podFailurePolcy\""}`},
		{"misspelt field of the old one", `{"op":"validate","job":{},"oldJob":{"spce":{}}}`, `{"error":"oldJob: unknown field \"spce\""}`},
		{"wrong type", `{"op":"validate","job":{"spec":{"completions":"1"}}}`, `{"error":"job: json: cannot unmarshal string into Go struct field JobSpec.spec.completions of type int32"}`},
		{"another kind", `{"op":"validate","job":{"apiVersion":"batch/v1","kind":"CronJob"}}`, `{"error":"job: is a batch/v1 CronJob, not a batch/v1 Job"}`},
		{"too long", `{"op":"validate","job":{"metadata":{"name":"` + strings.Repeat("x", maxJob) + `"}}}`, `{"error":"job: longer than 4194304 bytes"}`},
		{"field twice", `{"op":"validate","job":{"spec":{},"spec":{}}}`, `{"error":"not JSON: duplicate object member name \"spec\" within \"/job\""}`},
		{"panic", `{"op":"validate","job":{"metadata":{"name":"panic"}}}`, `{"error":"panic: at the disco"}`},
		{"error", `{"op":"validate","job":{"metadata":{"name":"error"}}}`, `{"error":"no\nidea"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The valid lines show that processing continues, and that no state of the last line
			// remains.
			good := `{"op":"validate","job":{"metadata":{"name":"good"}}}` + "\n"
			var out bytes.Buffer
			s := Server{Verdict: conformance.Go, Validate: naming}
			if err := s.Serve(t.Context(), strings.NewReader(good+test.line+"\n"+good), &out); err != nil {
				t.Fatal(err)
			}
			want := "{\"errors\":[]}\n" + test.want + "\n{\"errors\":[]}\n"
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
