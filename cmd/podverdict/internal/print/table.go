package print

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/podverdict/podverdict/internal/terminal"
)

// Screen describes the screen that a table is written to.
type Screen struct {
	// Width is the number of characters in a line; 0 means unlimited.
	Width int
	// Color enables colours.
	Color bool
}

// Column is a column of a table.
type Column struct {
	Name string
	// Least is the minimum width to which the column may be cut; 0 means that it is never cut. The last column is not cut but folded: its
	// cells continue in the lines below.
	Least int
	// KeepEnd cuts the beginning of a long cell instead of its end. Use it for names that differ at the end.
	KeepEnd bool
	// Below writes the sentences of the last column below their rows if the other columns leave it less than a third of the screen, or less
	// than Least. If Least is 0, it does so as soon as a sentence does not fit.
	Below bool
}

// None fills cells that do not apply.
const None = "-"

// Cell is the text of a column in a row.
type Cell struct {
	Text  string
	Color Color
}

// Table writes rows of cells in columns that fit the screen.
type Table struct {
	out     io.Writer
	screen  Screen
	columns []Column
	names   bool

	rows   [][]Cell
	widths []int // column widths as last written; nil at first
	below  bool  // the last column was moved below the rows
	err    error
}

// gap separates two columns.
const gap = "   "

// NewTable returns a Table that writes to out. If names is true, it writes the column names above the columns.
func NewTable(out io.Writer, screen Screen, names bool, columns ...Column) *Table {
	return &Table{out: out, screen: screen, names: names, columns: columns}
}

// Row adds a row with one cell per column.
func (w *Table) Row(cells ...Cell) {
	for i := range cells {
		cells[i].Text = terminal.Line(cells[i].Text)
	}
	w.add(cells)
}

// Note adds a sentence below the previous row. It is never cut, but continues in the next line. The table must have several columns.
func (w *Table) Note(text string) {
	w.add([]Cell{{Text: terminal.Line(text)}})
}

// Flush writes the rows that were added since the last Flush.
func (w *Table) Flush() error {
	if len(w.rows) == 0 {
		return w.err
	}
	w.moveBelow()
	widths := w.fit()
	last := len(widths) - 1
	moved := w.widths == nil || !slices.Equal(widths[:last], w.widths[:last]) // the width of the last column moves no other
	w.widths = widths
	if moved && w.names {
		names := make([]Cell, len(w.columns))
		for i, c := range w.columns {
			names[i].Text = c.Name
		}
		w.line(names)
	}
	for _, row := range w.rows {
		switch {
		case len(row) == len(w.columns):
			w.line(row)
		case w.screen.Width > 0:
			w.Paragraph(2, row[0])
		default:
			w.print("  " + row[0].Text + "\n")
		}
	}
	w.rows = w.rows[:0]
	return w.err
}

// moveBelow removes the last column and turns its cells into notes, if there is too little room for them.
func (w *Table) moveBelow() {
	last := len(w.columns) - 1
	widths, column := w.natural(), w.columns[last]
	if column.Least > 0 {
		widths[last] = min(widths[last], max(column.Least, w.screen.Width/3))
	}
	if !column.Below || w.screen.Width == 0 || w.over(widths) <= 0 {
		return
	}
	rows := w.rows
	w.columns, w.rows, w.below = w.columns[:last], nil, true
	for _, row := range rows {
		w.add(row)
	}
}

// add adds a row or a note. The cell of a removed column becomes a note.
func (w *Table) add(row []Cell) {
	if last := len(w.columns); w.below && len(row) > last {
		w.rows = append(w.rows, row[:last], row[last:])
		return
	}
	w.rows = append(w.rows, row)
}

// fit returns the column widths: as wide as the cells, or less if the screen is too narrow.
func (w *Table) fit() []int {
	widths := w.natural()
	if w.screen.Width > 0 {
		w.shrink(widths)
	}
	return widths
}

// natural returns the column widths at which no cell is cut.
func (w *Table) natural() []int {
	widths := make([]int, len(w.columns))
	copy(widths, w.widths)
	for i, c := range w.columns {
		if w.names {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.Name))
		}
		for _, row := range w.rows {
			if len(row) == len(w.columns) {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i].Text))
			}
		}
	}
	return widths
}

