package print

import (
	"fmt"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// RetryText describes how a rule changes the next attempt: "retry after 1m0s with memory x 1.5 up to 16Gi", or "" if it does not.
func RetryText(delay string, r *v1alpha1.Retry) (text string) {
	if delay != "" {
		text = " after " + delay
	}
	if r != nil && r.Memory != nil {
		text += fmt.Sprintf(" with memory x %s up to %s", r.Memory.Factor, r.Memory.Max)
	}
	if r != nil && r.AvoidNode != "" {
		text += map[v1alpha1.AvoidNode]string{v1alpha1.AvoidPreferred: " on another node if possible", v1alpha1.AvoidRequired: " on another node"}[r.AvoidNode]
	}
	if text != "" {
		text = "retry" + text
	}
	return text
}
