package timeline

import (
	"fmt"

	"github.com/podverdict/podverdict/controller/simulation"
)

// naming says how a Job's indexes are called.
type naming struct {
	unit  simulation.Unit
	alone bool // there is one, which is not an index, and needs no number
}

func newNaming(r *simulation.Result) naming {
	return naming{r.Unit, r.Indexes <= 1 && r.Unit != simulation.UnitIndex}
}

// one names an index.
func (n naming) one(index int) string {
	if n.alone {
		return "Pod"
	}
	return fmt.Sprintf("%s %d", n.unit, index)
}

// many names several indexes, as 0-4,7.
func (n naming) many(list string) string {
	if n.unit == simulation.UnitIndex {
		return "indexes " + list
	}
	return string(n.unit) + "s " + list
}
