package verdicts

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

func (w *lineWriter) add(item Item) {
	if w.err == nil {
		w.err = cli.StdoutError(writeLine(w.out, item))
	}
}
func (w *lineWriter) endJob(JobItem) error { return w.err }
func (w *lineWriter) end(tally) error      { return w.err }

// writeLine writes a verdict as an object on a line.
func writeLine(out io.Writer, item Item) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(event{print.APIVersion, "Verdict", item})
}

// jsonListWriter writes a list as JSON, and keeps none of its verdicts.
type jsonListWriter struct {
	out   io.Writer
	items int
	jobs  []JobItem
	err   error
}

func (w *jsonListWriter) add(item Item) {
	if w.items == 0 {
		w.write("{\n  \"apiVersion\": \"" + print.APIVersion + "\",\n  \"kind\": \"VerdictList\",\n  \"items\": [")
	}
	w.element(w.items, item)
	w.items++
}

func (w *jsonListWriter) endJob(job JobItem) error {
	if job.Outlook != nil {
		w.jobs = append(w.jobs, job)
	}
	return w.err
}

func (w *jsonListWriter) end(tally) error {
	if w.items == 0 {
		list := newList()
		list.Jobs = w.jobs
		return print.JSON(w.out, list)
	}
	w.write("\n  ]")
	for i, job := range w.jobs {
		if i == 0 {
			w.write(",\n  \"jobs\": [")
		}
		w.element(i, job)
	}
	if len(w.jobs) > 0 {
		w.write("\n  ]")
	}
	w.write("\n}\n")
	return w.err
}

// element writes a value of an array.
func (w *jsonListWriter) element(i int, value any) {
	if i > 0 {
		w.write(",")
	}
	w.write("\n    ")
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("    ", "  ")
	if err := encoder.Encode(value); err != nil && w.err == nil {
		w.err = err
	}
	w.write(string(bytes.TrimRight(text.Bytes(), "\n")))
}

func (w *jsonListWriter) write(text string) {
	if w.err == nil {
		_, err := io.WriteString(w.out, text)
		w.err = cli.StdoutError(err)
	}
}
