package plan

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/cel"
)

func errAnnotation(text string, t tuning) error {
	return fmt.Errorf("metadata.annotations[%s]: Invalid value: %s: must be an integer from %d to %d", t.name, quoted(text), t.least, t.most)
}

func errLedger(text string, err error) error {
	return fmt.Errorf("status.conditions[%s].message: Invalid value: %s: %w", LedgerCondition, quoted(text), err)
}

func errLedgerFormat(format string) error {
	return fmt.Errorf("its format is %s, this program knows %s", quoted(format), ledgerFormat)
}

// quoted returns the quoted beginning of a text that users may write at any length.
func quoted(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

func errLedgerNegative(number int) error {
	return fmt.Errorf("failed is %d, must not be negative", number)
}

func errLedgerExceeds(recorded, failed int) error {
	return fmt.Errorf("records %d failures, but status.failed is %d", recorded, failed)
}

func errLedgerBudget(rule string) error {
	return fmt.Errorf("budgets[%s]: needs from 1 to %d matches, and not more pods than matches", rule, v1alpha1.MaxBudget)
}

func errTooManyBudgets() error {
	return fmt.Errorf("more than %d rules with a budget have matched, the budgets of others are taken as used up", maxBudgets)
}

func errMatches(p *corev1.Pod, text string) error {
	return fmt.Errorf("pod %s: metadata.annotations[%s]: Invalid value: %s: must be an object of at most %d numbers from 1 to %d",
		p.Name, MatchesAnnotation, quoted(text), maxBudgets, v1alpha1.MaxBudget)
}

func errRetries(p *corev1.Pod, text string) error {
	return fmt.Errorf("pod %s: metadata.annotations[%s]: Invalid value: %s: must be the retries of rules, as podverdict writes them",
		p.Name, RetryAnnotation, quoted(text))
}

func errHistory(p *corev1.Pod, text string) error {
	return fmt.Errorf("pod %s: metadata.annotations[%s]: Invalid value: %s: must be a list of at most %d attempts in at most %d bytes, each of another pod",
		p.Name, EarlierAttemptsAnnotation, quoted(text), cel.MaxAttempts, maxHistory)
}

func errLedgerAttempts() error {
	return fmt.Errorf("attempts: must be at most %d in at most %d bytes, each of another pod", cel.MaxAttempts, maxHistory)
}

func errLedgerBackoff() error {
	return fmt.Errorf("backoff needs a positive number of failures, a time, and a retry from 0s to %s, if any", v1alpha1.MaxRetryDelay)
}
