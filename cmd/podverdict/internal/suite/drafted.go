package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podverdict/podverdict/runtime"
)

// draftedSuite is a suite as it is written, with cases that have deltas as trees.
type draftedSuite struct {
	document

	Cases []draftedCase `json:"cases"`
}

type draftedCase struct {
	caseDocument

	Pod    map[string]any `json:"pod,omitempty"`
	Expect expectation    `json:"expect"`
}

func (d *drafting) text() ([]byte, error) {
	drafted := draftedSuite{document: d.suite.document}
	drafted.APIVersion, drafted.Kind, drafted.Metadata.Name = apiVersion, kind, d.suite.Name
	drafted.Coverage.Threshold = new(d.coverage.Percent())
	for i := range d.chosen {
		c := &d.chosen[i]
		drafted.Cases = append(drafted.Cases, draftedCase{c.written, c.pod, c.expected(len(d.suite.rulebook.policies) > 1)})
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Drafted by podverdict test init: it says what the policies do, not what they should do. Read it.\n")
	if drafted.IgnoreBindings {
		out.WriteString("# Bindings are ignored, because no Job is given that they select.\n")
	}
	if err := writeYAML(&out, drafted); err != nil {
		return nil, err
	}
	if missing := d.coverage.Missing(); len(missing) > 0 {
		out.WriteString("# No Pod was found to try this. Add cases, and raise the threshold:\n")
		for _, m := range missing {
			fmt.Fprintf(&out, "# - %s\n", m)
		}
	}
	return out.Bytes(), nil
}

// expected returns the expectation that the verdict fulfils.
func (c *candidate) expected(policies bool) expectation {
	v := &c.decision.verdict
	if !v.Matched {
		return expectation{Matched: new(false)}
	}
	e := expectation{
		Action: &v.Action, Rule: new(intstr.Parse(strconv.Itoa(v.Rule))), Reason: given(v.Reason), Class: given(v.Class), UsedUp: given(v.IsUsedUp()),
		ExitCode: given(v.ExitCode), Condition: given(v.Condition), Ended: given(c.decision.ended),
	}
	if v.Policy != "" {
		e.Rule = new(intstr.FromString(v.RuleName))
	}
	if v.Policy != "" && policies {
		e.Policy = &v.Policy
	}
	if v.RetryDelay != nil {
		e.RetryDelay = &metav1.Duration{Duration: *v.RetryDelay}
	}
	e.Retry = c.decision.next.expected()
	if v.ExitCode != 0 {
		e.Container = &v.Container
	}
	if c.saysMore(v) {
		e.Message = new(v.Message())
	}
	return e
}

// given returns a pointer to a value, or nil for the zero value.
func given[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// saysMore reports whether the message comes from a messageExpression.
func (c *candidate) saysMore(v *runtime.Verdict) bool {
	i := slices.IndexFunc(c.result.trial.judge.order, func(f inForce) bool { return f.policy.Name == v.Policy })
	return i >= 0 && c.result.trial.judge.order[i].policy.Rules[v.Rule].MessageExpression != ""
}

// writeYAML writes a suite with a line for each field of a case, and with quotes only where they are needed.
func writeYAML(out *bytes.Buffer, suite draftedSuite) error {
	text, err := json.Marshal(suite)
	var tree yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &tree) // JSON is YAML with quotes
	}
	if err == nil {
		err = unquote(&tree)
	}
	if err != nil {
		return err
	}
	root := tree.Content[0]
	cases := root.Content[len(root.Content)-1]
	for _, node := range append(cases.Content, root, cases) {
		node.Style = 0
	}
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	return encoder.Encode(&tree)
}

func unquote(node *yaml.Node) error {
	if node.Style == yaml.DoubleQuotedStyle {
		return node.Encode(node.Value)
	}
	for _, child := range node.Content {
		if err := unquote(child); err != nil {
			return err
		}
	}
	return nil
}
