package running

import "github.com/podverdict/podverdict/controller/recorder"

// knownTexts are the notes of events of a Job, so that each is recorded once. A text may have in it what a tenant wrote, so only
// the beginning of it counts, and no more than maxTexts are recorded.
type knownTexts map[string]bool

const (
	maxTexts      = 20
	maxTextLength = 256
)

// add reports whether a text is new, and to be recorded.
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
