package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Actions maps a rule's id to the validation actions for its violations. Rules without an entry use the entry of their severity.
type Actions map[string][]admissionregistrationv1.ValidationAction

// DefaultActions returns actions that deny errors, and warn about and audit warnings.
func DefaultActions() Actions {
	return Actions{
		"error":   {admissionregistrationv1.Deny},
		"warning": {admissionregistrationv1.Warn, admissionregistrationv1.Audit},
	}
}

// known lists the actions in the order in which generated bindings contain them.
var known = []admissionregistrationv1.ValidationAction{
	admissionregistrationv1.Deny, admissionregistrationv1.Warn, admissionregistrationv1.Audit,
}

// ParseActions parses actions keyed by severity or rule id, joined with + as in Warn+Audit, and merges them into the defaults.
func ParseActions(written map[string]string) (Actions, error) {
	all := DefaultActions()
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if _, isSeverity := all[key]; !isSeverity && !strings.ContainsAny(key, "0123456789-") {
			return nil, fmt.Errorf("actions of %q: not a severity, error or warning, and not a rule's id", key)
		}
		actions, err := parseActions(key, written[key])
		if err != nil {
			return nil, err
		}
		all[key] = actions
	}
	return all, nil
}

func parseActions(key, text string) ([]admissionregistrationv1.ValidationAction, error) {
	names := strings.Split(text, "+")
	var actions []admissionregistrationv1.ValidationAction
	for _, action := range known {
		if slices.Contains(names, string(action)) {
			actions = append(actions, action)
		}
	}
	if len(actions) != len(names) {
		return nil, fmt.Errorf("actions of %s: %q is not Deny, Warn or Audit, or several of them with + between them", key, text)
	}
	if len(actions) > 1 && actions[0] == admissionregistrationv1.Deny && actions[1] == admissionregistrationv1.Warn {
		return nil, fmt.Errorf("actions of %s: %q: the API server takes Deny or Warn, not both: the warning would repeat the denial",
			key, text)
	}
	return actions, nil
}

func (a Actions) of(r Rule) []admissionregistrationv1.ValidationAction {
	if actions, ok := a[r.ID]; ok {
		return actions
	}
	severity, _ := r.Settings["severity"].(string)
	return a[severity]
}

// sets returns the different sets of actions, in a stable order.
func (a Actions) sets() [][]admissionregistrationv1.ValidationAction {
	var all [][]admissionregistrationv1.ValidationAction
	for _, actions := range a {
		if !slices.ContainsFunc(all, func(s []admissionregistrationv1.ValidationAction) bool { return slices.Equal(s, actions) }) {
			all = append(all, actions)
		}
	}
	slices.SortFunc(all, slices.Compare[[]admissionregistrationv1.ValidationAction])
	return all
}

// role returns the last part of the name of the policy with these actions. The name does not list the actions, so that a policy
// generated later with other actions replaces it. It is errors, warnings, or the id of the first rule with actions of its own.
func (a Actions) role(actions []admissionregistrationv1.ValidationAction, held []Rule) string {
	switch {
	case slices.Equal(actions, a["error"]):
		return "errors"
	case slices.Equal(actions, a["warning"]):
		return "warnings"
	default:
		return strings.ToLower(held[0].ID)
	}
}
