package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// denialName is the name of the variable with the complete denial message. Rule variables have upper-case names, so it cannot
// collide.
const denialName = "denial"

// denial returns one validation for all rules, because users see only the message of the first failed validation. As with one
// validation per rule, a broken rule denies the request even if another rule cannot be evaluated.
func denial(c *Catalogue, held []Rule) admissionregistrationv1.Validation {
	kept, ids := make([]string, len(held)), make([]string, len(held))
	for i, r := range held {
		kept[i], ids[i] = fmt.Sprintf("size(variables.%s) == 0", ruleVariable(r.ID)), r.ID
	}
	message := fmt.Sprintf("%s %s: %s", c.singular(), held[0].ID, held[0].Title)
	if len(held) > 1 {
		message = "broken, one or several of these " + c.Name + ": " + strings.Join(ids, ", ")
	}
	return admissionregistrationv1.Validation{
		Expression:        strings.Join(kept, " &&\n"),
		Message:           message,
		MessageExpression: shortened("variables." + denialName),
		Reason:            new(metav1.StatusReasonInvalid),
	}
}

// denialVariable returns a variable with the messages of all broken rules joined in one text, each rule with the URL of its
// documentation. It replaces line breaks, which the API server does not accept but field values may contain.
func denialVariable(held []Rule) admissionregistrationv1.Variable {
	texts := make([]string, len(held))
	for i, r := range held {
		v := "variables." + ruleVariable(r.ID)
		texts[i] = v + `.join("; ")`
		if r.address != "" {
			texts[i] = fmt.Sprintf("size(%s) == 0 ? \"\" : %s + %s", v, texts[i], quote(" ("+r.address+")"))
		}
	}
	return admissionregistrationv1.Variable{
		Name:       denialName,
		Expression: "[\n  " + strings.Join(texts, ",\n  ") + "\n].filter(text, text != \"\").join(\"; \").replace(\"\\n\", \" \")",
	}
}

// shortened returns CEL that truncates a text to the API server's message limit. The limit counts bytes, and a character has up
// to 4 bytes.
func shortened(text string) string {
	const limit = celconfig.MaxEvaluatedMessageExpressionSizeBytes
	const more = " ... and more"
	return fmt.Sprintf("size(bytes(%[1]s)) <= %[2]d ? %[1]s : %[1]s.substring(0, %[3]d) + %[4]s", text, limit, (limit-len(more))/4, quote(more))
}
