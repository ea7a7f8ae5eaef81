package admission

import (
	"maps"
	"path"
	"slices"
)

// Selection is a set of rules of one catalogue with the settings that a platform team configured.
type Selection struct {
	// Rules holds all rules of the catalogue, in its order. Rules that were not selected are disabled.
	Rules []Rule

	catalogue *Catalogue
}

// Select selects rules of the guardrails and the constraints by id or by pattern, as in G-INDEX-*, and merges a
// configuration into the guardrails' settings. A pattern selects among the enabled rules; an id also enables its rule.
// Select returns one selection for each catalogue with a selected rule. The error for an invalid configuration is a
// ConfigurationError.
func Select(patterns []string, configuration Configuration) ([]*Selection, error) {
	guardrails, err := Guardrails()
	if err != nil {
		return nil, err
	}
	constraints, err := Constraints()
	if err != nil {
		return nil, err
	}
	if err := checkPatterns(patterns, guardrails, constraints); err != nil {
		return nil, err
	}
	var all []*Selection
	for _, c := range []struct {
		*Catalogue
		Configuration
	}{{guardrails, configuration}, {constraints, nil}} {
		s, err := c.Select(patterns, c.Configuration)
		if err != nil {
			return nil, err
		}
		if len(s.enabled()) > 0 {
			all = append(all, s)
		}
	}
	return all, nil
}

// checkPatterns rejects a pattern that matches no rule of any catalogue.
func checkPatterns(patterns []string, catalogues ...*Catalogue) error {
	var known []string
	for _, c := range catalogues {
		for _, r := range c.Rules {
			known = append(known, r.ID)
		}
	}
	for _, pattern := range patterns {
		if !slices.ContainsFunc(known, func(id string) bool { return matches(pattern, id) }) {
			return errUnknownRule(pattern, known)
		}
	}
	return nil
}

func matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}

// Select selects rules of one catalogue. Patterns that match none of its rules are ignored. The error is a
// ConfigurationError.
func (c *Catalogue) Select(patterns []string, configuration Configuration) (*Selection, error) {
	settings, err := c.configure(configuration)
	if err != nil {
		return nil, err
	}
	s := &Selection{catalogue: c}
	for _, r := range c.Rules {
		r.Settings = maps.Clone(settings[r.ID])
		chosen := slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, r.ID) })
		r.Settings["enabled"] = slices.Contains(patterns, r.ID) || chosen && r.Settings["enabled"] == true
		s.Rules = append(s.Rules, r)
	}
	return s, nil
}

// enabled returns the enabled rules.
func (s *Selection) enabled() []Rule {
	return slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Settings["enabled"] != true })
}
