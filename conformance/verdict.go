package conformance

import (
	"bytes"
	"encoding/json"

	"github.com/podverdict/podverdict/runtime"
)

// statedVerdict is a verdict as somebody wrote it: the section verdict.yaml. Its fields
// are those of the verdict's JSON form; pointers tell absent from zero.
type statedVerdict struct {
	Terminal  *bool   `json:"terminal,omitempty"`
	Matched   *bool   `json:"matched,omitempty"`
	Action    *string `json:"action,omitempty"`
	Counted   *bool   `json:"counted,omitempty"`
	Rule      *int    `json:"rule,omitempty"`
	Container *string `json:"container,omitempty"`
	ExitCode  *int32  `json:"exitCode,omitempty"`
	Condition *string `json:"condition,omitempty"`
	Message   *string `json:"message,omitempty"`
}

// verdict reads the section verdict.yaml.
func (d *document) verdict() (runtime.Verdict, error) {
	s, ok := d.sections[verdictSection]
	if !ok || len(bytes.TrimSpace(s.data)) == 0 {
		return runtime.Verdict{}, d.errorAt(0, errNoVerdict)
	}
	var w statedVerdict
	if err := decodeYAML(s.data, &w); err != nil {
		return runtime.Verdict{}, yamlError(d.file, s.line, s.data, err)
	}
	if err := w.check(); err != nil {
		return runtime.Verdict{}, d.errorAt(s.line, err)
	}
	v, err := verdictOf(w)
	if err != nil {
		return runtime.Verdict{}, d.errorAt(s.line, err)
	}
	return v, nil
}

// verdictOf is the verdict that was stated.
func verdictOf(stated any) (v runtime.Verdict, err error) {
	data, err := json.Marshal(stated)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	return v, err
}

// check holds the verdict to the contract: which fields a verdict has follows from
// terminal, matched and what was matched.
func (w statedVerdict) check() error {
	switch {
	case w.Terminal == nil:
		return errRequired("terminal")
	case w.Matched == nil:
		return errRequired("matched")
	case w.Counted == nil:
		return errRequired("counted")
	case *w.Matched && !*w.Terminal:
		return errNotApplicable("matched", "the pod is not terminal")
	}
	if err := applies("action", w.Action != nil, *w.Terminal, "the pod is not terminal"); err != nil {
		return err
	}
	if err := applies("rule", w.Rule != nil, *w.Matched, "no rule matched"); err != nil {
		return err
	}
	if err := applies("message", w.Message != nil, *w.Matched, "no rule matched"); err != nil {
		return err
	}
	byCode := *w.Matched && w.Condition == nil
	if w.Condition != nil && !*w.Matched {
		return errNotApplicable("condition", "no rule matched")
	}
	if err := applies("container", w.Container != nil, byCode, "no exit code matched"); err != nil {
		return err
	}
	return applies("exitCode", w.ExitCode != nil, byCode, "no exit code matched")
}

// applies demands that a field is there exactly when it should be.
func applies(field string, there, should bool, because string) error {
	switch {
	case should && !there:
		return errRequired(field)
	case there && !should:
		return errNotApplicable(field, because)
	}
	return nil
}
