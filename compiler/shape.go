package compiler

import (
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	batchv1 "k8s.io/api/batch/v1"
)

// shape is the part of an expression that determines its types: everything but the values of its
// literals.
type shape struct {
	kind     byte
	named    bool
	operator batchv1.PodFailurePolicyOnExitCodesOperator
	values   int
}

// maxShapes is the maximum number of cached shapes. There are about a thousand valid shapes, and
// the policies of a cluster use few of them.
const maxShapes = 256

// shapeOf returns the shape of a valid rule, and reports whether the shape is common. Larger rules,
// and conditions with several statuses, are checked individually.
func shapeOf(m Match) (s shape, common bool) {
	switch m := m.(type) {
	case ExitCodes:
		return shape{'e', m.Container != nil, m.Operator, len(m.Values)}, len(m.Values) <= MaxValues
	case PodConditions:
		return shape{'c', false, "", len(m.Patterns)}, len(m.Patterns) <= MaxPatterns && len(m.statuses()) == 1
	default:
		return shape{kind: 'n'}, true
	}
}

// checkedShape is the type-check result for all expressions of one shape: the type and the
// reference of each node by id. The maps are read-only.
type checkedShape struct {
	types      map[int64]*types.Type
	references map[int64]*ast.ReferenceInfo
}

// shapes caches the type-check results of the first shapes.
type shapes struct {
	mu    sync.RWMutex
	known map[shape]checkedShape
}

func (s *shapes) find(key shape) (checkedShape, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.known[key]
	return c, ok
}

func (s *shapes) keep(key shape, c checkedShape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[shape]checkedShape{}
	}
	if len(s.known) < maxShapes {
		s.known[key] = c
	}
}
