package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler/library"
	"github.com/podverdict/podverdict/internal/judging"
)

// newFamily returns the Pods of a plan with what rules see of each. Scenarios are each the first to fail.
func (p *plan) newFamily(ctx context.Context, now time.Time) *judging.Family {
	pods := make([]*corev1.Pod, len(p.pods))
	for i := range p.pods {
		pods[i] = p.pods[i].Object
	}
	family := judging.NewFamily(ctx, p.stored, pods, p.effect.Acting)
	remembers := p.selection.ReadsAttempts() && !p.bare()
	for i := range p.pods {
		pod, in := &p.pods[i], &family.Inputs[i]
		in.Now, in.Node, in.NodesRead = pod.moment(now), pod.node, pod.nodesRead
		if pod.scenario != "" {
			in.Attempt, remembers = 1, false
		}
		if p.bare() {
			in.Job = nil
		}
	}
	if remembers {
		family.Remember()
	}
	for i := range p.pods {
		pod := &p.pods[i]
		if pod.in = family.Inputs[i]; remembers {
			pod.forgotten = max(0, min(int(pod.in.Attempt)-1, library.MaxAttempts)-len(pod.in.Attempts))
		}
	}
	return family
}

// before says how an earlier attempt ended, and what decided on it.
func before(a library.Attempt) string {
	parts := []string{fmt.Sprintf("%s: exit code %d", a.FinishTime.Format(time.RFC3339), a.ExitCode)}
	for _, part := range [][2]string{{"", a.Reason}, {"on node ", a.Node}, {"by rule ", a.Rule}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	return strings.Join(parts, ", ")
}

// noteForgotten says that not all earlier attempts are known, though rules look at them.
func noteForgotten(c *cli.Console, plans []plan) {
	pods := 0
	for i := range plans {
		for _, pod := range plans[i].pods {
			pods += min(pod.forgotten, 1)
		}
	}
	if pods > 0 {
		c.Note(fmt.Sprintf("not known: earlier attempts of %d of the Pods, which rules look at: theirs are gone or not in the input", pods))
	}
}
