package admission

import (
	"fmt"
	"maps"
	"slices"
)

// celSource is a template's code for Gatekeeper's CEL engine. It stands for a ValidatingAdmissionPolicy, and Gatekeeper
// makes one of it if it is configured to. The variables anyObject and params are Gatekeeper's own.
type celSource struct {
	MatchConditions []celExpression `json:"matchCondition"` // not in the plural
	Variables       []celExpression `json:"variables"`
	Validations     []celValidation `json:"validations"`
}

type celExpression struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

type celValidation struct {
	Expression        string `json:"expression"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
}

// gatekeeperConditions returns the match conditions of a template. Gatekeeper also asks about deletions, where the object
// is null, and about what is in the cluster already, where there are neither operation nor old object.
func gatekeeperConditions() []celExpression {
	all := []celExpression{{"not-deleted", "object != null"}}
	for _, m := range commonConditions {
		all = append(all, celExpression(m))
	}
	return all
}

// gatekeeperNames are the variables that a template's code builds on. It looks at Jobs and at CronJobs.
var gatekeeperNames = []celExpression{
	{"specs", ofBothObjects("[object.kind == \"CronJob\" ? object.spec.jobTemplate.spec : object.spec]")},
	{"root", `object.kind == "CronJob" ? "spec.jobTemplate.spec" : "spec"`},
	{"owned", ofBothObjects("[object.kind == \"CronJob\" || " +
		"object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false))]")},
}

func gatekeeperCEL(c *Catalogue, r Rule) celSource {
	shared, used := c.shared([]Rule{r})
	source := celSource{MatchConditions: gatekeeperConditions()}
	add := func(name, expression string) {
		source.Variables = append(source.Variables, celExpression{name, expression})
	}
	for _, n := range gatekeeperNames {
		if n.Name == "specs" || used[n.Name] {
			add(n.Name, n.Expression)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parametersOf(r))) {
		add(parameterVariable(name), parameterExpression(name, r.Settings[name]))
	}
	for _, v := range shared {
		add(v.name, eachJob(v.expression.rewrite(gatekeeperMeaning)))
	}
	add("messages", gatekeeperMessages(c, r))
	source.Validations = []celValidation{{
		Expression:        "size(variables.messages) == 0",
		Message:           fmt.Sprintf("%s %s: %s", c.singular(), r.ID, r.Title),
		MessageExpression: `variables.messages.join("; ")`,
	}}
	return source
}

func gatekeeperMessages(c *Catalogue, r Rule) string {
	text := writer{noun: c.noun()}.messages(r, gatekeeperMeaning)
	if r.update {
		text = "oldObject == null ? [] : (" + text + ")"
	}
	if len(r.only) > 0 {
		text = fmt.Sprintf("!(object.kind in %s) ? [] : (%s)", literal(r.only), text)
	}
	return newlySaid(eachJob(text), "1")
}

func gatekeeperMeaning(n name) string {
	switch n.ident {
	case "spec":
		return "spec"
	case "root":
		return "variables.root"
	case "metadata":
		return "object.metadata"
	case "old":
		return "oldObject.spec"
	case "settings":
		return "variables." + parameterVariable(n.setting)
	default:
		return "variables." + n.ident + "[n]"
	}
}

func parameterVariable(name string) string { return "params_" + name }

// parameterExpression returns the CEL that reads a parameter of the constraint. Gatekeeper's params are null where it has
// none, and gator reads whole numbers as floating point.
func parameterExpression(name string, standard any) string {
	text := fmt.Sprintf("variables.params == null ? %[2]s : variables.params.?%[1]s.orValue(%[2]s)", name, literal(standard))
	switch standard.(type) {
	case int64:
		return "int(" + text + ")"
	case []int64:
		return "(" + text + ").map(number, int(number))"
	default:
		return text
	}
}
