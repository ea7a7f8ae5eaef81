package custom_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/compiler/custom"
)

// TestDue checks which ages a rule compares with constants, and whether it uses now in another way.
func TestDue(t *testing.T) {
	const minute = time.Minute
	polled := custom.Due{Polled: true}
	running := func(at ...time.Duration) (d custom.Due) {
		for _, at := range at {
			d.Ages = append(d.Ages, custom.DueAge{Function: "runningFor", At: at})
		}
		return d
	}
	env := newEnvironment(t)
	for when, want := range map[string]custom.Due{
		"pod.restarts() > 20":                                                                                    {},
		"pod.runningFor(now) > duration('10m')":                                                                  running(10*minute + 1),
		"pod.runningFor(now) <= duration('10m')":                                                                 running(10*minute + 1),
		"pod.runningFor(now) >= duration('10m')":                                                                 running(10 * minute),
		"pod.runningFor(now) < duration('10m')":                                                                  running(10 * minute),
		"duration('600s') < pod.runningFor(now)":                                                                 running(10*minute + 1),
		"duration('600s') >= pod.runningFor(now)":                                                                running(10*minute + 1),
		"duration('600s') <= pod.runningFor(now)":                                                                running(10 * minute),
		"duration('600s') > pod.runningFor(now)":                                                                 running(10 * minute),
		"pod.runningFor(now) > variables.limit":                                                                  running(5*minute + 1),
		"pod.runningFor(now) > variables.image":                                                                  polled,
		"pod.runningFor(now) == duration('10m')":                                                                 polled,
		"pod.runningFor(now).getMinutes() > 10":                                                                  polled,
		"now > timestamp('2026-01-01T00:00:00Z')":                                                                polled,
		"pod.runningFor(pod.metadata.creationTimestamp) > duration('1m')":                                        {},
		"pod.runningFor(now) > pod.notReadyFor(now)":                                                             polled,
		"pod.runningFor(now) > duration('1m') + duration('1m')":                                                  polled,
		"[pod].exists(p, p.runningFor(now) > duration('1m'))":                                                    polled,
		"[pod].exists(pod, pod.runningFor(now) > duration('1m'))":                                                polled,
		"[timestamp('2026-01-01T00:00:00Z')].exists(now, pod.runningFor(now) > duration('1m'))":                  {},
		"pod.runningFor(now) > duration('1m') && now.getHours() > 9":                                             polled,
		"pod.restarts() > 2 && !(pod.runningFor(now) > duration('1m') || pod.runningFor(now) < duration('30s'))": running(minute+1, minute/2),
		"pod.runningFor(now) > duration('1m') ? pod.restarts() > 2 : pod.runningFor(now) > duration('2m')":       running(minute+1, 2*minute+1),
		"pod.runningFor(now) > (pod.restarts() > 2 ? duration('1m') : duration('2m'))":                           running(minute+1, 2*minute+1),
		"pod.runningFor(now) > (now.getHours() > 2 ? duration('1m') : duration('2m'))":                           polled,
		"pod.containers().exists(c, c.restartCount > 2 && pod.runningFor(now) > duration('1m'))":                 running(minute + 1),
		"pod.notReadyFor(now) > duration('1m')":                                                                  {Ages: []custom.DueAge{{Function: "notReadyFor", At: minute + 1}}},
	} {
		t.Run(when, func(t *testing.T) {
			spec := rules(when)
			spec.Variables = []v1alpha1.Variable{{Name: "limit", Expression: "duration('5m')"}, {Name: "image", Expression: "duration(pod.metadata.?name.orValue('1s'))"}}
			spec.Rules[0].Phase, spec.Rules[0].MessageExpression = "Running", "string(now)"
			got := compile(t, env, spec).Rules[0].Due
			byAge := cmpopts.SortSlices(func(a, b custom.DueAge) bool { return a.At < b.At })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), byAge); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
