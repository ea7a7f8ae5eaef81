package admission

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podverdict/podverdict/internal/kubeversion"
)

func errCatalogue(name string, err error) error {
	return fmt.Errorf("rules/%s.yaml: %w", name, err)
}

func errMember(errs ...error) error { return errors.Join(errs...) }

func errNoMetadata(id string) error {
	return fmt.Errorf("%s: no rule of the bundle has this id", id)
}

func errForm(id string) error {
	return fmt.Errorf("%s: a rule has either fields and detail, or messages", id)
}

func errExpression(owner, part string, err error) error {
	return fmt.Errorf("%s: %s: %w", owner, part, err)
}

func errSyntax(errs *common.Errors) error {
	return errors.New(errs.ToDisplayString())
}

func errNameTaken(name, text string) error {
	return fmt.Errorf("the loop variable or variable %s hides another name: %s", name, text)
}

func errUnknownName(name, text string) error {
	return fmt.Errorf("%s stands for nothing: %s", name, text)
}

func errUnknownSetting(name, text string) error {
	return fmt.Errorf("settings.%s is not a setting of this rule: %s", name, text)
}

func errSettings(id string, err error) error {
	return fmt.Errorf("%s: settings: %w", id, err)
}

func errSettingType(name string, value any) error {
	return fmt.Errorf("%s: %v is no value for a setting", name, value)
}

// Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	// Path is that of the rule's id, and of the setting where one is at fault.
	Path []string
	// Message is what is wrong, as in "must be a whole number, 0 or more".
	Message string
	// Hint is the name that was meant, perhaps, or empty.
	Hint string
}

func (m Mistake) String() string {
	text := strings.Join(m.Path, ".") + ": " + m.Message
	if m.Hint != "" {
		text += fmt.Sprintf(", did you mean %q?", m.Hint)
	}
	return text
}

// ConfigurationError is everything that is wrong with a configuration.
type ConfigurationError struct {
	Mistakes []Mistake
}

func (e *ConfigurationError) Error() string {
	all := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		all[i] = m.String()
	}
	return strings.Join(all, "\n")
}

// UnknownRuleError says that no rule has that id, or one like that pattern.
type UnknownRuleError struct {
	ID string
	// Hint is the id that was meant, perhaps, or empty.
	Hint string
}

func (e *UnknownRuleError) Error() string {
	text := fmt.Sprintf("no rule %q", e.ID)
	if e.Hint != "" {
		text += fmt.Sprintf(", did you mean %q?", e.Hint)
	}
	return text
}

func errKubernetes(version string) error {
	return fmt.Errorf("kubernetes version %q: generated policies need %s to %s: ValidatingAdmissionPolicy v1 with two-variable comprehensions",
		version, kubeversion.GeneratedPolicies, kubeversion.Last)
}

func errActionKey(key string) error {
	return fmt.Errorf("actions of %q: not a severity, error or warning, and not a rule's id", key)
}

func errActions(key, text string) error {
	return fmt.Errorf("actions of %s: %q is not Deny, Warn or Audit, or several of them with + between them", key, text)
}

func errDenyAndWarn(key, text string) error {
	return fmt.Errorf("actions of %s: %q: the API server takes Deny or Warn, not both: the warning would repeat the denial", key, text)
}

func errNoRego(id string) error { return fmt.Errorf("%s: nothing in the bundle finds it", id) }

const (
	messageNegative = "must be greater than or equal to 0"
	messageNoRules  = "a policy without rules decides nothing"

	messageParameterText = "must be texts without commas, brackets, quotes and spaces around them, in a ConfigMap"
)

func messageAtMost(limit int) string { return fmt.Sprintf("must be less than or equal to %d", limit) }

func messageParameterNumber() string {
	return fmt.Sprintf("must be at most %d in a parameter object", maxNumber)
}

func messageParameterItems() string {
	return fmt.Sprintf("must have at most %d items in a parameter object", maxItems)
}

func messageNoDefaults() string {
	return "at least one of " + strings.Join(DefaultedFields[:], ", ")
}

// DefaultsError is everything that no Job could have. Paths begin with spec.
type DefaultsError struct {
	Errors field.ErrorList
}

func (e *DefaultsError) Error() string { return e.Errors.ToAggregate().Error() }

func errMutationKind(kind string) error {
	return fmt.Errorf("defaults are given to Jobs and CronJobs, not to %s", kind)
}
