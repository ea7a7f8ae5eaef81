package print

// Color is the parameter of a terminal's escape sequence (SGR); "" is the terminal's own colour.
type Color string

// Colours of tables.
const (
	Red     Color = "31"
	Green   Color = "32"
	Yellow  Color = "33"
	Magenta Color = "35"
	Faint   Color = "2"
	Bold    Color = "1"
)
