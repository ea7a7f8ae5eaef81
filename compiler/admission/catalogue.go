package admission

import (
	"embed"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/policies"
)

//go:embed rules/*
var rules embed.FS

// Catalogue is a set of rules for Jobs, written in CEL.
type Catalogue struct {
	// Name is guardrails or constraints.
	Name string
	// Rules are in file order.
	Rules []Rule

	variables []variable
}

// Rule is the CEL counterpart of a rule of the Rego bundle.
type Rule struct {
	policies.Rule
	// Settings are the rule's default settings: its parameters, whether it is enabled, and its severity.
	Settings Settings
	// Kinds are the kinds to which the rule applies. An empty list means all kinds.
	Kinds []string

	fields, value, detail, messages expression
	update                          bool
	address                         string // URL of the rule's documentation
}

// expressions returns the expressions of the rule. Missing ones are empty.
func (r Rule) expressions() []expression {
	return []expression{r.fields, r.value, r.detail, r.messages}
}

// variable is a named expression that several rules share.
type variable struct {
	name       string
	expression expression
}

// Guardrails returns optional rules for Jobs that a platform team may want in addition to the API's validation.
func Guardrails() (*Catalogue, error) {
	text, err := rules.ReadFile("rules/guardrails.json")
	if err != nil {
		return nil, err
	}
	var standards map[string]standard
	if err := unmarshal(text, &standards); err != nil {
		return nil, fmt.Errorf("rules/guardrails.json: %w", err)
	}
	return load("guardrails", "guardrails", standards)
}

// Constraints returns the API's validation rules for Jobs, for Job templates in other kinds of objects, where the API
// server does not check them.
func Constraints() (*Catalogue, error) { return load("constraints", "job", nil) }

// catalogueFile is the format of the files in rules/.
type catalogueFile struct {
	Variables []struct {
		Name       string `json:"name"`
		Expression string `json:"expression"`
	} `json:"variables"`
	Rules []ruleEntry `json:"rules"`
}

// ruleEntry is a rule of a catalogue file. The settings and the detail of guardrails come from guardrails.json instead.
type ruleEntry struct {
	ID       string         `json:"id"`
	Settings map[string]any `json:"settings"`
	Fields   string         `json:"fields"`
	Value    string         `json:"value"`
	Given    string         `json:"given"`
	Detail   string         `json:"detail"`
	Messages string         `json:"messages"`
	Only     []string       `json:"only"`
	Update   bool           `json:"update"`
}

// standard is the entry of a guardrail in guardrails.json. Tests generate the file from the bundle.
type standard struct {
	Settings map[string]any `json:"settings"`
	// Detail is a CEL string of the settings.
	Detail string `json:"detail"`
}

// load reads a catalogue. The rules' METADATA are in a folder of the bundle.
func load(name, folder string, standards map[string]standard) (*Catalogue, error) {
	described, err := policies.Rules()
	if err != nil {
		return nil, err
	}
	described = slices.DeleteFunc(described, func(r policies.Rule) bool { return r.Folder != folder })
	text, err := rules.ReadFile("rules/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	c, err := read(text, described, standards)
	if err != nil {
		return nil, fmt.Errorf("rules/%s.yaml: %w", name, err)
	}
	c.Name = name
	return c, nil
}

// unmarshal rejects unknown fields, and decodes whole numbers as int64.
func unmarshal(text []byte, into any) error {
	strict, err := json.UnmarshalStrict(text, into)
	return errors.Join(append(strict, err)...)
}

func read(text []byte, described []policies.Rule, standards map[string]standard) (*Catalogue, error) {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var file catalogueFile
	if err := unmarshal(asJSON, &file); err != nil {
		return nil, err
	}
	c := &Catalogue{}
	for _, v := range file.Variables {
		e, err := parse(v.Expression)
		if err != nil {
			return nil, fmt.Errorf("%s: expression: %w", v.Name, err)
		}
		c.variables = append(c.variables, variable{v.Name, e})
	}
	for _, entry := range file.Rules {
		if s, ok := standards[entry.ID]; ok {
			entry.Settings, entry.Detail = s.Settings, s.Detail
		}
		r, err := entry.rule(described)
		if err != nil {
			return nil, err
		}
		c.Rules = append(c.Rules, r)
	}
	return c, nil
}

func (entry ruleEntry) rule(described []policies.Rule) (Rule, error) {
	i := slices.IndexFunc(described, func(r policies.Rule) bool { return r.ID == entry.ID })
	if i < 0 {
		return Rule{}, fmt.Errorf("%s: no rule of the bundle has this id", entry.ID)
	}
	r := Rule{Rule: described[i], Kinds: entry.Only, update: entry.Update}
	if page, ok := catalogue.Find(entry.ID); ok {
		r.address = page.Address()
	}
	var err error
	if r.Settings, err = newSettings(entry.Settings); err != nil {
		return Rule{}, fmt.Errorf("%s: settings: %w", entry.ID, err)
	}
	for _, part := range []struct {
		name, text string
		into       *expression
	}{
		{"fields", entry.Fields, &r.fields},
		{"value", entry.Value, &r.value},
		{"detail", entry.wholeDetail(), &r.detail},
		{"messages", entry.Messages, &r.messages},
	} {
		if part.text == "" {
			continue
		}
		if *part.into, err = parse(part.text); err != nil {
			return Rule{}, fmt.Errorf("%s: %s: %w", entry.ID, part.name, err)
		}
	}
	if (entry.Fields == "") == (entry.Messages == "") || (entry.Fields == "") != (entry.Detail == "") {
		return Rule{}, fmt.Errorf("%s: a rule has either fields and detail, or messages", entry.ID)
	}
	return r, nil
}

// wholeDetail returns the CEL of the given value, if any, followed by that of the detail.
func (entry ruleEntry) wholeDetail() string {
	if entry.Given == "" {
		return entry.Detail
	}
	return entry.Given + " +\n    " + entry.Detail
}
