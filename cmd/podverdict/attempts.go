package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/compiler/library"
	controllerplan "github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/runtime"
)

// remember gives the Pods of a plan the attempts before them, if rules look at these. Scenarios are each the first to fail.
func (p *plan) remember(ctx context.Context, now time.Time) {
	if !p.selection.ReadsAttempts() || p.bare() {
		return
	}
	o := controllerplan.Observation{Job: p.stored, Now: now}
	given := make(map[string]plannedPod, len(p.pods))
	for _, pod := range p.pods {
		if pod.scenario == "" {
			o.Pods, given[pod.Object.Name] = append(o.Pods, pod.Object), pod
		}
	}
	if p.noRules == "" {
		o.Judge = func(pod *corev1.Pod, _ int64, earlier func() []library.Attempt) runtime.Verdict {
			in := p.facts(given[pod.Name], now)
			in.Attempts = earlier()
			return p.effect.Acting.Judge(ctx, in)
		}
	}
	earlier := controllerplan.EarlierAttempts(o)
	for i := range p.pods {
		if pod := &p.pods[i]; pod.scenario == "" {
			pod.earlier = earlier[pod.Object.Name]
			pod.forgotten = max(0, min(int(pod.attempt)-1, library.MaxAttempts)-len(pod.earlier))
		}
	}
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
func (c *console) noteForgotten(plans []plan) {
	pods := 0
	for i := range plans {
		for _, pod := range plans[i].pods {
			pods += min(pod.forgotten, 1)
		}
	}
	if pods > 0 {
		c.note(fmt.Sprintf("not known: earlier attempts of %d of the Pods, which rules look at: theirs are gone or not in the input", pods))
	}
}
