package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// lineWriter writes each verdict as an object on a line.
type lineWriter struct {
	out io.Writer
	err error
}

func (w *lineWriter) add(item verdictItem) {
	if w.err == nil {
		w.err = cli.StdoutError(writeLine(w.out, item))
	}
}
func (w *lineWriter) endJob(jobItem) error { return w.err }
func (w *lineWriter) end(tally) error      { return w.err }

// writeLine writes a verdict as an object on a line.
func writeLine(out io.Writer, item verdictItem) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(verdictEvent{print.APIVersion, "Verdict", item})
}

// jsonListWriter writes a list of verdicts as objectWriter does, and keeps none of them.
type jsonListWriter struct {
	out    io.Writer
	text   bytes.Buffer
	begun  bool
	failed error
}

func (w *jsonListWriter) add(item verdictItem) {
	if !w.begun {
		w.text.WriteString("{\n  \"apiVersion\": \"" + print.APIVersion + "\",\n  \"kind\": \"VerdictList\",\n  \"items\": [\n    ")
		w.begun = true
	} else {
		w.text.WriteString(",\n    ")
	}
	encoder := json.NewEncoder(&w.text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("    ", "  ")
	if err := encoder.Encode(item); err != nil && w.failed == nil {
		w.failed = err
	}
	w.text.Truncate(len(bytes.TrimRight(w.text.Bytes(), "\n")))
	if _, err := w.text.WriteTo(w.out); err != nil && w.failed == nil {
		w.failed = cli.StdoutError(err)
	}
}

func (w *jsonListWriter) endJob(jobItem) error { return w.failed }

func (w *jsonListWriter) end(total tally) error {
	if !w.begun {
		return (&objectWriter{out: w.out, format: &cli.Format{Name: "json"}, list: newVerdictList()}).end(total)
	}
	_, err := io.WriteString(w.out, "\n  ]\n}\n")
	if w.failed != nil {
		return w.failed
	}
	return cli.StdoutError(err)
}
