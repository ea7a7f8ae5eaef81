package admission

import (
	"maps"
	"path"
	"slices"
)

// Selection is the part of a catalogue that a policy has, with the settings that a platform team wants.
type Selection struct {
	// Rules are all rules of the catalogue, in its order. Those that were not chosen are not enabled.
	Rules []Rule

	catalogue *Catalogue
}

// Select chooses rules by their ids or by patterns of them, as in G-INDEX-*, out of the guardrails and the constraints,
// and lays a configuration over the guardrails' settings. Patterns choose among the rules that are enabled; an id enables
// its rule. There is one selection for each catalogue that has something chosen. What is wrong with the configuration is a
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

// checkPatterns refuses a pattern that matches no rule of any catalogue.
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

// Select chooses rules of one catalogue. Patterns that mean none of them choose nothing. The error is a
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

// enabled returns the rules that are on.
func (s *Selection) enabled() []Rule {
	return slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Settings["enabled"] != true })
}
