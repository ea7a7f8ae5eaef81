package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ParseError says where in the vectors something is wrong.
type ParseError struct {
	File string // below vectors/
	Line int    // from 1; 0 when the whole file is meant
	Err  error
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *ParseError) Unwrap() error { return e.Err }

// ErrNoneSelected is about a run that leaves out all vectors.
var ErrNoneSelected = errors.New("no vector is selected")

var (
	errNoVectors    = errors.New("no vectors")
	errNoEngine     = errors.New("no engine")
	errNoJudge      = errors.New("no judge")
	errNoSentence   = errors.New("the first line must be the sentence that the vector proves")
	errNoRules      = errors.New(`section rules.yaml is missing; a Job without a policy is "#policy: nil"`)
	errNilPolicy    = errors.New(`"#policy: nil" excludes section rules.yaml`)
	errNoVerdict    = errors.New("section verdict.yaml is missing")
	errUnusedFile   = errors.New("unused file; vectors are <topic>/<reason>.txtar in lower-case-with-dashes")
	errNoChange     = errors.New("changes nothing")
	errNothingThere = errors.New("removes what is not there")
)

var (
	errNoErrors   = errors.New("section errors.yaml is missing; what is accepted has []")
	errNoFindings = errors.New("section findings.yaml is missing; what breaks no guardrail has []")
	errUnusedJob  = errors.New("unused file; vectors are constraints/<topic>/<reason>.txtar and guardrails/<topic>/<reason>.txtar in lower-case-with-dashes")
	errProves     = errors.New(`finds nothing and has no header "#silent", so that it proves nothing`)
	errNoSettings = errors.New("section settings.yaml is empty")
)

func errSilent(id string) error { return fmt.Errorf("%s is silent and found", id) }

func errFinding(i int, err error) error { return fmt.Errorf("finding %d: %w", i, err) }

func errFindingValue(field, value string) error {
	return fmt.Errorf("field %q cannot be %q", field, value)
}

func errMessage(message, want string) error {
	return fmt.Errorf("msg %q is none of its field and detail: want %s", message, want)
}

func errRepeat(value any) error {
	return fmt.Errorf("%v is repeated, but is neither a text nor a list", value)
}

func errUnknownHeader(key string) error { return fmt.Errorf("unknown header %q", "#"+key) }

func errNoColon(line string) error { return fmt.Errorf("%q is not \"key: value\"", line) }

func errTwice(what string) error { return fmt.Errorf("%s appears twice", what) }

func errMissingHeader(key string) error { return fmt.Errorf("header %q is missing", "#"+key) }

func errEmptyHeader(key string) error { return fmt.Errorf("header %q is empty", "#"+key) }

func errHeaderValue(key, value string) error {
	return fmt.Errorf("header %q cannot be %q", "#"+key, value)
}

func errUnknownFeature(name string) error {
	return fmt.Errorf("unknown feature %q; known are %s", name, joined(Features()))
}

func errUnknownSection(name string, known []string) error {
	return fmt.Errorf("unknown section %q; known are %s", name, strings.Join(known, ", "))
}

func errText(line string) error { return fmt.Errorf("text after the headers: %q", line) }

func errPath(path string) error {
	return fmt.Errorf("%q is not a path like status.containerStatuses[0].name", path)
}

func errIndex(index, length int) error {
	return fmt.Errorf("index %d, but there are %d elements", index, length)
}

func errNotAnObject(key string) error { return fmt.Errorf("cannot set %q in what is no object", key) }

func errNotAList(index int) error { return fmt.Errorf("cannot set [%d] in what is no list", index) }

func errRequired(field string) error { return fmt.Errorf("field %q is required", field) }

func errNotApplicable(field, because string) error {
	return fmt.Errorf("field %q does not apply: %s", field, because)
}

func errNull(field string) error { return fmt.Errorf("field %q is null, not absent", field) }

func errUnknownAction(action string) error { return fmt.Errorf("unknown action %q", action) }

func errSameSentence(file string) error { return fmt.Errorf("the sentence is that of %s", file) }

func errSameContent(file string) error { return fmt.Errorf("asks the same question as %s", file) }

func errUnknownEngine(name string) error {
	return fmt.Errorf("unknown engine %q; known are %s", name, joined(knownEngines()))
}

func errExpectedUnknown(name string) error {
	return fmt.Errorf("expected failure %q is no vector", name)
}

func errPanic(what any) error { return fmt.Errorf("panic: %v", what) }

var (
	errNoValidate = errors.New(`op "validate" is not answered here: it needs the Rego bundles`)
	errNoJob      = errors.New("job is required")
)

func errUnknownOp(op string) error {
	if op == "" {
		return errors.New("op is required: verdict or validate")
	}
	return fmt.Errorf("unknown op %q: want verdict or validate", op)
}

func errJob(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

func errLongJob(name string, longest int) error {
	return fmt.Errorf("%s: longer than %d bytes", name, longest)
}

func errNotAJob(name, apiVersion, kind string) error {
	return fmt.Errorf("%s: is a %s %s, not a batch/v1 Job", name, apiVersion, kind)
}

func errLongLine(longest int) error {
	return fmt.Errorf("the line is longer than %d bytes", longest)
}

var (
	errNoCommand = errors.New("no command")
	errClosed    = errors.New("engine: closed")
	errNoAnswer  = errors.New("engine: answered neither a verdict nor an error")

	errExitCodeZero = errors.New("exitCode is 0, which no rule matches")
)

func errStart(command string, err error) error {
	return fmt.Errorf("engine %q does not start: %w", command, err)
}

func errBadVerdict(verdict []byte, err error) error {
	return fmt.Errorf("engine: answered what is no verdict: %.200q: %w", verdict, err)
}

func errAnswer(text string) error { return fmt.Errorf("engine: %s", text) }

func errTimeout(d time.Duration) error { return fmt.Errorf("engine: no answer within %v", d) }

// errEnded is about a child that ended, however it did; err is nil for exit code 0.
func errEnded(err error, stderr string) error {
	text := "engine: ended"
	if stderr != "" {
		text += ": " + stderr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return errors.New(text)
}

func errGarbage(line []byte, err error) error {
	return fmt.Errorf("engine: answered what is no response: %.200q: %w", line, err)
}

func errForeignID(line []byte) error {
	return fmt.Errorf("engine: answered an id that was not asked: %.200q", line)
}

func joined[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
