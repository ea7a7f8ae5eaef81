package custom

import (
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/podverdict/podverdict/compiler"
)

// implied reports rules that leave nothing to a later one, since they ask for less: all that the later rule matches, the earlier
// one has matched before. It compares the parts that are joined by && and || by their text.
func (c *compilation) implied() {
	for j := range c.rules {
		for i := range j {
			if c.rules[i].Phase != c.rules[j].Phase || c.verdicts[i] != unknown || c.rules[i].When == nil || c.rules[j].When == nil {
				continue
			}
			if !covers(alternatives(c.rules[i].When.Tree), alternatives(c.rules[j].When.Tree)) {
				continue
			}
			earlier, later := c.spec.Rules[i], c.spec.Rules[j]
			p := rulePlace(j, later.Name, "when", later.When)
			c.report(p.warning(compiler.CheckUnreachable, p.start(),
				fmt.Sprintf("the rule never decides: rule %q (spec.rules[%d]) before it matches whatever this one would", earlier.Name, i),
				"put the narrower rule first, or remove it"))
			break
		}
	}
}

// conjunction is the parts that are joined by &&.
type conjunction map[string]bool

// alternatives returns the parts of an expression that are joined by ||.
func alternatives(tree *ast.AST) []conjunction {
	var all []conjunction
	split(tree.Expr(), operators.LogicalOr, func(e ast.Expr) {
		parts := conjunction{}
		split(e, operators.LogicalAnd, func(e ast.Expr) { parts[Unparse(tree, e)] = true })
		all = append(all, parts)
	})
	return all
}

// split calls see for each part that an operator joins.
func split(e ast.Expr, operator string, see func(ast.Expr)) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operator {
		for _, arg := range e.AsCall().Args() {
			split(arg, operator, see)
		}
		return
	}
	see(e)
}

// covers tells whether each of the alternatives asks for all that one of the others asks for.
func covers(wide, narrow []conjunction) bool {
	for _, n := range narrow {
		covered := false
		for _, w := range wide {
			covered = covered || w.within(n)
		}
		if !covered {
			return false
		}
	}
	return true
}

func (c conjunction) within(other conjunction) bool {
	for part := range c {
		if !other[part] {
			return false
		}
	}
	return true
}
