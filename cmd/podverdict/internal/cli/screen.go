package cli

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/print"
	"github.com/podverdict/podverdict/internal/terminal"
)

// unknownWidth is the assumed width of a terminal that does not report its width.
const unknownWidth = 80

var colorChoices = []string{"auto", "always", "never"}

// AddColorFlag adds --color.
func AddColorFlag(cmd *cobra.Command, color *string) {
	cmd.Flags().StringVar(color, "color", "auto", "verdicts in colour: auto (on a terminal, unless NO_COLOR is set), always, never")
	AddCompletion(cmd, "color", func() []string { return colorChoices })
}

// CheckColor returns an error for an unknown value of --color.
func CheckColor(color string) error {
	if !slices.Contains(colorChoices, color) {
		return UsageError(ChoiceError("color", color, colorChoices...))
	}
	return nil
}

// Screen returns the Screen of standard output for a value of --color.
func (c *Console) Screen(color string) print.Screen { return ScreenOf(c.Live, color) }

// ScreenOf returns the Screen of a stream of the console for a value of --color. Only a terminal gets a width, so output that a program
// may read is never cut.
func ScreenOf(stream io.Writer, color string) print.Screen {
	raw := terminal.Raw(stream)
	screen := print.Screen{Color: color == "always"}
	if !isTerminal(raw) {
		return screen
	}
	screen.Width = unknownWidth
	if file, ok := raw.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			screen.Width = width
		}
	}
	if color == "auto" { // see https://no-color.org
		screen.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return screen
}
