package evidence

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
)

// maxValues is the maximum number of values of a dimension with their own cells.
const maxValues = 100_000

// Table has a cell for each value of a dimension, such as for each node. If there are more than 100,000 values, the values with
// the highest hashes share a cell: this choice does not depend on the order of the input.
type Table struct {
	Cells map[string]*Cell `json:"cells"`
	// Others is the cell of all other values, or nil. Their hashes are at least Least.
	Others *Cell  `json:"others,omitempty"`
	Least  uint64 `json:"least,omitempty,string"`

	limit int // for tests; 0 means maxValues
}

// at returns the cell of a value.
func (t *Table) at(value string) *Cell {
	if known := t.Cells[value]; known != nil {
		return known
	}
	if t.Others != nil && hashOf(value) >= t.Least {
		return t.Others
	}
	if t.Cells == nil {
		t.Cells = map[string]*Cell{}
	}
	if len(t.Cells) >= 2*t.max() {
		t.Shrink()
		return t.at(value)
	}
	cell := &Cell{}
	t.Cells[value] = cell
	return cell
}

func (t *Table) max() int { return cmp.Or(t.limit, maxValues) }

// Shrink merges the cells beyond the limit. It must be called before the cells are read.
func (t *Table) Shrink() {
	if len(t.Cells) <= t.max() {
		return
	}
	byHash := slices.SortedFunc(maps.Keys(t.Cells), func(a, b string) int {
		return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), cmp.Compare(a, b))
	})
	if t.Others == nil {
		t.Others = &Cell{}
	}
	t.Least = hashOf(byHash[t.max()])
	for _, value := range byHash {
		if hashOf(value) >= t.Least {
			t.Others.Merge(t.Cells[value])
			delete(t.Cells, value)
		}
	}
}

// Merge adds the counts of another table.
func (t *Table) Merge(other *Table) {
	if other.Others != nil {
		if t.Others == nil || other.Least < t.Least {
			t.Least = other.Least
		}
		if t.Others == nil {
			t.Others = &Cell{}
		}
		t.Others.Merge(other.Others)
		for value, cell := range t.Cells {
			if hashOf(value) >= t.Least {
				t.Others.Merge(cell)
				delete(t.Cells, value)
			}
		}
	}
	for value, cell := range other.Cells {
		t.at(value).Merge(cell)
	}
}

func hashOf(value string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(value))
	return h.Sum64()
}
