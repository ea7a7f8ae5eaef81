package simulate

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// naming says how a Job's indexes are called, and what is said of their attempts.
type naming struct {
	unit  simulation.Unit
	alone bool // there is one, which is not an index, and needs no number
	// memory and nodes are set if retries changed the memory of an attempt, or where it could be.
	memory, nodes bool
}

func newNaming(r *simulation.Result) naming {
	n := naming{unit: r.Unit, alone: r.Indexes <= 1 && r.Unit != simulation.UnitIndex}
	for _, e := range r.Events {
		for _, change := range e.Changes {
			n.memory = n.memory || change.AvoidNode == ""
			n.nodes = n.nodes || change.AvoidNode != ""
		}
	}
	return n
}

// given says what an attempt has, if retries change that.
func (n naming) given(e simulation.Event) string {
	switch {
	case e.Type == simulation.PodCreated && n.memory && e.Memory != "":
		return " with " + e.Memory
	case e.Type == simulation.PodStarted && n.nodes:
		return " on " + e.Node
	}
	return ""
}

// changesText says what retries changed in a new pod.
func changesText(e simulation.Event) string {
	var text strings.Builder
	for _, change := range e.Changes {
		text.WriteString("; " + change.String())
	}
	return text.String()
}

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
