package policies

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/yaml"
)

// Rule is the METADATA of a rule in the bundle.
type Rule struct {
	// ID identifies the rule, such as F3 or G-TTL. ST31 identifies two rules: one on rejected, one on ignored changes.
	ID string
	// Folder is the bundle's folder with the rule: job, jobstatus or guardrails.
	Folder string
	// Title is a sentence that is true for input without the mistake; Description gives the reason.
	Title, Description string
	// KEP is the document and section that the rule follows, and Field the path that it checks.
	KEP, Field string
	// Severity is error or warning. It is empty for guardrails, whose severity is a setting.
	Severity string
	// Parameters describes the numbers and names that the rule compares with, by name.
	Parameters map[string]string
}

// Rules returns the rules of the bundle in the order of its files. It does not use the Rego compiler, so that callers need
// not link it.
func Rules() ([]Rule, error) {
	files, err := fs.Glob(FS, "*/*.rego")
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		text, err := FS.ReadFile(file)
		if err != nil {
			return nil, err
		}
		described, err := described(file, text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, described...)
	}
	return rules, nil
}

// metadata is the part of a METADATA comment that Rules reads.
type metadata struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Custom      struct {
		ID         string            `json:"id"`
		KEP        string            `json:"kep"`
		Field      string            `json:"field"`
		Severity   string            `json:"severity"`
		Parameters map[string]string `json:"parameters"`
	} `json:"custom"`
}

func described(file string, text []byte) ([]Rule, error) {
	var rules []Rule
	for _, comment := range comments(text) {
		var m metadata
		if err := yaml.Unmarshal(comment, &m); err != nil {
			return nil, fmt.Errorf("%s: metadata: %w", file, err)
		}
		if m.Custom.ID == "" {
			continue
		}
		rules = append(rules, Rule{
			ID: m.Custom.ID, Folder: path.Dir(file), Title: m.Title, Description: strings.TrimSpace(m.Description),
			KEP: m.Custom.KEP, Field: m.Custom.Field, Severity: m.Custom.Severity, Parameters: m.Custom.Parameters,
		})
	}
	return rules, nil
}

// comments returns the METADATA comments of a module as YAML.
func comments(module []byte) [][]byte {
	var all [][]byte
	open := false
	for line := range bytes.Lines(module) {
		text, isComment := bytes.CutPrefix(line, []byte("#"))
		switch {
		case bytes.Equal(bytes.TrimSpace(text), []byte("METADATA")):
			all, open = append(all, nil), true
		case !isComment:
			open = false
		case open:
			last := len(all) - 1
			all[last] = append(all[last], bytes.TrimPrefix(text, []byte(" "))...)
		}
	}
	return all
}
