package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/cel"
)

// before says how an earlier attempt ended, and what decided on it.
func before(a cel.Attempt) string {
	parts := []string{fmt.Sprintf("%s: exit code %d", a.FinishTime.Format(time.RFC3339), a.ExitCode)}
	for _, part := range [][2]string{{"", a.Reason}, {"on node ", a.Node}, {"by rule ", a.Rule}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	return strings.Join(parts, ", ")
}

// noteForgotten says that not all earlier attempts are known, though rules look at them.
func noteForgotten(ctx context.Context, c *cli.Console, plans []plan) {
	pods := 0
	for i := range plans {
		for _, d := range plans[i].snapshot.Decisions(ctx) {
			pods += min(d.EarlierUnknown, 1)
		}
	}
	if pods > 0 {
		c.Note(fmt.Sprintf("not known: earlier attempts of %d of the Pods, which rules look at: theirs are gone or not in the input", pods))
	}
}
