package catalogue

import (
	_ "embed" // the list of rules
	"encoding/json"
	"slices"
	"sync"
)

// Group is the kind of check that a rule belongs to.
type Group string

const (
	// Constraints are violations that the API server rejects, or accepts with a warning.
	Constraints Group = "constraints"
	// Guardrails are further rules for platform teams.
	Guardrails Group = "guardrails"
	// Rules are checks for failure rules that cannot match, or that have a different effect than they seem to.
	Rules Group = "rules"
	// Input is the group of checks of documents, and of comments in them that ignore findings.
	Input Group = "input"
)

// Groups lists all groups in the order of the documentation.
var Groups = []Group{Constraints, Guardrails, Rules, Input}

// Rule is a check with a description.
type Rule struct {
	// ID describes the mistake, such as exit-codes-unsorted. It never changes.
	ID string `json:"id"`
	// Aliases are other ids of the rule, such as F12. The id in the Rego bundle comes first.
	Aliases []string `json:"aliases,omitempty"`
	Group   Group    `json:"group"`
	// Severity is error or warning, before any configuration.
	Severity string `json:"severity"`
	// Title is a sentence that is true for input without the mistake.
	Title string `json:"title"`
	// Field is the path that the rule checks, or "" if the path varies.
	Field string `json:"field,omitempty"`
	// Source is the KEP, the API or the documentation page that the rule follows.
	Source string `json:"source"`
	// Why describes the consequences of the mistake, and Fix how to correct it.
	Why string `json:"why"`
	Fix string `json:"fix"`
	// Bad violates the rule and Good satisfies it. They are parts of a Job, a condition of a custom policy (when: ...), or
	// whole documents. For rules about updates, Old is the Job that Bad and Good replace.
	Old  string `json:"old,omitempty"`
	Bad  string `json:"bad,omitempty"`
	Good string `json:"good,omitempty"`
	// Parameters can be set in .podverdict.yaml, or in the data of the guardrails.
	Parameters []Parameter `json:"parameters,omitempty"`
}

// Parameter is a number, a name or a list that a rule compares with.
type Parameter struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Default Value  `json:"default"`
}

// Value is encoded JSON.
type Value string

// MarshalJSON returns the JSON unchanged.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(v), nil }

// UnmarshalJSON stores the JSON unchanged.
func (v *Value) UnmarshalJSON(text []byte) error {
	*v = Value(text)
	return nil
}

//go:embed rules.json
var list []byte

// All returns the rules in the order of the documentation. The caller must not modify them.
var All = sync.OnceValue(func() (rules []Rule) {
	if err := json.Unmarshal(list, &rules); err != nil {
		panic("rules.json: " + err.Error()) //nolint:forbidigo // it is a part of the program, and every test reads it
	}
	return rules
})

// byID maps ids and aliases to indexes in All.
var byID = sync.OnceValue(func() map[string]int {
	rules := All()
	index := make(map[string]int, 2*len(rules))
	for i, r := range rules {
		for _, id := range append(slices.Clone(r.Aliases), r.ID) {
			index[id] = i
		}
	}
	return index
})

// Find returns the rule with an id or alias.
func Find(id string) (Rule, bool) {
	i, ok := byID()[id]
	if !ok {
		return Rule{}, false
	}
	return All()[i], true
}

// IDs returns the ids of all rules, without aliases.
func IDs() []string {
	ids := make([]string, len(All()))
	for i, r := range All() {
		ids[i] = r.ID
	}
	return ids
}

// Names returns the names of all groups, then the ids of all rules.
func Names() []string {
	var names []string
	for _, g := range Groups {
		names = append(names, string(g))
	}
	return append(names, IDs()...)
}

// Named returns the ids of the rules that a name refers to: a group, an id or an alias. For any other name it returns nil.
func Named(name string) []string {
	if rule, ok := Find(name); ok {
		return []string{rule.ID}
	}
	var ids []string
	for _, r := range All() {
		if string(r.Group) == name {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// site is the address at which releases publish the documentation, with a page for each rule.
const site = "https://podverdict.github.io/podverdict"

// Address returns the URL of the rule's page.
func (r Rule) Address() string { return site + "/rules/" + r.ID }
