package terminal

import "testing"

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		`Größe "日本" \n`:                        `Größe "日本" \n`,
		"main\x1b[31mX\x07":                    `main\x1b[31mX\a`,
		"a\nb\r\tc\x00\x7f":                    `a\nb\r\tc\x00\x7f`,
		"\u202edlrow\u0085\u2028":              `\u202edlrow\u0085\u2028`,
		"half a rune \xe2\x82, a whole \ufffd": "half a rune \\xe2\\x82, a whole \ufffd",
	} {
		if got := Line(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	if got, want := Lines("a\x1b\n\n\rb\n"), "a\\x1b\n\n\\rb\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