// over returns the number of characters by which a line exceeds the screen.
func (w *Table) over(widths []int) int {
	over := len(gap)*(len(widths)-1) - w.screen.Width
	for _, width := range widths {
		over += width
	}
	return over
}

// shrink reduces the last column, which has prose, down to a third of the screen. It then reduces the widest column that may be cut,
// until the line fits or no column may be cut further.
func (w *Table) shrink(widths []int) {
	over := w.over(widths)
	take := func(i, from int) {
		if least := w.columns[i].Least; least > 0 && over > 0 {
			taken := min(over, max(0, widths[i]-max(from, least)))
			widths[i] -= taken
			over -= taken
		}
	}
	take(len(widths)-1, w.screen.Width/3)
	for over > 0 {
		widest := -1
		for i, c := range w.columns {
			if c.Least > 0 && widths[i] > c.Least && (widest < 0 || widths[i] >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		take(widest, widths[widest]-1)
	}
}

// line writes cells in their columns. The last cell is not padded, and continues on the lines below if it is too long.
func (w *Table) line(cells []Cell) {
	last, margin := len(cells)-1, 0
	for i, cell := range cells[:last] {
		text, width := w.columns[i].cut(cell.Text, w.widths[i], w.screen.Width > 0)
		w.paint(text, cell.Color)
		w.print(strings.Repeat(" ", max(0, w.widths[i]-width)) + gap)
		margin += max(w.widths[i], width) + len(gap)
	}
	lines := []string{cells[last].Text}
	if w.screen.Width > 0 && w.columns[last].Least > 0 {
		lines = fold(cells[last].Text, w.widths[last])
	}
	for i, text := range lines {
		if i > 0 {
			w.print(strings.Repeat(" ", margin))
		}
		w.paint(text, cells[last].Color)
		w.print("\n")
	}
}

// fold breaks a text into lines of a given width: between words, or within a word that is longer than a line.
func fold(text string, width int) []string {
	var lines []string
	rest := []rune(text)
	for len(rest) > width {
		end, next := width, width
		for i := width; i > 0; i-- {
			if rest[i] == ' ' {
				end, next = i, i+1
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(rest[:end]), " "))
		rest = rest[next:]
	}
	return append(lines, string(rest))
}

// cut returns the text, cut to the given width if necessary, and its width.
func (c Column) cut(text string, width int, cut bool) (string, int) {
	has := utf8.RuneCountInString(text)
	if !cut || c.Least == 0 || has <= width {
		return text, has
	}
	runes := []rune(text)
	if c.KeepEnd {
		return "…" + string(runes[has-width+1:]), width
	}
	return string(runes[:width-1]) + "…", width
}

// Heading writes a separate line between rows: a bold title, and an optional text. It is never cut: if the line is too short, the text
// follows on the next one.
func (w *Table) Heading(title, text string) {
	title, text = terminal.Line(title), terminal.Line(text)
	w.paint(title, Bold)
	if length := utf8.RuneCountInString(title + ": " + text); w.screen.Width > 0 && length > w.screen.Width {
		w.print(":\n  " + text)
	} else if text != "" {
		w.print(": " + text)
	}
	w.print("\n")
}

// Line writes a separate line.
func (w *Table) Line(text string) { w.print(terminal.Line(text) + "\n") }

// Space writes an empty line.
func (w *Table) Space() { w.print("\n") }

func (w *Table) paint(text string, color Color) {
	if !w.screen.Color || color == "" || text == "" {
		w.print(text)
		return
	}
	raw := terminal.Raw(w.out) // the escapes are trusted, the text is not
	w.keep(fmt.Fprint(raw, "\x1b["+string(color)+"m"))
	w.print(text)
	w.keep(fmt.Fprint(raw, "\x1b[0m"))
}

func (w *Table) print(text string) {
	if w.err == nil {
		w.keep(io.WriteString(w.out, text))
	}
}

func (w *Table) keep(_ int, err error) {
	if w.err == nil {
		w.err = err
	}
}
