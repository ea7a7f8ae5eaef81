package running

import "github.com/podverdict/podverdict/controller/internal/recorder"

// knownTexts are the notes of a Job's recorded events, so that each is recorded once. Tenants may have written parts of a
// text, so only its beginning is compared, and at most maxTexts are recorded.
type knownTexts map[string]bool

const (
	maxTexts      = 20
	maxTextLength = 256
)

// add reports whether a text is new and has to be recorded.
func (n *knownTexts) add(text string) bool {
	text = recorder.CutTo(text, maxTextLength)
	if (*n)[text] || len(*n) == maxTexts {
		return false
	}
	if *n == nil {
		*n = knownTexts{}
	}
	(*n)[text] = true
	return true
}
