package simulate

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// naming determines how a Job's indexes are named and which details are shown for their attempts.
type naming struct {
	unit  simulation.Unit
	alone bool // a single Pod that is not an index, so it needs no number
	// memory and nodes are set if retries changed an attempt's memory or the nodes it may run on.
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

// given returns an attempt's memory or node, if retries change it.
func (n naming) given(e simulation.Event) string {
	switch {
	case e.Type == simulation.PodCreated && n.memory && e.Memory != "":
		return " with " + e.Memory
	case e.Type == simulation.PodStarted && n.nodes:
		return " on " + e.Node
	}
	return ""
}

// changesText describes the changes that retries made to a new Pod.
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

// many names several indexes, such as 0-4,7.
func (n naming) many(list string) string {
	if n.unit == simulation.UnitIndex {
		return "indexes " + list
	}
	return string(n.unit) + "s " + list
}
