package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/internal/catalogue"
	"github.com/podverdict/podverdict/internal/didyoumean"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// settings are the settings of a repository. Command line flags override them.
type settings struct {
	// FailOn is the least severity that fails: error, warning or never.
	FailOn string `json:"failOn"`
	// Kubernetes is the minor Kubernetes version to check for, such as "1.37".
	Kubernetes string `json:"kubernetes"`
	// Only and Skip are rule ids and group names.
	Only []string `json:"only"`
	Skip []string `json:"skip"`
	// Guardrails is "recommended" to turn on the recommended guardrails.
	Guardrails string `json:"guardrails"`
	// Strict rejects input that is otherwise skipped, like --strict.
	Strict bool `json:"strict"`
	// Rules holds settings by rule id: enabled, severity, and the parameters of guardrails. A guardrail named here is on, unless enabled
	// is false.
	Rules map[string]map[string]any `json:"rules"`

	origin manifest.Origin
}

// findSettings returns the settings file of a directory: its own, or the one of the nearest parent directory in the same repository. It
// returns "" if there is none.
func findSettings(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		file := filepath.Join(dir, manifest.SettingsFile)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return file, nil // other errors are reported when it is read
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return "", nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", nil
		}
		dir = above
	}
}

// readSettings reads a settings file strictly: it returns errors with positions for unknown fields, rules, parameters and values.
func readSettings(ctx context.Context, file string) (*settings, error) {
	s := &settings{}
	var err error
	if _, s.origin, err = manifest.ReadPart(ctx, manifest.Options{}, file, s); err != nil {
		return nil, err
	}
	var errs []error
	if s.FailOn != "" && !slices.Contains(failOn, s.FailOn) {
		errs = append(errs, s.origin.Error("failOn", "must be one of "+strings.Join(failOn, ", ")))
	}
	if s.Guardrails != "" && s.Guardrails != recommended {
		errs = append(errs, s.origin.Error("guardrails", "must be "+recommended+", or absent"))
	}
	for field, names := range map[string][]string{"only": s.Only, "skip": s.Skip} {
		for i, name := range names {
			if catalogue.Named(name) == nil {
				errs = append(errs, s.origin.Error(fmt.Sprintf("%s[%d]", field, i), name+": "+unknownName(name)))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Rules)) {
		errs = append(errs, s.checkRule(id)...)
	}
	return s, errors.Join(errs...)
}

// recommended is the value of Guardrails that turns on the defaults of the Rego bundle: the guardrails that are on unless data turns them
// off.
const recommended = "recommended"

// failOn lists the severities that can fail, from the most severe on, and never.
var failOn = []string{"error", "warning", "never"}

// checkRule validates the settings of a rule. The Rego bundle validates the types of parameters.
func (s *settings) checkRule(id string) (errs []error) {
	at := manifest.FieldOfKey("rules", id)
	rule, ok := catalogue.Find(id)
	if !ok {
		return []error{s.origin.Error(at, unknownRule(id))}
	}
	known := []string{"enabled", "severity"}
	for _, p := range rule.Parameters {
		known = append(known, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Rules[id])) {
		field := manifest.FieldOfKey(at, name)
		switch value := s.Rules[id][name]; {
		case !slices.Contains(known, name):
			errs = append(errs, s.origin.Error(field, "is not a parameter of this rule, "+didyoumean.Names(name, known, "")))
		case name == "severity" && value != "error" && value != "warning":
			errs = append(errs, s.origin.Error(field, "must be error or warning"))
		case name == "enabled" && value != true && value != false:
			errs = append(errs, s.origin.Error(field, "must be true or false"))
		}
	}
	return errs
}

// choice joins the lists from flags and settings with the severities from the settings. The flag --only replaces the settings' list, and
// --skip adds to it. Without either list, the guardrails turned on in the settings are reported.
func (s *settings) choice(only, skip []string) (choice, error) {
	if len(only) == 0 {
		only = s.Only
	}
	if len(only) == 0 {
		only = s.byDefault()
	}
	skip = slices.Concat(skip, s.Skip)
	severities := map[string]string{}
	for id, settings := range s.Rules {
		if settings["enabled"] == false {
			skip = append(skip, id)
		}
		if severity, ok := settings["severity"].(string); ok {
			rule, _ := catalogue.Find(id)
			severities[rule.ID] = severity
		}
	}
	c, err := newChoice(only, skip)
	c.severities = severities
	return c, err
}

// byDefault returns the names of rules and groups to report without a list.
func (s *settings) byDefault() []string {
	only := slices.Clone(byDefault)
	if s.Guardrails == recommended {
		only = append(only, string(catalogue.Guardrails))
	}
	for id := range s.Rules {
		if rule, _ := catalogue.Find(id); rule.Group == catalogue.Guardrails {
			only = append(only, id)
		}
	}
	return only
}

// configuration returns the settings of guardrails by their ids in the Rego bundle. Guardrails named by the user are on.
func (s *settings) configuration(c choice) map[string]any {
	guardrails := map[string]any{}
	for _, id := range c.named {
		rule, _ := catalogue.Find(id)
		guardrails[rule.Aliases[0]] = map[string]any{"enabled": true}
	}
	for id, settings := range s.Rules {
		rule, _ := catalogue.Find(id)
		if rule.Group == catalogue.Guardrails {
			set := map[string]any{"enabled": true}
			maps.Copy(set, settings)
			guardrails[rule.Aliases[0]] = set
		}
	}
	return guardrails
}

// errorAt adds the position in the settings file to an error of the Rego bundle about guardrails.
func (s *settings) errorAt(err *rego.SettingError) error {
	id, rest, _ := strings.Cut(err.Field, ".")
	for key := range s.Rules {
		if rule, _ := catalogue.Find(key); slices.Contains(rule.Aliases, id) {
			field := manifest.FieldOfKey("rules", key)
			if rest != "" {
				field = manifest.FieldOfKey(field, rest)
			}
			return s.origin.Error(field, err.Message)
		}
	}
	return err
}

// parameter returns the numeric parameter of a rule, as set or by default.
func (s *settings) parameter(id, name string) (n int64, ok bool) {
	rule, _ := catalogue.Find(id)
	for _, p := range rule.Parameters {
		if p.Name == name {
			value, err := strconv.ParseInt(string(p.Default), 10, 64)
			n, ok = value, err == nil
		}
	}
	for key, settings := range s.Rules {
		if set, _ := catalogue.Find(key); set.ID == rule.ID {
			if value, given := settings[name].(float64); given {
				n, ok = int64(value), true
			}
		}
	}
	return n, ok
}
