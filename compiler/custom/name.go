package custom

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/compiler/internal/hint"
)

// maxNames is how many names a hint lists when none is near what was written.
const maxNames = 12

// hintName is which of the names may have been meant, or which there are if they are
// few.
func hintName(wrong string, names []string, written func(string) string) string {
	if name := hint.Name(wrong, names); name != "" && len(wrong) > 1 { // a letter may mean anything
		return didYouMean(written(name))
	}
	if len(names) == 0 || len(names) > maxNames {
		return ""
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = written(n)
	}
	return "there are " + strings.Join(all, ", ")
}

func asIs(name string) string { return name }

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }
