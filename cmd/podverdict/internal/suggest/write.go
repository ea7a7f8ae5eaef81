package suggest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/report"
	"github.com/podverdict/podverdict/internal/evidence"
)

// suggestionWriter writes YAML with comments.
type suggestionWriter struct {
	out io.Writer
	err error
}

// writeSuggestion writes the policy with its evidence.
func writeSuggestion(out io.Writer, s *evidence.Suggestion) error {
	w := &suggestionWriter{out: out}
	jobs := print.Plural(int(s.Jobs), "Job")
	switch {
	case len(s.Rules) == 0:
		w.comment("", "Nothing to suggest from "+jobs+".")
	case s.Policy != nil:
		w.comment("", "Suggested from "+jobs+". Once applied, the controller reports what it would do. With mode: Enforce, "+
			"it takes effect in Jobs that podverdict's controller runs.")
		w.comment("", "Try it: podverdict report FILE... --policy THIS")
		w.print(fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec:\n", s.Policy.APIVersion, s.Policy.Kind, s.Policy.Name))
		w.rules(s)
		w.print("---\n")
		w.object("", s.Binding)
	default:
		w.comment("", "Suggested from "+jobs+", for the spec of Jobs like these.")
		w.comment("", "Try it: podverdict eval FILE... --policy THIS")
		w.print("podFailurePolicy:\n")
		w.rules(s)
	}
	if len(s.Rules) > 0 {
		w.comment("", "All in all: "+effectText(&s.Effect))
	}
	for i := range s.TooFew {
		r := &s.TooFew[i]
		w.comment("", fmt.Sprintf("Too few for %s on %s: %s for it, none against it, %d more needed.", r.Action, r, print.Plural(int(r.For), "Job"), r.Need))
	}
	return w.err
}

// rules writes the rules that all Jobs have already, and the suggested rules with their evidence.
func (w *suggestionWriter) rules(s *evidence.Suggestion) {
	w.print("  rules:\n")
	for i := range s.Own {
		if i == 0 {
			w.comment("  ", "What all these Jobs have already.")
		}
		w.object("  ", s.PodFailurePolicy.Rules[i:i+1])
	}
	for i, batch := range s.Batches() {
		w.evidence(batch, len(s.Rules) > 1)
		w.lines("  ", s.YAML(batch, i))
	}
}

// evidence writes the evidence for a batch of suggestions that form one rule of the policy. If alone is set, it adds the effect of each
// suggestion by itself.
func (w *suggestionWriter) evidence(batch []evidence.SuggestedRule, alone bool) {
	for i := range batch {
		r := &batch[i]
		named := strings.Join(r.Named, ", ")
		if more := r.Jobs - int64(len(r.Named)); more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		text := r.String()
		w.comment("  ", fmt.Sprintf("%s%s: %s in %s (%s). %s", strings.ToUpper(text[:1]), text[1:],
			print.Plural(int(r.Pods), "Pod"), print.Plural(int(r.Jobs), "Job"), named, speaks(r)))
		if alone && r.Effect.Jobs+r.Effect.Indexes+r.Effect.Ignored > 0 {
			w.comment("  ", "Alone: "+effectText(&r.Effect))
		}
	}
}

// first explains why a rule on disruptions is the first rule.
const first = "It comes first, because the first rule that matches decides, and a disrupted Pod may have any exit code."

// speaks describes the evidence for a rule.
func speaks(r *evidence.SuggestedRule) string {
	switch {
	case r.First:
		return first
	case r.About == evidence.OnDisruption:
		return fmt.Sprintf("%d of these Jobs failed, most of all because of them. "+first, r.For)
	case r.About == evidence.OnMemory:
		return fmt.Sprintf("%d Jobs ran out of it again when they tried again with as much. The maximum is four times that.", r.For)
	case r.About == evidence.OnNode:
		return strings.ToUpper(r.Text[:1]) + r.Text[1:] + "."
	}
	if r.Effect.Lost > 0 {
		return fmt.Sprintf("%d Jobs tried again in vain, but %d that completed WOULD HAVE FAILED.", r.For, r.Effect.Lost)
	}
	return fmt.Sprintf("%d Jobs tried again in vain, and none completed.", r.For)
}

// effectText describes the outcomes that a set of rules would have changed.
func effectText(e *evidence.Effect) string {
	var parts []string
	say := func(n int64, what, then string) {
		if n > 0 {
			parts = append(parts, print.Plural(int(n), what)+" would "+then)
		}
	}
	lost := "none of which completed"
	if e.Lost > 0 {
		lost = fmt.Sprintf("of which %d COMPLETED", e.Lost)
	}
	say(e.Jobs, "Job", "have failed at once, "+lost)
	say(e.Indexes, "index", "have failed at once, "+lost)
	say(e.Ignored, "failure", "not have counted")
	say(e.Saved, "attempt", "not have begun: "+cmp.Or(report.Hours(evidence.HoursOf(e.Reserved)), "nothing reserved"))
	return cmp.Or(strings.Join(parts, "; "), "what retries would have become, the past does not tell") + "."
}

// object writes a value as YAML.
func (w *suggestionWriter) object(indent string, value any) {
	text, err := yaml.Marshal(value)
	w.err = errors.Join(w.err, err)
	w.lines(indent, string(text))
}

func (w *suggestionWriter) lines(indent, text string) {
	for line := range strings.Lines(text) {
		w.print(indent + line)
	}
}

// comment writes a text as comment lines of at most 80 columns.
func (w *suggestionWriter) comment(indent, text string) {
	line := indent + "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 80 && len(line) > len(indent)+1 {
			w.print(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	w.print(line + "\n")
}

func (w *suggestionWriter) print(text string) {
	_, err := io.WriteString(w.out, text)
	w.err = errors.Join(w.err, err)
}
