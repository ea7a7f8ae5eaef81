package running

import "github.com/podverdict/podverdict/controller/recorder"

// news are texts about a Job that were told, so that each is told once. A text may have in it what a tenant wrote, so only the
// beginning of it counts, and no more than maxNews are told.
type news map[string]bool

const (
	maxNews       = 20
	maxNewsLength = 256
)

// add tells whether a text is to be told.
func (n *news) add(text string) bool {
	text = recorder.CutTo(text, maxNewsLength)
	if (*n)[text] || len(*n) == maxNews {
		return false
	}
	if *n == nil {
		*n = news{}
	}
	(*n)[text] = true
	return true
}
