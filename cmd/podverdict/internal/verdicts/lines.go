package verdicts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
)

// lineWriter writes each verdict as a JSON object on its own line. It encodes batches in parallel while later Pods are judged.
type lineWriter struct {
	out     io.Writer
	err     error
	items   []Item        // next batch to encode
	encoded []chan *lines // encoded batches, in order
}

type lines struct {
	text bytes.Buffer
	err  error
}

// linesAtOnce is the number of verdicts in a batch.
const linesAtOnce = 128

func (w *lineWriter) add(item Item) {
	if w.items = append(w.items, item); len(w.items) == linesAtOnce {
		w.encode(runtime.GOMAXPROCS(0))
	}
}
func (w *lineWriter) endJob(JobItem) error { return w.err }
func (w *lineWriter) end(tally) error {
	w.encode(0)
	return w.err
}

// encode starts encoding the current batch, then writes finished batches until at most waiting batches remain.
func (w *lineWriter) encode(waiting int) {
	items, encoded := w.items, make(chan *lines, 1)
	w.items, w.encoded = nil, append(w.encoded, encoded)
	go func() {
		var all lines
		for _, item := range items {
			all.err = errors.Join(all.err, writeLine(&all.text, item))
		}
		encoded <- &all
	}()
	for len(w.encoded) > waiting {
		all := <-w.encoded[0]
		if w.encoded = w.encoded[1:]; w.err == nil {
			_, err := all.text.WriteTo(w.out)
			w.err = errors.Join(all.err, cli.StdoutError(err))
		}
	}
}

// writeLine writes a verdict as a JSON object on one line.
func writeLine(out io.Writer, item Item) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(event{print.APIVersion, "Verdict", item})
}

// jsonListWriter streams a list as JSON without keeping the verdicts in memory.
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

// element writes an array element.
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
