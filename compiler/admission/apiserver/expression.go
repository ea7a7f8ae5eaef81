package apiserver

import (
	"fmt"

	"github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

// expression is an expression of a policy. It implements the API server's plugincel.ExpressionAccessor and
// NamedExpressionAccessor. The server has a type for each kind of expression, in the packages of its admission plugins,
// which link its clients. A test compares them.
type expression struct {
	// field is the place in the policy: spec.variables[0].expression.
	field string
	name  string // variable name
	text  string
	types []*cel.Type // allowed result types
}

// GetExpression returns the source text.
func (e *expression) GetExpression() string { return e.text }

// ReturnTypes returns the allowed result types.
func (e *expression) ReturnTypes() []*cel.Type { return e.types }

// GetName returns the name of a variable.
func (e *expression) GetName() string { return e.name }

var (
	truth      = []*cel.Type{cel.BoolType}
	text       = []*cel.Type{cel.StringType}
	annotation = []*cel.Type{cel.StringType, cel.NullType}
	anything   = []*cel.Type{cel.AnyType, cel.DynType}
	jsonPatch  = []*cel.Type{cel.ListType(cel.ObjectType("JSONPatch"))}
	applied    = []*cel.Type{cel.ObjectType("Object")}
)

// expressions holds a policy's expressions. The message of a validation without a messageExpression has an empty text.
type expressions struct {
	variables, conditions, validations, messages, auditAnnotations []*expression
}

// everything and ofMessages are the optional variables of expressions. Message expressions cannot use the authorizer.
var everything, ofMessages = plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, plugincel.OptionalVariableDeclarations{}

func expressionsOf(policy *admissionregistrationv1.ValidatingAdmissionPolicy) (x expressions) {
	spec := policy.Spec
	for i, v := range spec.Variables {
		x.variables = append(x.variables, &expression{field: at("variables[%d].expression", i), name: v.Name, text: v.Expression, types: anything})
	}
	for i, c := range spec.MatchConditions {
		x.conditions = append(x.conditions, &expression{field: at("matchConditions[%d].expression", i), text: c.Expression, types: truth})
	}
	for i, v := range spec.Validations {
		x.validations = append(x.validations, &expression{field: at("validations[%d].expression", i), text: v.Expression, types: truth})
		x.messages = append(x.messages, &expression{field: at("validations[%d].messageExpression", i), text: v.MessageExpression, types: text})
	}
	for i, a := range spec.AuditAnnotations {
		x.auditAnnotations = append(x.auditAnnotations, &expression{field: at("auditAnnotations[%d].valueExpression", i), text: a.ValueExpression, types: annotation})
	}
	return x
}

// accessors returns the expressions with a text as the API server's interface type.
func accessors(all []*expression) []plugincel.ExpressionAccessor {
	var written []plugincel.ExpressionAccessor
	for _, e := range all {
		if e.text != "" {
			written = append(written, e)
		}
	}
	return written
}

// at returns a field path in the spec of a policy.
func at(format string, index int) string { return fmt.Sprintf("spec."+format, index) }
