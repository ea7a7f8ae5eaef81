package main

import (
	"flag"
	"io"
	"log/slog"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/internal/terminal"
)

// logging configures klog, which the libraries also use.
type logging struct {
	format    logFormat
	verbosity flag.Value
	all       *flag.FlagSet
}

func (l *logging) add(fs *pflag.FlagSet) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(all)
	l.format, l.verbosity, l.all = "text", all.Lookup("v").Value, all
	fs.Var(&l.format, "logging-format", "format of the log: text, json")
	fs.VarPF(goValue{l.verbosity, "int"}, "v", "v", "how much is logged, from 0 to 10")
	fs.Var(goValue{all.Lookup("vmodule").Value, "file=N,..."}, "vmodule", "another -v for some source files, in format text")
}

// start directs the log of the whole process to w, in the chosen format. It escapes control sequences, because tenants
// choose names and messages, and klog does not escape multi-line values.
func (l *logging) start(w io.Writer) error {
	w = terminal.NewWriter(w)
	if l.format == "text" {
		return l.startText(w)
	}
	level, err := strconv.Atoi(l.verbosity.String())
	if err != nil {
		return err
	}
	klog.SetSlogLogger(slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.Level(-level)})))
	return nil
}

// startText makes klog write each line once, and only to w.
func (l *logging) startText(w io.Writer) error {
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := l.all.Set(name, value); err != nil {
			return err
		}
	}
	klog.SetOutput(w)
	return nil
}

// logFormat is the value of --logging-format.
type logFormat string

func (f *logFormat) String() string { return string(*f) }

// Type returns the type that help shows for the flag.
func (*logFormat) Type() string { return "format" }

// Set parses the value.
func (f *logFormat) Set(name string) error {
	if name != "text" && name != "json" {
		return errFormat
	}
	*f = logFormat(name)
	return nil
}

// goValue is a flag of package flag with a type name for help.
type goValue struct {
	flag.Value

	kind string
}

// Type returns the type that help shows for the flag.
func (v goValue) Type() string { return v.kind }
