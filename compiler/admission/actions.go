package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Actions say what happens when a rule is broken, by the rule's id, or by its severity for the rules without an entry.
type Actions map[string][]admissionregistrationv1.ValidationAction

// DefaultActions returns actions that deny what is an error, and warn of and audit what is a warning.
func DefaultActions() Actions {
	return Actions{
		"error":   {admissionregistrationv1.Deny},
		"warning": {admissionregistrationv1.Warn, admissionregistrationv1.Audit},
	}
}

// known are the actions in the order in which a binding has them here.
var known = []admissionregistrationv1.ValidationAction{
	admissionregistrationv1.Deny, admissionregistrationv1.Warn, admissionregistrationv1.Audit,
}

// ParseActions reads actions by severity or by the id of a rule, with + between them as in Warn+Audit, and lays them over
// the defaults.
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

// role returns what the name of the policy with these actions ends in. The name does not tell the actions, so that a policy written
// later with others replaces it: it says whose actions these are, those of errors, of warnings, or of the first rule that has its own.
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
