package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/podverdict/podverdict/runtime"
)

// text returns the text of the drafted suite.
func (d *drafting) text() []byte {
	var out bytes.Buffer
	document := &d.suite.document
	fmt.Fprintf(&out, "# Drafted by podverdict test init: it says what the policies do, not what they should do. Read it.\n")
	fmt.Fprintf(&out, "apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n", apiVersion, kind, flow(d.suite.Name))
	if len(document.Policies) > 0 {
		fmt.Fprintf(&out, "policies: %s\n", flow(document.Policies))
	}
	if document.IgnoreBindings {
		fmt.Fprintf(&out, "ignoreBindings: true # no Job is given that they select\n")
	}
	if document.Job != "" {
		fmt.Fprintf(&out, "job: %s\n", flow(document.Job))
	}
	if len(document.Pods) > 0 {
		fmt.Fprintf(&out, "pods: %s\n", flow(document.Pods))
	}
	fmt.Fprintf(&out, "coverage: {threshold: %d}\ncases:\n", d.coverage.Percent())
	for i := range d.chosen {
		d.chosen[i].write(&out, len(d.suite.rulebook.policies) > 1)
	}
	if missing := d.coverage.Missing(); len(missing) > 0 {
		out.WriteString("# No Pod was found to try this. Add cases, and raise the threshold:\n")
		for _, m := range missing {
			fmt.Fprintf(&out, "# - %s\n", m)
		}
	}
	return out.Bytes()
}

func (c *candidate) write(out *bytes.Buffer, policies bool) {
	w := &c.written
	fmt.Fprintf(out, "- name: %s\n", flow(w.Name))
	line := func(name, value string) { fmt.Fprintf(out, "  %s: %s\n", name, value) }
	if w.From != "" {
		line("from", flow(w.From))
	}
	if w.ExitCode != nil {
		line("exitCode", strconv.Itoa(int(*w.ExitCode)))
	}
	if len(w.Containers) > 0 {
		line("containers", flow(w.Containers))
	}
	if c.pod != nil {
		line("pod", flow(c.pod))
	}
	if w.Attempt != nil {
		line("attempt", strconv.FormatInt(*w.Attempt, 10))
	}
	if w.PendingFor != nil {
		line("pendingFor", brief(w.PendingFor.Duration))
	}
	if len(w.Matches) > 0 {
		line("matches", flow(w.Matches))
	}
	line("expect", "{"+strings.Join(c.expected(policies), ", ")+"}")
}

// expected returns the fields of the expectation, in the order of the reference.
func (c *candidate) expected(policies bool) []string {
	v := &c.decision.verdict
	if !v.Matched {
		return []string{"matched: false"}
	}
	all := []string{"action: " + string(v.Action)}
	add := func(name string, value any, when bool) {
		if when {
			all = append(all, name+": "+flow(value))
		}
	}
	add("rule", v.RuleName, v.Policy != "")
	add("rule", v.Rule, v.Policy == "")
	add("policy", v.Policy, v.Policy != "" && policies)
	add("reason", v.Reason, v.Reason != "")
	add("usedUp", true, v.IsUsedUp())
	if v.RetryDelay != nil {
		all = append(all, "retryDelay: "+brief(*v.RetryDelay))
	}
	add("container", v.Container, v.ExitCode != 0)
	add("exitCode", v.ExitCode, v.ExitCode != 0)
	add("condition", string(v.Condition), v.Condition != "")
	add("message", v.Message(), c.saysMore(v))
	add("deleted", true, c.decision.deleted)
	return all
}

// saysMore reports whether the message comes from a messageExpression.
func (c *candidate) saysMore(v *runtime.Verdict) bool {
	for _, f := range c.result.trial.judge.order {
		if f.policy.Name == v.Policy {
			return f.policy.Rules[v.Rule].MessageExpression != ""
		}
	}
	return false
}

// flow writes a value as YAML on one line, with quotes only where they are needed.
func flow(value any) string {
	text, err := json.Marshal(value)
	var tree yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &tree) // JSON is YAML with quotes
	}
	if err == nil {
		err = unquote(&tree)
	}
	if err == nil {
		text, err = yaml.Marshal(&tree)
	}
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(string(text))
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
