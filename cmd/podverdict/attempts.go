package main

import (
	"fmt"
	"strings"
	"time"

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
