package kind

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Path leads from an object to the Job specs in it. It consists of field names separated by dots.
// One field may be a list, followed by [*] to select each element, as in
// "spec.replicatedJobs[*].template.spec".
type Path struct {
	text  string
	steps []pathStep
}

// pathStep is a field, or each element of a list field.
type pathStep struct {
	name string
	each bool
	// offset is the start of the name in the text, in bytes.
	offset int
}

// each follows the name of a list to select each of its elements.
const each = "[*]"

func (p Path) String() string { return p.text }

// ParsePath parses a path. The error is a *PathError.
func ParsePath(text string) (Path, error) {
	p := Path{text: text}
	offset := 0
	for part := range strings.SplitSeq(text, ".") {
		name, all := strings.CutSuffix(part, each)
		if at, err := checkName(name); err != nil {
			return Path{}, p.fault(offset+at, err)
		}
		if all && slices.ContainsFunc(p.steps, func(s pathStep) bool { return s.each }) {
			return Path{}, p.fault(offset+len(name), errors.New("only one list may be on the way"))
		}
		p.steps = append(p.steps, pathStep{name: name, each: all, offset: offset})
		offset += len(part) + len(".")
	}
	return p, nil
}

// checkName returns the position and the reason if CEL cannot select a name.
func checkName(name string) (at int, err error) {
	if name == "" {
		return 0, errNoName()
	}
	if at := strings.IndexByte(name, '['); at >= 0 {
		return at, fmt.Errorf("%s: only [*] may follow the name of a list, and a dot must follow it: it means each element", name[at:])
	}
	if at := strings.IndexFunc(name, isOdd); at >= 0 {
		return at, errNameCharacter(name[at:])
	}
	if _, ok := apiservercel.Escape(name); !ok { // the name begins with a digit
		return 0, errNameCharacter(name)
	}
	return 0, nil
}

// isOdd reports whether a character is invalid in field names that the API server exposes to CEL.
func isOdd(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '_' && r != '-' && r != '/'
}

func (p Path) fault(offset int, err error) error {
	return &PathError{Path: p.text, Offset: offset, Err: err}
}

// before returns the text up to the i-th step, without the dot.
func (p Path) before(i int) string {
	return strings.TrimSuffix(p.text[:p.steps[i].offset], ".")
}
