package admission

import (
	"fmt"
	"testing"
)

// TestRequirementsByQuantity evaluates match conditions on limits and ports, which have no type in Kubernetes' schemas.
func TestRequirementsByQuantity(t *testing.T) {
	c := boundPolicy(t, `
matchConditions:
- {name: gpu, expression: "job.spec.template.spec.containers.exists(c, quantity(c.resources.?limits[?'nvidia.com/gpu'].orValue('0')).isGreaterThan(quantity('0')))"}
- {name: port, expression: "job.spec.template.spec.containers.all(c, c.?livenessProbe.?tcpSocket.?port.orValue(0) != 'http')"}
rules: [{name: a, when: "true", action: Count}]
`, "{}")
	const spec = `{template: {spec: {restartPolicy: OnFailure, containers: [{resources: {limits: {nvidia.com/gpu: "%s"}}}]}}}`
	for _, target := range []Target{jobTarget(t), cronJobTarget(t)} {
		all := customPolicies(t, c, Options{Target: target})
		for gpus, want := range map[string]int{"0": 0, "2": 2} {
			if got := told(t, all, target, embedding(t, target, fmt.Sprintf(spec, gpus), nil), nil); len(got) != want {
				t.Errorf("the %s with %s is told %q", target.Kind.Kind, gpus, got)
			}
		}
	}
}
