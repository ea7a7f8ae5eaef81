package jobset

import (
	"regexp/syntax"
	"strings"
)

// A shape is a text with holes.
type shape []string

const (
	// hole is an unknown part of a shape: any number of holeLetters. No text contains a NUL.
	hole        = "\x00"
	holeLetters = "abcdefghijklmnopqrstuvwxyz0123456789-."
)

// mayMatch reports whether a regular expression may match some text of a shape; a false result is certain. Like package regexp,
// it follows all paths through the expression's program simultaneously. In a hole it follows the paths of every letter.
func mayMatch(pattern string, text shape) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return false
	}
	m := matcher{prog}
	now := states{}
	m.follow(m.start(), anywhere|syntax.EmptyBeginText|syntax.EmptyBeginLine, now)
	for _, part := range text {
		if part == hole {
			for before := -1; before < len(now); {
				before = len(now)
				m.step(now, holeLetters, now)
			}
			continue
		}
		for _, letter := range part {
			next := states{}
			m.step(now, string(letter), next)
			now = next
		}
	}
	end := states{}
	for state := range now {
		m.follow(state, anywhere|syntax.EmptyEndText|syntax.EmptyEndLine, end)
	}
	return end[matched]
}

// anywhere holds the conditions assumed true at every position, because the letters of holes are unknown.
const anywhere = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary

// states is the set of instructions that a matcher is at. Once reached, matched stays in the set.
type states map[uint32]bool

const matched = ^uint32(0)

type matcher struct{ prog *syntax.Prog }

func (m matcher) start() uint32 { return uint32(m.prog.Start) } //nolint:gosec // an instruction has a number of 32 bits

// follow adds the states that are reachable without a letter.
func (m matcher) follow(state uint32, given syntax.EmptyOp, into states) {
	if into[state] {
		return
	}
	into[state] = true
	if state == matched {
		return
	}
	switch in := &m.prog.Inst[state]; in.Op { //nolint:exhaustive // the others ask for a letter
	case syntax.InstMatch:
		into[matched] = true
	case syntax.InstAlt, syntax.InstAltMatch:
		m.follow(in.Out, given, into)
		m.follow(in.Arg, given, into)
	case syntax.InstCapture, syntax.InstNop:
		m.follow(in.Out, given, into)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^given == 0 { //nolint:gosec // that is what it is
			m.follow(in.Out, given, into)
		}
	}
}

// step adds the states that are reachable with one of the given letters. A match may begin at any position.
func (m matcher) step(from states, letters string, into states) {
	m.follow(m.start(), anywhere, into)
	for state := range from {
		if state == matched {
			into[matched] = true
			continue
		}
		if in := &m.prog.Inst[state]; asksForLetter(in.Op) && strings.ContainsFunc(letters, in.MatchRune) {
			m.follow(in.Out, anywhere, into)
		}
	}
}

func asksForLetter(op syntax.InstOp) bool {
	return op == syntax.InstRune || op == syntax.InstRune1 || op == syntax.InstRuneAny || op == syntax.InstRuneAnyNotNL
}
